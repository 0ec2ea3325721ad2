// How everything is, for people: what is well in few words, what is not with its reason.

import type { OperationOutput } from '@reprise/client'
import { type Style, statusStyle } from '../output/colours.ts'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { percent, shortSpan } from '../output/times.ts'
import { scopeText } from './gates.ts'
import { GROUPS_SHOWN, type Overview } from './overview-figures.ts'

const SHOWN = ['queued', 'waiting', 'running', 'succeeded', 'dead'] as const
/** Worth a word only if there are any. */
const SHOWN_IF_ANY = ['discarded', 'cancelled'] as const
const RAN = ['running', 'succeeded', 'dead', 'discarded'] as const
const LEVELS: Readonly<Record<string, Style>> = { ok: 'green', warning: 'yellow', critical: 'red' }
/** Where what belongs to a line stands below it. */
const BELOW = ' '.repeat(10)
const LEVEL_COLUMNS = 'critical'.length + 2
const UNSEEN = 'not for you to see'

export function tellOverview(overview: Overview, now: number, people: People): void {
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
  line(`${paint('bold', 'Workers')}   ${workersText(monitoring, paint)}`)
  if (monitoring !== null) tellLevel(monitoring, hasRun(counts), people)
  tell(breakers, [
    { title: 'BREAKER', value: ({ name }) => name },
    { title: 'TENANT', value: ({ tenant }) => tenant ?? 'all', flexible: true },
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
  const more = (failureGroups ?? []).length >= GROUPS_SHOWN
  if (more) line(paint('dim', `'reprise groups' lists all causes, 'reprise groups show <group>' looks into one.`))
}

type Monitoring = NonNullable<Overview['monitoring']>
export type FailureGroup = OperationOutput<'listFailureGroups'>['items'][number]

export const groupColumns = (now: number): readonly Column<FailureGroup>[] => [
  { title: 'GROUP', value: ({ fingerprint }) => fingerprint },
  { title: 'DEAD', value: ({ count }) => count, right: true },
  { title: 'FIRST', value: ({ firstAt }) => `${shortSpan(now - firstAt)} ago`, right: true },
  { title: 'LAST', value: ({ lastAt }) => `${shortSpan(now - lastAt)} ago`, right: true },
  { title: 'STATE', value: (group) => group.case?.state.status ?? 'open' },
  { title: 'OWNER', value: (group) => group.case?.owner, wide: true },
  { title: 'ACTION', value: ({ action }) => action, flexible: true },
  // It says most, and needs the room of a line.
  { title: 'FAILURE', value: failureText, flexible: true, below: true },
]

/** An operator's last note comes first: it is what others need to know. */
const failureText = ({ sample, notes = [] }: FailureGroup): string => {
  const last = notes.at(-1)
  return `${last === undefined ? '' : `[${last.text}] `}${sample.code}: ${sample.message}`
}

/** Of tasks that were never begun there may be many. */
const hasRun = (counts: Overview['counts']): boolean => RAN.some((status) => counts[status] > 0)

/** What is there and takes work, not every record of a worker that once was. */
function workersText(monitoring: Monitoring | null, paint: People['paint']): string {
  if (monitoring === null) return UNSEEN
  const { healthy, degraded, unhealthy, draining, gone, takingWork, aware } = monitoring.health
  const more = [...(draining === 0 ? [] : [`${draining} of them draining`]), ...(gone === 0 ? [] : [`${gone} gone`])]
  if (healthy + degraded + unhealthy === 0) return [paint('yellow', 'none'), ...more].join(', ')
  const parts = [
    `${healthy} healthy`,
    paintIf(degraded, 'yellow', 'degraded', paint),
    paintIf(unhealthy, 'red', 'unhealthy', paint),
    ...more,
  ].join(', ')
  const told = aware ? parts : `${parts}; ${paint('yellow', 'they get work whatever their health')}`
  return takingWork === 0 ? `${told}: ${paint('red', 'no worker takes work')}` : told
}

const paintIf = (count: number, style: Style, word: string, paint: People['paint']): string =>
  count === 0 ? `0 ${word}` : paint(style, `${count} ${word}`)

/** The level, why in sentences, and the figures beside it. */
function tellLevel(monitoring: Monitoring, hasTasks: boolean, { line, beside, paint }: People): void {
  const { level, because, retryRate, retrySuccess, windowMs } = monitoring
  const shown = (one: string): string => paint(LEVELS[one] ?? 'dim', one)
  const figures = [
    retryRate.value === null
      ? `nothing ran ${hasTasks ? `in ${shortSpan(windowMs)}` : 'yet'}`
      : `in ${shortSpan(windowMs)}, ${percent(retryRate.value)} of attempts retried`,
    ...(retrySuccess.value === null ? [] : [`${percent(retrySuccess.value)} of retries succeeded`]),
  ].join(', ')
  line(`${paint('bold', 'Level')}     ${shown(level)}: ${figures}`)
  for (const one of because) beside(`${BELOW}${one.level.padEnd(LEVEL_COLUMNS)}`, plain(one.says))
}
