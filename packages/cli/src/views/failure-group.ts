// One failure group for people: what it is, what is done about it, which tenants it hits; and its cause.

import type { OperationOutput } from '@reprise/client'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import { isoTime, relativeTime, shortSpan } from '../output/times.ts'

export type Case = OperationOutput<'acknowledgeFailureGroup'>
type Group = OperationOutput<'getFailureGroup'>
type Cause = OperationOutput<'explainFailureGroup'>

/** `open again, a regression`, `resolved in version 2.4`, `ignored until …`. */
export function caseText({ state, owner }: Pick<Case, 'state' | 'owner'>, now: number): string {
  const whose = owner === null ? '' : ` (${owner})`
  switch (state.status) {
    case 'open':
      return `${state.because === 'new' ? 'open' : `open again: ${REOPENED[state.because ?? 'operator']}`}${whose}`
    case 'acknowledged':
      return `acknowledged${whose}`
    case 'resolved':
      return `resolved${state.version == null ? '' : ` in version ${state.version}`}${whose}`
    case 'ignored': {
      const until = [
        ...(state.until == null ? [] : [relativeTime(state.until, now).replace(/^in /, 'for ')]),
        ...(state.untilDeaths == null ? [] : [`until ${state.untilDeaths} have died in all`]),
      ]
      return `ignored ${until.join(', or ')}${whose}`
    }
  }
}

const REOPENED: Readonly<Record<string, string>> = {
  new: '',
  regression: 'a regression, its cause came back',
  time: 'the time until which it was ignored has come',
  count: 'as many have died as it was ignored for',
  operator: 'an operator opened it',
}

const BARS = '▁▂▃▄▅▆▇█'

/** The minutes of an hour up to the last one, as bars. */
function trendText(trend: Group['trend']): string {
  const last = trend.at(-1)
  if (last === undefined) return ''
  const byMinute = new Map(trend.map(({ at, attempts }) => [at, attempts]))
  const minutes = Array.from({ length: 30 }, (_, at) => byMinute.get(last.at - (29 - at) * 60_000) ?? 0)
  const most = Math.max(...minutes, 1)
  const bars = minutes.map((count) => (count === 0 ? ' ' : BARS[Math.ceil((count / most) * BARS.length) - 1]))
  return `${bars.join('').trimStart()} up to ${most} failed attempts a minute`
}

const valuesText = (values: Group['tenants']): string =>
  values.map(({ value, count }) => `${value ?? '(none)'} ${count}`).join(', ')

export function tellGroup(group: Group, now: number, people: People): void {
  const { line, fields, table, beside } = people
  const { sample } = group
  line(people.paint('bold', `${plain(group.fingerprint)}  ${plain(group.action)}`))
  if (sample !== null) beside('  ', plain(`${sample.code}: ${sample.message}`))
  for (const { text, by } of group.notes ?? []) beside('  note: ', plain(`${text} (${by})`))
  const known = group.case
  const isCounted = known !== undefined && known.deaths >= group.count
  const rows = [
    ['state', known === undefined ? 'open' : plain(caseText(known, now))],
    ['dead now', group.count],
    // Counted from when an orchestrator first saw the group: fewer than there are says nothing.
    ['died ever', isCounted ? known?.deaths : null],
    ['attempts', isCounted ? `${known?.attempts} ended by it` : null],
    ['regressions', known?.regressions === 0 ? null : known?.regressions],
    ...(known?.firstVersion === undefined ? [] : [['began with', `version ${known.firstVersion}`] as const]),
    ['first, last', `${relativeTime(known?.firstAt ?? group.firstAt, now)}, ${relativeTime(group.lastAt, now)}`],
    ['oldest', group.oldest === null ? null : `${group.oldest.task}, dead for ${shortSpan(now - group.oldest.at)}`],
    ['trend', trendText(group.trend)],
    ['tenants', valuesText(group.tenants)],
    ['versions', valuesText(group.versions)],
    ['hosts', valuesText(group.hosts)],
    ['workers', valuesText(group.workers)],
    ['pools', valuesText(group.pools)],
    ['merged', group.members?.join(', ')],
  ] as const
  // What nobody has counted yet is left out: an orchestrator does.
  fields(rows.filter(([, value]) => value !== null && value !== undefined && value !== ''))
  if (group.sampled < group.count) line(`  Tenants to pools: of the newest ${group.sampled} dead letters.`)
  if (group.parts !== undefined) {
    const { partsCounted = group.count } = group
    line()
    if (partsCounted < group.count)
      line(`  The parts: of the newest ${partsCounted} dead letters. The queries find all of them.`)
    table(group.parts, [
      { title: plain(known?.splitBy ?? 'PART').toUpperCase(), value: ({ value }) => value },
      { title: 'DEAD', value: ({ count }) => count, right: true },
      { title: 'QUERY', value: ({ q }) => q, flexible: true },
    ])
  }
  for (const { task, attempts } of group.chains) {
    line()
    line(plain(task))
    for (const one of attempts) {
      const where = one.version === null ? '' : ` in version ${one.version}`
      const what = one.code === null ? one.status : `${one.status}, ${one.code}: ${one.message}`
      beside('  ', plain(`attempt ${one.attempt}${where}: ${what}`))
    }
  }
}

/** What an operator does next. */
export function tellNext({ fingerprint, count }: Group, { line, paint }: People): void {
  if (count === 0) return
  line()
  line(paint('dim', 'What is different about them, and what a redrive would do:'))
  line(`  reprise groups cause ${plain(fingerprint)}`)
  line(`  reprise redrive plan --fingerprint ${plain(fingerprint)} --reason '…'`)
}

export function tellCause(cause: Cause, now: number, { line, beside, paint }: People): void {
  const { sample, contrasts, changes } = cause
  const dead = sample.deadLetters === null ? '' : ` of ${sample.deadLetters} dead letters`
  line(paint('bold', 'What is different'))
  if (contrasts.length === 0) beside('  ', plain(cause.summary))
  for (const { sentence } of contrasts) beside('  ', plain(sentence))
  line(
    paint(
      'dim',
      `  Compared: ${sample.failures} failures${dead} with ${sample.successes} successes of ${plain(cause.action)}.`,
    ),
  )
  line()
  line(
    paint(
      'bold',
      `What changed in the half hour before it began (${isoTime(cause.beganAt)}, ${relativeTime(cause.beganAt, now)})`,
    ),
  )
  if (changes.length === 0) line('  Nothing that the journal tells of.')
  for (const { at, sentence } of changes) {
    const distance = Math.abs(at - cause.beganAt)
    const when = `${shortSpan(distance)} ${at > cause.beganAt ? 'after' : 'before'}`
    beside(`  ${when.padEnd(12)}`, plain(sentence))
  }
  if (!cause.isComplete) line('  There was too much to read all of it.')
}
