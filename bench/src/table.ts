// The report for people: figures side by side, then the targets with what became of them.

import type { Figures, Side } from './figures.ts'
import { PEER_NAMES } from './peers.ts'
import type { Report } from './report.ts'
import { isMet, type Target, targetsOf } from './targets.ts'

interface Row {
  readonly name: string
  readonly label: string
  readonly unit: 'per s' | 'ms' | 'MB' | 'B' | 'times'
}

const RATES: readonly Row[] = [
  { name: 'submit', label: 'submit', unit: 'per s' },
  { name: 'process', label: 'process', unit: 'per s' },
  { name: 'submitDurable', label: 'submit, durable', unit: 'per s' },
  { name: 'processDurable', label: 'process, durable', unit: 'per s' },
  { name: 'mixed', label: 'process, 10 % fail once, 1 % die', unit: 'per s' },
  { name: 'backlogSmall', label: 'process, small backlog standing', unit: 'per s' },
  { name: 'backlogLarge', label: 'process, large backlog standing', unit: 'per s' },
  { name: 'oneProcess', label: 'process, one worker process', unit: 'per s' },
  { name: 'twoProcesses', label: 'process, two worker processes', unit: 'per s' },
  { name: 'jobPlain', label: 'process, beside the durable job', unit: 'per s' },
  { name: 'job', label: 'durable job, everybody killed on the way', unit: 'per s' },
  { name: 'avalancheBefore', label: 'process, before many come due at once', unit: 'per s' },
  { name: 'avalancheDuring', label: 'process, while they come due', unit: 'per s' },
  { name: 'retentionProcess', label: 'process, with a rule of retention', unit: 'per s' },
  { name: 'redrive', label: 'redrive of dead letters', unit: 'per s' },
  { name: 'redriveManaged', label: 'the same, as a redrive that survives', unit: 'per s' },
]

const PERCENTS = ['P50', 'P99']

const LATENCIES: readonly Row[] = ['', 'Durable'].flatMap((suffix) =>
  [
    { place: 'InProcess', words: 'in process' },
    { place: 'AcrossProcesses', words: 'across processes' },
  ].flatMap(({ place, words }) =>
    PERCENTS.map((percent): Row => {
      const label = `submit to start, ${words}${suffix === '' ? '' : ', durable'}, ${percent.toLowerCase()}`
      return { name: `latency${place}${suffix}${percent}Ms`, label, unit: 'ms' }
    }),
  ),
)

const LATENESS: readonly Row[] = PERCENTS.flatMap((percent): Row[] => {
  const label = `due to start, ${percent.toLowerCase()}`
  return [
    { name: `lateness${percent}Ms`, label, unit: 'ms' },
    { name: `latenessCluster${percent}Ms`, label: `${label}, on a cluster`, unit: 'ms' },
  ]
})

const AVALANCHE: readonly Row[] = [
  { name: 'avalancheUrgentP95Ms', label: 'urgent task, while many come due, p95', unit: 'ms' },
  { name: 'avalancheCallMs', label: 'longest call, while many come due', unit: 'ms' },
  { name: 'avalancheCommandMs', label: 'longest single command, meanwhile', unit: 'ms' },
]

const MEMORY: readonly Row[] = [
  { name: 'retentionKept', label: 'kept, of what the rule asks for', unit: 'times' },
  { name: 'retentionGrowth', label: 'growth of what is overdue, per processed task', unit: 'times' },
  { name: 'memoryPerTaskBytes', label: "store's memory per finished task", unit: 'B' },
  { name: 'memorySmallMb', label: "worker's peak memory, small backlog", unit: 'MB' },
  { name: 'memoryMb', label: "worker's peak memory, large backlog", unit: 'MB' },
  { name: 'jobMemoryMb', label: 'peak memory of a process of the durable job', unit: 'MB' },
]

const SIDES: readonly Side[] = ['ours', 'peer', 'limit']
const COLUMN = 14

export function tableOf(report: Report, figures: Figures): string {
  const rows = [...RATES, ...LATENCIES, ...LATENESS, ...AVALANCHE, ...MEMORY].filter(
    ({ name }) => figures.get('ours', name) !== null,
  )
  const width = Math.max(40, ...rows.map(({ label }) => label.length), ...targetsOf(report).map(lengthOfLabel)) + 2
  const names = ['reprise', PEER_NAMES[report.engine], 'limit']
  const lines = [
    `Reprise on ${report.engine}, ${report.mode}, ${count(report.tasks)} tasks per round`,
    '',
    `${''.padEnd(width)}${names.map((name) => name.padStart(COLUMN)).join('')}   lowest to highest of ours`,
    ...rows.map((row) => rowText(row, figures, width)),
    '',
    ...targetsOf(report).map((target) => targetText(target, width)),
  ]
  return lines.map((line) => line.trimEnd()).join('\n')
}

function rowText({ name, label, unit }: Row, figures: Figures, width: number): string {
  const cells = SIDES.map((side) => {
    const value = figures.get(side, name)
    return (value === null ? '–' : `${amount(value, unit)} ${unit}`).padStart(COLUMN)
  })
  const [low, high] = figures.range('ours', name) ?? [0, 0]
  const range = low === high ? '' : `   ${amount(low, unit)} to ${amount(high, unit)}`
  return `${label.padEnd(width)}${cells.join('')}${range}`
}

function targetText(target: Target, width: number): string {
  const { label, value, aim } = target
  const aimed = aim === undefined ? '' : `, aim ${aim}${value >= aim ? ' reached' : ''}`
  const shown = value.toFixed(2).padStart(COLUMN)
  return `${label.padEnd(width)}${shown}   ${isMet(target) ? 'met' : 'MISSED'} (${wantedText(target)}${aimed})`
}

function wantedText({ atLeast, atMost, below }: Target): string {
  if (atLeast !== undefined) return `at least ${atLeast}`
  return atMost === undefined ? `below ${below}` : `at most ${atMost}`
}

const lengthOfLabel = ({ label }: Target): number => label.length

function amount(value: number, unit: Row['unit']): string {
  return unit === 'ms' || unit === 'times' ? value.toFixed(2) : count(value)
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}
