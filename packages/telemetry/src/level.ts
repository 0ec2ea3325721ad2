// Whether the store needs somebody, and why, in sentences for a person who was just woken up. Pure: the same facts give the same
// words. It weighs what goes wrong now (failing attempts, dead letters by the minute, new causes), what waits (without a worker,
// or for too long), what is held (open breakers), and what was left behind (dead letters). That nothing runs is no good sign.

import { formatDuration, type SeriesPoint, type Setback, setbackSentence } from '@reprise/core'

const LEVELS = ['ok', 'warning', 'critical'] as const
export type Level = (typeof LEVELS)[number]
export const levelNumber = (level: Level): number => LEVELS.indexOf(level)

export interface Thresholds {
  readonly warning: number
  readonly critical: number
}

/** Above these a figure is a warning, or critical. Those of retryRate and unhealthyShare are C10's. */
export const MONITORING_THRESHOLDS = {
  /** Shares of the attempts that ended. */
  retryRate: { warning: 0.2, critical: 0.5 },
  failingShare: { warning: 0.2, critical: 0.5 },
  /** A share of the workers that are there. */
  unhealthyShare: { warning: 0.3, critical: 0.7 },
  deadPerMinute: { warning: 0.5, critical: 10 },
  dead: { warning: 10, critical: 1_000 },
  /** Queued tasks that no worker takes. */
  unserved: { warning: 0, critical: 100 },
  /** Dead letters of one cause that is new. */
  newCause: { warning: 0, critical: 100 },
} as const satisfies Record<string, Thresholds>

export type MonitoringThresholds = Readonly<Record<keyof typeof MONITORING_THRESHOLDS, Thresholds>>

/** Of fewer attempts, a share that fails says little. */
const ATTEMPTS_MIN = 10
/** Tasks that no worker takes are critical, however few, once the oldest has waited this long. */
const UNSERVED_MS_MAX = 300_000
/** A wait without an SLA is a warning from here on. */
const WAIT_MS_MAX = 900_000
/** Of the time until the deadline, the part that may pass before it is a warning. */
const WAIT_SHARE_MAX = 0.5
/** Names in one sentence. */
const NAMED_MAX = 3

/** What each sentence is about. */
export const ABOUT = [
  'set_back',
  'no_worker',
  'wait',
  'dead_rate',
  'failing_share',
  'new_causes',
  'breakers',
  'dead_letters',
  'retry_rate',
  'unhealthy_share',
] as const
export type About = (typeof ABOUT)[number]

export interface Because {
  readonly level: Exclude<Level, 'ok'>
  readonly about: About
  readonly says: string
}

export interface LevelFacts {
  readonly windowMs: number
  /** What happened in the window. */
  readonly flow: Readonly<Record<Exclude<keyof SeriesPoint, 'at'>, number>>
  /** What the store lost of what it had acknowledged, and nobody has accepted. */
  readonly setbacks: readonly Setback[]
  /** Dead letters that are there now. */
  readonly dead: number
  readonly workers: {
    /** Those that are there: they were heard of lately. */
    readonly present: number
    readonly unhealthy: number
    /** Those that get work when they ask. */
    readonly taking: number
    /** How long the last one has been silent, if none is there; null if none ever was, or all took their leave. */
    readonly lastSilentMs: number | null
  }
  /** Tasks that could start now, in lanes that nobody holds and no worker takes. */
  readonly unserved: {
    readonly tasks: number
    /** Those of them that are due and still in the delay queue: no claim has moved them. As far as one page shows. */
    readonly due: number
    readonly lanes: readonly { readonly action: string; readonly pool: string }[]
    readonly waitedMs: number | null
  }
  /** Tasks that wait although a worker takes them. */
  readonly waits: readonly Wait[]
  readonly backlogs: readonly Backlog[]
  readonly breakers: readonly { readonly name: string; readonly tenant: string | null; readonly actions: number }[]
  /** Causes of dead letters that were never seen before the window. */
  readonly newCauses: readonly { readonly action: string; readonly code: string; readonly count: number }[]
}

/** A task that has waited long for its attempt. */
export interface Wait {
  readonly action: string
  readonly tenant: string
  readonly waitedMs: number
  /** From its acceptance to the end of its SLA or to its deadline; null without either. */
  readonly allowedMs: number | null
  /** Of that, how much has passed. */
  readonly usedMs: number
}

/** A lane in which more is queued than was looked at: how long the last task waits if starts go on as they do. */
export interface Backlog {
  readonly action: string
  readonly tenant: string
  readonly queued: number
  readonly startsInMs: number
  readonly allowedMs: number | null
}

/** The worst first; of equal ones in the order of ABOUT. Empty if all is well. */
export function becauseOf(facts: LevelFacts, limits: MonitoringThresholds = MONITORING_THRESHOLDS): readonly Because[] {
  const found: Because[] = []
  const add = (level: Level, about: About, says: string): void => {
    if (level !== 'ok') found.push({ level, about, says })
  }
  const { flow, workers, dead } = facts
  const span = formatDuration(facts.windowMs)
  add(...setbackReason(facts))
  add(...unservedSentence(facts, limits))
  for (const wait of facts.waits) add(...waitSentence(wait))
  for (const backlog of facts.backlogs) add(...backlogSentence(backlog))
  const deadPerMinute = flow.dead / (facts.windowMs / 60_000)
  const rate = deadPerMinute < 1 ? '' : ` (${many(Math.round(deadPerMinute))} a minute)`
  add(
    levelOf(deadPerMinute, limits.deadPerMinute),
    'dead_rate',
    `${tasks(flow.dead)} ended as dead letters in the last ${span}${rate}.`,
  )
  const ended = flow.succeeded + flow.failed + flow.lost
  const failing = ended < ATTEMPTS_MIN ? null : (flow.failed + flow.lost) / ended
  add(
    levelOf(failing, limits.failingShare),
    'failing_share',
    `${percent(failing)} of the ${many(ended)} attempts that ended in the last ${span} failed.`,
  )
  add(...causesSentence(facts, span, limits))
  for (const breaker of facts.breakers) add(...breakerSentence(breaker))
  add(
    levelOf(dead, limits.dead),
    'dead_letters',
    `${many(dead)} dead letters wait for a decision: redrive or discard them.`,
  )
  const retryRate = ended === 0 ? null : flow.retried / ended
  add(
    levelOf(retryRate, limits.retryRate),
    'retry_rate',
    `${percent(retryRate)} of the ${many(ended)} attempts that ended in the last ${span} had to be tried again.`,
  )
  add(...workersSentence(workers, limits))
  return found.toSorted((a, b) => levelNumber(b.level) - levelNumber(a.level))
}

/** The worst level among the sentences, or among those about one thing. */
export function worstOf(because: readonly Because[], about?: About): Level {
  const levels = because.filter((one) => about === undefined || one.about === about).map(({ level }) => level)
  return levels.reduce<Level>((worst, level) => (levelNumber(level) > levelNumber(worst) ? level : worst), 'ok')
}

function levelOf(value: number | null, { warning, critical }: Thresholds): Level {
  if (value === null || value <= warning) return 'ok'
  return value > critical ? 'critical' : 'warning'
}

type Sentence = readonly [level: Level, about: About, says: string]

function setbackReason({ setbacks }: LevelFacts): Sentence {
  const [latest, ...others] = setbacks
  if (latest === undefined) return ['ok', 'set_back', '']
  const more = others.length === 0 ? '' : ` So did ${others.length} more of its partitions.`
  const what = "'reprise inspect' tells more, and accepts the loss with --reconcile."
  return ['critical', 'set_back', `${setbackSentence(latest)}${more} ${what}`]
}

function unservedSentence({ unserved, workers }: LevelFacts, limits: MonitoringThresholds): Sentence {
  const { waitedMs } = unserved
  const isLong = unserved.tasks > 0 && waitedMs !== null && waitedMs > UNSERVED_MS_MAX
  const level = isLong ? 'critical' : levelOf(unserved.tasks, limits.unserved)
  const stand = unserved.due === 0 ? 'queued' : unserved.due < unserved.tasks ? 'queued or due' : 'due'
  const what = `${tasks(unserved.tasks)} ${unserved.tasks === 1 ? 'is' : 'are'} ${stand}`
  const who = workers.taking === 0 ? 'no worker takes work' : `no worker takes ${where(unserved.lanes)}`
  const since = waitedMs === null ? '' : `; the oldest has waited ${formatDuration(waitedMs)} or more`
  return [level, 'no_worker', `${what} and ${who}${since}.`]
}

const where = (lanes: LevelFacts['unserved']['lanes']): string =>
  named(lanes.map(({ action, pool }) => `${action} in pool ${pool}`))

function waitSentence({ action, tenant, waitedMs, allowedMs, usedMs }: Wait): Sentence {
  const who = `A task of ${action} (tenant ${tenant}) has waited ${formatDuration(waitedMs)}`
  if (allowedMs === null) return [waitedMs > WAIT_MS_MAX ? 'warning' : 'ok', 'wait', `${who}, and workers take others.`]
  const allowed = formatDuration(allowedMs)
  if (usedMs >= allowedMs) return ['critical', 'wait', `${who}, and is past its SLA or deadline of ${allowed}.`]
  const level = usedMs > allowedMs * WAIT_SHARE_MAX ? 'warning' : 'ok'
  return [level, 'wait', `${who}; its SLA or deadline of ${allowed} ends in ${formatDuration(allowedMs - usedMs)}.`]
}

function backlogSentence({ action, tenant, queued, startsInMs, allowedMs }: Backlog): Sentence {
  const isLate = startsInMs > (allowedMs ?? WAIT_MS_MAX)
  const sla = allowedMs === null ? '' : `, past the SLA or deadline of ${formatDuration(allowedMs)}`
  const what = `${tasks(queued)} of ${action} (tenant ${tenant}) are queued`
  const says = `${what}; at the rate of now the last one starts in about ${formatDuration(startsInMs)}${sla}.`
  return [isLate ? (allowedMs === null ? 'warning' : 'critical') : 'ok', 'wait', says]
}

function causesSentence({ newCauses }: LevelFacts, span: string, limits: MonitoringThresholds): Sentence {
  const most = newCauses.reduce((max, { count }) => Math.max(max, count), 0)
  const words = likeCauses(newCauses).map(({ name, causes, dead }) => {
    const split = causes === 1 ? '' : `${many(causes)} causes, `
    return `${name} (${split}${many(dead)} dead)`
  })
  const what = newCauses.length === 1 ? '1 new cause' : `${many(newCauses.length)} new causes`
  return [levelOf(most, limits.newCause), 'new_causes', `${what} of dead letters in the last ${span}: ${named(words)}.`]
}

/** Several causes may share action and code, and differ in their message alone: they are told of together, the most first. */
function likeCauses(all: LevelFacts['newCauses']): readonly { name: string; causes: number; dead: number }[] {
  const like = new Map<string, { name: string; causes: number; dead: number }>()
  for (const { action, code, count } of all) {
    const name = `${action} ${code}`
    const { causes, dead } = like.get(name) ?? { causes: 0, dead: 0 }
    like.set(name, { name, causes: causes + 1, dead: dead + count })
  }
  return [...like.values()].sort((a, b) => b.dead - a.dead)
}

function breakerSentence({ name, tenant, actions }: LevelFacts['breakers'][number]): Sentence {
  const whose = tenant === null ? 'all tenants' : `tenant ${tenant}`
  const what = actions === 1 ? '1 action waits' : `${actions} actions wait`
  return [tenant === null ? 'critical' : 'warning', 'breakers', `Breaker ${name} is open for ${whose}: ${what}.`]
}

function workersSentence(
  { present, unhealthy, taking, lastSilentMs }: LevelFacts['workers'],
  limits: MonitoringThresholds,
): Sentence {
  if (present === 0) {
    const silent = formatDuration(lastSilentMs ?? 0)
    return [
      lastSilentMs === null ? 'ok' : 'warning',
      'unhealthy_share',
      `No worker is left: the last heartbeat came ${silent} ago.`,
    ]
  }
  const level = levelOf(unhealthy / present, limits.unhealthyShare)
  const who = present === 1 ? 'The only worker is unhealthy' : `${unhealthy} of ${present} workers are unhealthy`
  const still = taking === 0 ? 'no worker takes work' : `${taking} still ${taking === 1 ? 'takes' : 'take'} work`
  return [level, 'unhealthy_share', `${who}; ${still}.`]
}

const many = (count: number): string => count.toLocaleString('en-US')
const tasks = (count: number): string => `${many(count)} ${count === 1 ? 'task' : 'tasks'}`
const percent = (share: number | null): string => `${Math.round((share ?? 0) * 100)} %`

function named(all: readonly string[]): string {
  const shown = [...new Set(all)]
  if (shown.length <= NAMED_MAX) return shown.join(', ')
  return `${shown.slice(0, NAMED_MAX).join(', ')} and ${shown.length - NAMED_MAX} more`
}
