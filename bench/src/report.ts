// What a run answers with: the JSON object, whose form is the same for every engine, and the targets it is held against.

import type { EngineName, Mode } from './arguments.ts'
import type { Figures, Side } from './figures.ts'
import { rounded } from './statistics.ts'

type Named = Readonly<Record<string, number>>

export interface Report {
  readonly engine: EngineName
  readonly mode: Mode
  /** Per round, of the main comparison. */
  readonly tasks: number
  readonly ours: Named
  /** Empty if no peer could be measured. */
  readonly peers: Readonly<Record<string, Named>>
  readonly limit: Named
  /** Ours divided by the other's; null if one of the two was not measured. */
  readonly ratios: Readonly<Record<string, number | null>>
}

export function reportOf(engine: EngineName, mode: Mode, tasks: number, figures: Figures): Report {
  const plainjob = named(figures, 'plainjob')
  return {
    engine,
    mode,
    tasks,
    ours: named(figures, 'ours'),
    peers: Object.keys(plainjob).length === 0 ? {} : { plainjob },
    limit: named(figures, 'limit'),
    ratios: {
      process: ratio(figures, 'process', 'plainjob'),
      submit: ratio(figures, 'submit', 'plainjob'),
      limit: ratio(figures, 'process', 'limit'),
      limitSubmit: ratio(figures, 'submit', 'limit'),
      backlog: quotient(figures.get('ours', 'backlogLarge'), figures.get('ours', 'backlogSmall')),
      processDurable: ratio(figures, 'processDurable', 'plainjob'),
      submitDurable: ratio(figures, 'submitDurable', 'plainjob'),
      limitDurable: ratio(figures, 'processDurable', 'limit'),
    },
  }
}

function named(figures: Figures, side: Side): Named {
  return Object.fromEntries([...figures.allOf(side)].map(([name, value]) => [name, tidy(value)]))
}

function ratio(figures: Figures, name: string, other: Side): number | null {
  return quotient(figures.get('ours', name), figures.get(other, name))
}

function quotient(ours: number | null, other: number | null): number | null {
  return ours === null || other === null ? null : rounded(ours / other, 3)
}

/** Rates are whole numbers; what is small keeps its digits. */
function tidy(value: number): number {
  return rounded(value, value < 1_000 ? 3 : 0)
}

export interface Target {
  readonly label: string
  readonly value: number | null
  readonly atLeast?: number
  readonly below?: number
  readonly aim?: number
}

/** What Reprise promises of itself, in the mode that was measured. */
export function targetsOf({ mode, ratios, ours }: Report): readonly Target[] {
  const process = ratios.process ?? null
  return [
    mode === 'fast'
      ? { label: 'process, ours / plainjob', value: process, atLeast: 3, aim: 5 }
      : { label: 'process, ours / plainjob', value: process, atLeast: 2.5 },
    ...(mode === 'fast'
      ? [{ label: 'process, ours / limit', value: ratios.limit ?? null, atLeast: 0.55, aim: 0.85 }]
      : []),
    { label: 'process in durable, ours / plainjob', value: ratios.processDurable ?? null, atLeast: 2.5 },
    { label: 'rate at the large backlog / at the small', value: ratios.backlog ?? null, atLeast: 0.8 },
    { label: "worker's peak memory at the large backlog, MB", value: ours.memoryMb ?? null, below: 300 },
  ].filter(({ value }) => value !== null)
}

export function isMet({ value, atLeast, below }: Target): boolean {
  if (value === null) return false
  return (atLeast === undefined || value >= atLeast) && (below === undefined || value < below)
}
