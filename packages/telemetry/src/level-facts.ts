// What the level of a store stands on, put together and looked up in bounded steps: lanes that wait and who takes them, how long
// the tasks in the longest ones have waited, open breakers, causes that are new.

import {
  type Breaker,
  type Counts,
  deadlineUnder,
  type LaneView,
  type Observing,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  type PolicyBook,
  type PoolName,
  SERIES_STEP_MS,
  type SeriesPoint,
  type Setback,
  type Task,
  type WorkerView,
} from '@reprise/core'
import type { Backlog, LevelFacts, Wait } from './level.ts'

/** Lanes whose tasks are looked at: those in which most is queued. */
const LANES_SAMPLED_MAX = 10
const POOLS_MAX = 100
/** Sentences about waiting. */
const WAITS_SHOWN_MAX = 3

export interface LevelLook {
  readonly now: number
  /** The start of the window. */
  readonly from: number
  /** Every worker that is registered, and those of them that take work. */
  readonly workers: readonly WorkerView[]
  readonly taking: readonly WorkerView[]
  readonly counts: Counts
  readonly lanes: readonly LaneView[]
  readonly breakers: readonly Breaker[]
  readonly setbacks: readonly Setback[]
  readonly book: PolicyBook
  /** Whether causes may be named. */
  readonly causes: boolean
}

export type LevelFindings = Omit<LevelFacts, 'windowMs' | 'flow' | 'workers'>

export async function levelFacts(engine: Observing, look: LevelLook): Promise<LevelFindings> {
  const { counts, lanes, breakers } = look
  const newCauses = look.causes ? await causesSince(engine, look.from) : []
  const open = lanes.filter((lane) => lane.counts.queued + lane.counts.waiting > 0 && !isHeld(lane))
  const { served, unserved: untaken } = await byStaff(engine, open, look)
  const due = await dueIn(engine, untaken, look.now)
  const unserved = untaken.filter((lane) => lane.counts.queued > 0 || due.has(lane))
  const [sampled, stuck] = await Promise.all([samples(engine, served, look), samples(engine, unserved, look)])
  const dueCounts = [...due.values()]
  const waitedMs = [...stuck.map(({ wait }) => wait.waitedMs), ...dueCounts.map(({ sinceMs }) => sinceMs)]
  return {
    setbacks: look.setbacks,
    dead: counts.dead,
    unserved: {
      tasks: sum(unserved.map((lane) => lane.counts.queued)) + sum(dueCounts.map(({ tasks }) => tasks)),
      due: sum(dueCounts.map(({ tasks }) => tasks)),
      lanes: byQueued(unserved),
      waitedMs: waitedMs.length === 0 ? null : Math.max(...waitedMs),
    },
    waits: sampled
      .map(({ wait }) => wait)
      .toSorted((a, b) => urgency(b) - urgency(a) || b.waitedMs - a.waitedMs)
      .slice(0, WAITS_SHOWN_MAX),
    backlogs: sampled.flatMap(({ backlog }) => backlog ?? []).slice(0, WAITS_SHOWN_MAX),
    breakers: breakers
      .filter(({ state }) => state.status === 'open')
      .map(({ name, tenant, actions }) => ({ name, tenant, actions: actions.length })),
    newCauses,
  }
}

/** Somebody holds it on purpose. */
const isHeld = ({ gates }: LaneView): boolean =>
  gates.some((gate) => gate.kind === 'paused' || (gate.kind === 'concurrency' && gate.concurrency === 0))

/** Lanes that somebody takes, and lanes that nobody does. */
async function byStaff(engine: Observing, lanes: readonly LaneView[], { taking, workers, now }: LevelLook) {
  const isTaken = ({ pool, action }: LaneView): boolean =>
    taking.some(({ pools, actions }) => pools.includes(pool) && (actions === null || actions.includes(action)))
  const left = lanes.filter((lane) => !isTaken(lane))
  // The workers of a launch pool are not registered: that tasks start there says that somebody starts them.
  const known = new Set(workers.flatMap(({ pools }) => pools))
  const strange = [...new Set(left.map(({ pool }) => pool))].filter((pool) => !known.has(pool)).slice(0, POOLS_MAX)
  const from = Math.floor(now / SERIES_STEP_MS - 1) * SERIES_STEP_MS
  const started = await Promise.all(strange.map((pool) => engine.series({ pool, from, to: now + 1 })))
  const launched = new Set<PoolName>(strange.filter((_, index) => startsIn(started[index] ?? []) > 0))
  const unserved = new Set(left.filter(({ pool }) => !launched.has(pool)))
  return { served: lanes.filter((lane) => !unserved.has(lane)), unserved: [...unserved] }
}

interface Due {
  readonly tasks: number
  /** For how long the oldest of them has been due. */
  readonly sinceMs: number
}

/** Claims move what is due to the queue. Where nobody claims it is looked for, in one page of the lanes in which most waits. */
async function dueIn(engine: Observing, lanes: readonly LaneView[], now: number): Promise<ReadonlyMap<LaneView, Due>> {
  const looked = lanes
    .filter(({ counts }) => counts.waiting > 0)
    .toSorted((a, b) => b.counts.waiting - a.counts.waiting)
    .slice(0, LANES_SAMPLED_MAX)
  const found = await Promise.all(
    looked.map(async (lane): Promise<readonly (readonly [LaneView, Due])[]> => {
      const { pool, action, tenant } = lane
      const query = { pool, action, tenant, status: 'waiting', limit: PAGE_LIMIT_MAX, light: true } as const
      const { items } = await engine.tasks(query)
      const dueAt = items.flatMap(({ state }) => (state.status === 'waiting' && state.dueAt <= now ? state.dueAt : []))
      return dueAt.length === 0 ? [] : [[lane, { tasks: dueAt.length, sinceMs: now - Math.min(...dueAt) }]]
    }),
  )
  return new Map(found.flat())
}

interface Sample {
  readonly wait: Wait
  /** Null if all that is queued was looked at, or nothing starts. */
  readonly backlog: Backlog | null
}

/** How long tasks have waited, in the lanes with most of them. */
async function samples(engine: Observing, lanes: readonly LaneView[], look: LevelLook): Promise<readonly Sample[]> {
  const sampled = byQueued(lanes.filter(({ counts }) => counts.queued > 0)).slice(0, LANES_SAMPLED_MAX)
  return (await Promise.all(sampled.map((lane) => sampleOf(engine, lane, look)))).flat()
}

async function sampleOf(engine: Observing, lane: LaneView, look: LevelLook): Promise<readonly Sample[]> {
  const { pool, action, tenant } = lane
  const scope = { pool, action, tenant }
  const { items } = await engine.tasks({ ...scope, status: 'queued', limit: PAGE_LIMIT_DEFAULT, light: true })
  const [wait] = items
    .map((task) => waitOf(task, look))
    .toSorted((a, b) => urgency(b) - urgency(a) || b.waitedMs - a.waitedMs)
  if (wait === undefined) return []
  if (lane.counts.queued <= items.length) return [{ wait, backlog: null }]
  const started = startsIn(await engine.series({ ...scope, from: look.from, to: look.now + 1 }))
  if (started === 0) return [{ wait, backlog: null }]
  const startsInMs = (lane.counts.queued / started) * (look.now - look.from)
  return [{ wait, backlog: { action, tenant, queued: lane.counts.queued, startsInMs, allowedMs: wait.allowedMs } }]
}

function waitOf(task: Task, { now, book }: LevelLook): Wait {
  const { action, tenant, acceptedAt, state } = task
  const deadlineAt = deadlineUnder(book, { ...task, snapshot: task })
  return {
    action,
    tenant,
    waitedMs: now - (state.status === 'queued' ? state.since : acceptedAt),
    allowedMs: deadlineAt === null ? null : deadlineAt - acceptedAt,
    usedMs: now - acceptedAt,
  }
}

/** The part of its time that has passed. */
const urgency = ({ allowedMs, usedMs }: Wait): number => (allowedMs === null ? 0 : usedMs / Math.max(allowedMs, 1))

/** A group that began in the window also had its last dead letter there: these come first. */
async function causesSince(engine: Observing, from: number): Promise<LevelFacts['newCauses']> {
  const { items } = await engine.failureGroups({ limit: PAGE_LIMIT_MAX })
  return items
    .filter(({ firstAt }) => firstAt >= from)
    .map(({ action, sample, count }) => ({ action, code: sample.code, count }))
}

const byQueued = (lanes: readonly LaneView[]): readonly LaneView[] =>
  lanes.toSorted((a, b) => b.counts.queued - a.counts.queued)
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const startsIn = (points: readonly SeriesPoint[]): number => sum(points.map(({ started }) => started))
