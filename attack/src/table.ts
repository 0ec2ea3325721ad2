// The outcome of a run for people, and in one line for programs.

import { BOUNDS, PRIORITY_NOTE, type Report, type Row } from './run.ts'

const OUTCOMES = { refused: 'refused', succeeded: 'SUCCEEDED', failed: 'failed to run' } as const

export interface Summary {
  readonly cases: number
  readonly succeeded: number
  readonly failed: number
  readonly loopDelayMaxMs: number
  /** Of the delay, what the server itself was at work. */
  readonly loopWorkMaxMs: number
  readonly memoryMaxMb: number
  readonly idleLoopDelayMs: number | null
  /** How many times slower than idle the neighbour's tasks started, at worst. */
  readonly neighbourWorst: number | null
}

export function summaryOf({ idle, rows }: Report): Summary {
  const ratios = rows.flatMap((row) => neighbourRatio(row, idle) ?? [])
  return {
    cases: rows.length,
    succeeded: rows.filter(({ outcome }) => outcome === 'succeeded').length,
    failed: rows.filter(({ outcome }) => outcome === 'failed').length,
    loopDelayMaxMs: rounded(Math.max(0, ...rows.map(({ loopDelayMs }) => loopDelayMs))),
    loopWorkMaxMs: rounded(Math.max(0, ...rows.map(({ loopWorkMs }) => loopWorkMs))),
    memoryMaxMb: Math.round(Math.max(0, ...rows.map(({ memoryMb }) => memoryMb))),
    idleLoopDelayMs: idle === null ? null : rounded(idle.loopDelayMs),
    neighbourWorst: ratios.length === 0 ? null : rounded(Math.max(...ratios)),
  }
}

/** The neighbour's p99 as a multiple of its idle value; null if nobody was timed. */
function neighbourRatio({ neighbour, idleP99Ms }: Row, idle: Row | null): number | null {
  if (neighbour === null || idle?.neighbour == null) return null
  return neighbour.p99Ms / (idleP99Ms ?? idle.neighbour.p99Ms)
}

export function tableOf(report: Report): string {
  const { idle, rows } = report
  const all = idle === null ? rows : [idle, ...rows]
  const width = Math.max(4, ...all.map(({ name }) => name.length)) + 2
  const head = `${'case'.padEnd(width)}${'outcome'.padEnd(15)}${'loop delay'.padStart(12)}${'its work'.padStart(10)}${'memory'.padStart(10)}`
  const { loopDelayMaxMs, memoryMaxMb, neighbourWorst, ...counts } = summaryOf(report)
  return [
    `${head}${'neighbour p99, x idle'.padStart(22)}  seen`,
    ...all.map((row) => line(row, idle, width)),
    '',
    `${counts.cases} cases, ${counts.succeeded} succeeded, ${counts.failed} failed to run`,
    `longest loop delay ${loopDelayMaxMs} ms (${met(loopDelayMaxMs, BOUNDS.loopDelayMs)}), of which the server worked ${counts.loopWorkMaxMs} ms at most; without an attack ${counts.idleLoopDelayMs ?? '–'} ms`,
    `most memory ${memoryMaxMb} MB (${met(memoryMaxMb, BOUNDS.memoryMb)})`,
    ...(neighbourWorst === null
      ? []
      : [
          `worst neighbour p99 ${neighbourWorst} x idle (${met(neighbourWorst, BOUNDS.neighbour)}), ${idle?.neighbour?.tasks ?? 0} tasks on the idle server`,
          PRIORITY_NOTE,
        ]),
  ].join('\n')
}

function line(row: Row, idle: Row | null, width: number): string {
  const ratio = neighbourRatio(row, idle)
  const outcome = row === idle ? '–' : OUTCOMES[row.outcome]
  const delay = `${rounded(row.loopDelayMs)} ms`.padStart(12)
  const work = `${rounded(row.loopWorkMs)} ms`.padStart(10)
  const memory = `${Math.round(row.memoryMb)} MB`.padStart(10)
  const p99 = row.neighbour === null || ratio === null ? '–' : `${rounded(row.neighbour.p99Ms)} ms, ${rounded(ratio)} x`
  const neighbour = p99.padStart(22)
  return `${row.name.padEnd(width)}${outcome.padEnd(15)}${delay}${work}${memory}${neighbour}  ${row.seen.slice(0, 100)}`
}

const met = (value: number, bound: number): string => `${value <= bound ? 'met' : 'MISSED'}: at most ${bound}`

const rounded = (value: number): number => Math.round(value * 10) / 10
