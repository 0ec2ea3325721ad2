// The report for people: figures side by side, then the targets with what became of them.

import type { Figures, Side } from './figures.ts'
import { isMet, type Report, type Target, targetsOf } from './report.ts'

interface Row {
  readonly name: string
  readonly label: string
  readonly unit: 'per s' | 'ms' | 'MB'
}

const RATES: readonly Row[] = [
  { name: 'submit', label: 'submit', unit: 'per s' },
  { name: 'process', label: 'process', unit: 'per s' },
  { name: 'submitDurable', label: 'submit, durable', unit: 'per s' },
  { name: 'processDurable', label: 'process, durable', unit: 'per s' },
  { name: 'mixed', label: 'process, 10 % fail once, 1 % die', unit: 'per s' },
  { name: 'backlogSmall', label: 'process, small backlog standing', unit: 'per s' },
  { name: 'backlogLarge', label: 'process, large backlog standing', unit: 'per s' },
]

const LATENCIES: readonly Row[] = ['', 'Durable'].flatMap((suffix) =>
  [
    { place: 'InProcess', words: 'in process' },
    { place: 'AcrossProcesses', words: 'across processes' },
  ].flatMap(({ place, words }) =>
    ['P50', 'P99'].map((percent): Row => {
      const label = `submit to start, ${words}${suffix === '' ? '' : ', durable'}, ${percent.toLowerCase()}`
      return { name: `latency${place}${suffix}${percent}Ms`, label, unit: 'ms' }
    }),
  ),
)

const MEMORY: readonly Row[] = [
  { name: 'memorySmallMb', label: "worker's peak memory, small backlog", unit: 'MB' },
  { name: 'memoryMb', label: "worker's peak memory, large backlog", unit: 'MB' },
]

const SIDES: readonly Side[] = ['ours', 'plainjob', 'limit']
const COLUMN = 14

export function tableOf(report: Report, figures: Figures): string {
  const rows = [...RATES, ...LATENCIES, ...MEMORY].filter(({ name }) => figures.get('ours', name) !== null)
  const width = Math.max(40, ...rows.map(({ label }) => label.length), ...targetsOf(report).map(lengthOfLabel)) + 2
  const lines = [
    `Reprise on ${report.engine}, ${report.mode}, ${count(report.tasks)} tasks per round`,
    '',
    `${''.padEnd(width)}${['reprise', 'plainjob', 'limit'].map((name) => name.padStart(COLUMN)).join('')}   lowest to highest of ours`,
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
  const { label, value, atLeast, below, aim } = target
  const wanted = below === undefined ? `at least ${atLeast}` : `below ${below}`
  const aimed = aim === undefined ? '' : `, aim ${aim}${(value ?? 0) >= aim ? ' reached' : ''}`
  const shown = value === null ? '–' : value.toFixed(2)
  return `${label.padEnd(width)}${shown.padStart(COLUMN)}   ${isMet(target) ? 'met' : 'MISSED'} (${wanted}${aimed})`
}

const lengthOfLabel = ({ label }: Target): number => label.length

function amount(value: number, unit: Row['unit']): string {
  return unit === 'ms' ? value.toFixed(2) : count(value)
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}
