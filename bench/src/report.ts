// What a run answers with: the JSON object, whose form is the same for every engine.

import type { EngineName, Mode } from './arguments.ts'
import type { Figures, Side } from './figures.ts'
import { PEER_NAMES } from './peers.ts'
import { rounded } from './statistics.ts'

type Named = Readonly<Record<string, number>>
type Ratios = Readonly<Record<string, number | null>>

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
  readonly ratios: Ratios
}

export function reportOf(engine: EngineName, mode: Mode, tasks: number, figures: Figures): Report {
  const peer = named(figures, 'peer')
  return {
    engine,
    mode,
    tasks,
    ours: named(figures, 'ours'),
    peers: Object.keys(peer).length === 0 ? {} : { [PEER_NAMES[engine]]: peer },
    limit: named(figures, 'limit'),
    ratios: engine === 'sqlite' ? sqliteRatios(figures) : redisRatios(figures),
  }
}

function sqliteRatios(figures: Figures): Ratios {
  return {
    process: ratio(figures, 'process', 'peer'),
    submit: ratio(figures, 'submit', 'peer'),
    limit: ratio(figures, 'process', 'limit'),
    limitSubmit: ratio(figures, 'submit', 'limit'),
    backlog: ratioOfOurs(figures, 'backlogLarge', 'backlogSmall'),
    redrive: ratioOfOurs(figures, 'redriveManaged', 'redrive'),
    processDurable: ratio(figures, 'processDurable', 'peer'),
    submitDurable: ratio(figures, 'submitDurable', 'peer'),
    limitDurable: ratio(figures, 'processDurable', 'limit'),
    job: ratioOfOurs(figures, 'job', 'jobPlain'),
    avalanche: ratioOfOurs(figures, 'avalancheDuring', 'avalancheBefore'),
  }
}

function redisRatios(figures: Figures): Ratios {
  return {
    process: ratio(figures, 'process', 'peer'),
    submit: ratio(figures, 'submit', 'peer'),
    memory: ratio(figures, 'memoryPerTaskBytes', 'peer'),
    latencyP50: ratio(figures, 'latencyAcrossProcessesP50Ms', 'peer'),
    latencyP99: ratio(figures, 'latencyAcrossProcessesP99Ms', 'peer'),
    lateness: ratio(figures, 'latenessP99Ms', 'peer'),
    latenessCluster: ratioOfOurs(figures, 'latenessClusterP99Ms', 'latenessP99Ms'),
    limit: ratio(figures, 'process', 'limit'),
    backlog: ratioOfOurs(figures, 'backlogLarge', 'backlogSmall'),
    processes: ratioOfOurs(figures, 'twoProcesses', 'oneProcess'),
    redrive: ratioOfOurs(figures, 'redriveManaged', 'redrive'),
    avalanche: ratioOfOurs(figures, 'avalancheDuring', 'avalancheBefore'),
  }
}

function named(figures: Figures, side: Side): Named {
  return Object.fromEntries([...figures.allOf(side)].map(([name, value]) => [name, tidy(value)]))
}

function ratio(figures: Figures, name: string, other: Side): number | null {
  return quotient(figures.get('ours', name), figures.get(other, name))
}

function ratioOfOurs(figures: Figures, name: string, other: string): number | null {
  return quotient(figures.get('ours', name), figures.get('ours', other))
}

function quotient(ours: number | null, other: number | null): number | null {
  return ours === null || other === null ? null : rounded(ours / other, 3)
}

/** Rates are whole numbers; what is small keeps its digits. */
function tidy(value: number): number {
  return rounded(value, value < 1_000 ? 3 : 0)
}
