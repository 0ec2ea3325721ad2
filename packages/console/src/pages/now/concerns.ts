// What needs somebody, worst first: alerts that fire, causes that nobody has taken on, breakers that are not closed, workers that are not well,
// redrives that halted, tasks that are late or soon will be, and accounts that don't add up. Each is one line with where to go on.

import type { OperationOutput } from '../../api/client.ts'
import { causeWords } from '../../cause-words.ts'
import { count, many } from '../../format.ts'
import { lastMinutes } from '../../parts/spark.tsx'
import { redriveWords } from '../redrive/redrive-words.ts'

export interface Concern {
  readonly key: string
  readonly state: 'dead' | 'held' | 'waiting' | 'running'
  readonly what: string
  readonly details: string
  readonly since: number | null
  readonly to: string
}

type Groups = OperationOutput<'listFailureGroups'>['items']
type Breakers = OperationOutput<'listBreakers'>['items']
type Workers = OperationOutput<'listWorkers'>['items']
type Redrives = OperationOutput<'listRedrives'>['items']
type Differences = OperationOutput<'getLedger'>['differences']

const HOUR_MS = 3_600_000
const CAUSES_MAX = 5
const GROWING_MINUTES = 5

/** The largest of those that were seen last; how many there are beside them is a line of its own. */
export function causeConcerns(groups: Groups, hasMore: boolean, now: number): Concern[] {
  const open = groups
    .filter((group) => (group.case?.state.status ?? 'open') === 'open')
    .toSorted((one, other) => other.count - one.count)
  const shown = open.slice(0, CAUSES_MAX).map(causeConcern(now))
  const rest = open.length - shown.length
  if (rest === 0 && !hasMore) return shown
  const dead = open.slice(CAUSES_MAX).reduce((sum, group) => sum + group.count, 0)
  const least = hasMore ? '≥ ' : ''
  const words = `${least}${many(rest, 'more open cause')}`
  return [
    ...shown,
    {
      key: 'causes',
      state: 'dead',
      what: words,
      details: `${least}${count(dead)} dead`,
      since: null,
      to: '/failures',
    },
  ]
}

const causeConcern =
  (now: number) =>
  (group: Groups[number]): Concern => {
    const isBack = group.case?.state.because === 'regression'
    const isNew = now - group.firstAt < HOUR_MS
    const recent = lastMinutes(group.trend ?? [], now, GROWING_MINUTES, ({ deaths }) => deaths)
    const growth = recent.reduce((sum, one) => sum + one, 0)
    return {
      key: `cause ${group.fingerprint}`,
      state: 'dead',
      what: `${isBack ? 'Back again' : isNew ? 'New cause' : 'Open cause'}: ${causeWords(group.sample)}`,
      details: `${group.action} · ${count(group.count)} dead${group.case?.firstVersion === undefined ? '' : ` · began with version ${group.case.firstVersion}`}${growth === 0 ? '' : ` · ${count(growth)} in the last ${GROWING_MINUTES} minutes`}`,
      since: group.firstAt,
      to: `/failures/${group.fingerprint}`,
    }
  }

const BREAKER_WORDS = {
  open: 'is open',
  half_open: 'is tried with a few tasks',
  ramping: 'lets more and more through',
  closed: '',
} as const

export function breakerConcerns(breakers: Breakers): Concern[] {
  return breakers.flatMap(({ name, tenant, state, actions }): Concern[] => {
    if (state.status === 'closed') return []
    return [
      {
        key: `breaker ${name} ${tenant ?? ''}`,
        state: 'held',
        what: `Breaker ${name}${tenant === null ? '' : ` of ${tenant}`} ${BREAKER_WORDS[state.status]}`,
        details: `${actions.join(', ')} · what it holds is parked, and no attempt is charged`,
        since: state.since,
        to: '/breakers',
      },
    ]
  })
}

export function workerConcerns(workers: Workers): Concern[] {
  const sick = workers.filter(({ alive, health }) => alive && health.status !== 'healthy')
  const [first] = sick
  if (first === undefined) return []
  return [
    {
      key: 'workers',
      state: 'waiting',
      what:
        sick.length === 1
          ? `Worker ${first.worker} is ${first.health.status}`
          : `${many(sick.length, 'worker')} are not healthy`,
      details: first.health.reasons.map(wordsOf).join(', '),
      since: null,
      to: '/workers',
    },
  ]
}

const wordsOf = (reason: unknown): string =>
  (typeof reason === 'string'
    ? reason
    : typeof reason === 'object' && reason !== null && 'kind' in reason
      ? String(reason.kind)
      : ''
  ).replaceAll('_', ' ')

const REDRIVE_STATES = ['collecting', 'running', 'paused', 'halted', 'aborting', 'undoing']

export function redriveConcerns(redrives: Redrives): Concern[] {
  return redrives
    .filter(({ state }) => REDRIVE_STATES.includes(state))
    .map(({ id, state, selector, found, counts, total, createdAt, halt }) => ({
      key: `redrive ${id}`,
      state: state === 'halted' ? 'dead' : state === 'paused' ? 'held' : 'running',
      what: `Redrive of ${many(total, 'task')} is ${state}`,
      details: `${redriveWords({ selector, found })} · ${count(counts.recovered)} recovered, ${count(counts.failed)} failed again${halt === null ? '' : ` · ${halt.sentence}`}`,
      since: createdAt,
      to: `/redrives/${id}`,
    }))
}

type Alerts = OperationOutput<'listAlerts'>['items']

/** What is said of each cause and breaker that stands here anyway. */
const alertWords = ({ state, severity }: Alerts[number]): string =>
  state.status === 'acknowledged' ? `${state.by} is at it` : `${severity} alert, nobody is at it`

const isTold = ({ state, silenced }: Alerts[number]): boolean =>
  !silenced && (state.status === 'firing' || state.status === 'acknowledged')

/** Adds to causes and breakers what their alerts say. Others that fire and nobody is at are concerns of their own: grave ones first. */
export function withAlerts(concerns: readonly Concern[], alerts: Alerts): Concern[] {
  const shown = new Set(concerns.map(({ key }) => key))
  const keyOf = ({ group: { fingerprint, breaker, tenant = '' } }: Alerts[number]): string =>
    fingerprint !== undefined ? `cause ${fingerprint}` : breaker !== undefined ? `breaker ${breaker} ${tenant}` : ''
  const told = alerts.filter(isTold)
  const words = new Map(told.map((alert) => [keyOf(alert), alertWords(alert)]))
  // Causes that are not shown one by one have a line for all of them.
  const isOther = (alert: Alerts[number]): boolean => {
    const key = keyOf(alert)
    return alert.state.status === 'firing' && !shown.has(key) && !(key.startsWith('cause ') && shown.has('causes'))
  }
  const others = told.filter(isOther).map(
    ({ id, rule, says, severity, state }): Concern => ({
      key: `alert ${id}`,
      state: severity === 'critical' || severity === 'high' ? 'dead' : 'waiting',
      what: says,
      details: `${severity} alert of ${rule}, nobody is at it`,
      since: state.since,
      to: `/alerts?alert=${encodeURIComponent(id)}`,
    }),
  )
  const known = concerns.map((one) => {
    const more = words.get(one.key)
    return more === undefined ? one : { ...one, details: `${one.details} · ${more}` }
  })
  // What is lost comes before what may yet pass.
  const isGrave = ({ state }: Concern): boolean => state === 'dead'
  return [...others.filter(isGrave), ...known, ...others.filter((one) => !isGrave(one))]
}

type Because = OperationOutput<'monitoring'>['because']

/** Tasks that are late or will be, and those that nobody takes: other sentences stand beside the figures. */
export const LATE: ReadonlySet<string> = new Set(['wait', 'no_worker'])

export const lateConcerns = (because: Because): Concern[] =>
  because
    .filter(({ about }) => LATE.has(about))
    .map(({ about, says, level }) => ({
      key: `late ${about}`,
      state: level === 'critical' ? 'dead' : 'waiting',
      what:
        about === 'no_worker'
          ? 'No worker takes some tasks'
          : level === 'critical'
            ? 'Tasks are late'
            : 'Tasks may be late',
      details: says,
      since: null,
      to: about === 'no_worker' ? '/workers' : '/lanes',
    }))

export const ledgerConcerns = (differences: Differences): Concern[] =>
  differences.map(({ subject, sentence, since }) => ({
    key: `ledger ${subject}`,
    state: 'dead',
    what: 'The accounts do not add up',
    details: sentence,
    since,
    to: '/settings',
  }))
