// How everything is, for people: what is well in few words, what is not with its reason.

import type { OperationOutput } from '@reprise/client'
import { type Style, statusStyle } from '../output/colours.ts'
import type { People } from '../output/output.ts'
import type { Column } from '../output/table.ts'
import { percent, shortSpan } from '../output/times.ts'
import { scopeText } from './gates.ts'
import type { Overview, Staff } from './overview-figures.ts'

const SHOWN = ['queued', 'waiting', 'running', 'succeeded', 'dead'] as const
/** Worth a word only if there are any. */
const SHOWN_IF_ANY = ['discarded', 'cancelled'] as const
const RAN = ['running', 'succeeded', 'dead', 'discarded'] as const
const LEVELS: Readonly<Record<string, Style>> = { ok: 'green', warning: 'yellow', critical: 'red' }
const UNSEEN = 'not for you to see'

/** `staff` is null for who may not see workers. */
export function tellOverview(overview: Overview, staff: Staff | null, now: number, people: People): void {
  const { line, paint, table } = people
  const { counts, breakers, paused, failureGroups, monitoring } = overview
  const seldom = SHOWN_IF_ANY.filter((status) => counts[status] > 0)
  /** A table of its own, if there is anything to say. */
  const tell = <Row>(rows: readonly Row[] | null, columns: readonly Column<Row>[]): void => {
    if (rows === null || rows.length === 0) return
    line()
    table(rows, columns)
  }
  const tasks = [...SHOWN, ...seldom].map((status) => {
    const text = `${counts[status]} ${status}`
    const style = statusStyle(status)
    return counts[status] === 0 || style === null ? text : paint(style, text)
  })
  line(`${paint('bold', 'Tasks')}     ${tasks.join(', ')}`)
  line(`${paint('bold', 'Workers')}   ${staff === null ? UNSEEN : workersText(staff, paint)}`)
  if (staff !== null && staff.unservedLanes > 0) line(`          ${paint('yellow', unservedText(staff.unservedLanes))}`)
  for (const text of levelLines(monitoring, hasRun(counts), paint)) line(text)
  tell(breakers, [
    { title: 'BREAKER', value: ({ name }) => name },
    { title: 'STATE', value: ({ state }) => state.status, style: statusStyle },
    {
      title: 'PROBES IN',
      value: ({ state }) => (state.status === 'open' ? shortSpan(state.until - now) : null),
      right: true,
    },
    { title: 'ACTIONS', value: ({ actions }) => actions.join(', '), flexible: true },
  ])
  tell(paused, [
    { title: 'HELD', value: ({ scope }) => scopeText(scope), style: () => 'yellow' },
    { title: 'FOR', value: ({ since }) => shortSpan(now - since), right: true },
    { title: 'BY', value: ({ by }) => by.actor, flexible: true },
    { title: 'WHY', value: ({ by }) => by.reason, flexible: true },
  ])
  tell(failureGroups, groupColumns(now))
}

type FailureGroup = OperationOutput<'listFailureGroups'>['items'][number]

export const groupColumns = (now: number): readonly Column<FailureGroup>[] => [
  { title: 'GROUP', value: ({ fingerprint }) => fingerprint },
  { title: 'DEAD', value: ({ count }) => count, right: true },
  { title: 'LAST', value: ({ lastAt }) => `${shortSpan(now - lastAt)} ago`, right: true },
  { title: 'ACTION', value: ({ action }) => action, flexible: true },
  { title: 'FAILURE', value: failureText, flexible: true },
]

/** An operator's last note comes first: it is what others need to know. */
const failureText = ({ sample, notes = [] }: FailureGroup): string => {
  const last = notes.at(-1)
  return `${last === undefined ? '' : `[${last.text}] `}${sample.code}: ${sample.message}`
}

/** Of tasks that were never begun there may be many. */
const hasRun = (counts: Overview['counts']): boolean => RAN.some((status) => counts[status] > 0)

const unservedText = (lanes: number): string =>
  lanes === 1
    ? "1 lane waits for a worker; 'reprise lanes' shows what waits where"
    : `${lanes} lanes wait for a worker; 'reprise lanes' shows what waits where`

function workersText({ healthy, degraded, unhealthy, draining }: Staff, paint: People['paint']): string {
  if (healthy + degraded + unhealthy + draining === 0) return paint('yellow', 'none')
  const parts = [
    `${healthy} healthy`,
    paintIf(degraded, 'yellow', 'degraded', paint),
    paintIf(unhealthy, 'red', 'unhealthy', paint),
  ]
  const all = [...parts, ...(draining === 0 ? [] : [`${draining} draining`])].join(', ')
  return healthy + degraded === 0 ? `${all}: ${paint('red', 'no worker takes work')}` : all
}

const paintIf = (count: number, style: Style, word: string, paint: People['paint']): string =>
  count === 0 ? `0 ${word}` : paint(style, `${count} ${word}`)

function levelLines(monitoring: Overview['monitoring'], hasTasks: boolean, paint: People['paint']): readonly string[] {
  if (monitoring === null) return []
  const { level, retryRate, retrySuccess, health, windowMs } = monitoring
  const shown = (one: string): string => paint(LEVELS[one] ?? 'dim', one)
  const attempts =
    retryRate.value === null
      ? `nothing ran ${hasTasks ? `in ${shortSpan(windowMs)}` : 'yet'}`
      : `in ${shortSpan(windowMs)}, ${percent(retryRate.value)} of attempts retried (${shown(retryRate.level)})`
  const more = [
    ...(retrySuccess.value === null ? [] : [`${percent(retrySuccess.value)} of retries succeeded`]),
    ...(health.unhealthyShare === null
      ? []
      : [`${percent(health.unhealthyShare)} of workers unhealthy (${shown(health.level)})`]),
  ]
  const head = `${paint('bold', 'Level')}     ${shown(level)}: ${attempts}`
  return more.length === 0 ? [head] : [`${head},`, `          ${more.join(', ')}`]
}
