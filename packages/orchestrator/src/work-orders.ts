// Keeps work orders: follows the journal, sees to it that every dead letter has a work order or belongs to a failure group that has
// one, and closes those whose dead letters are gone. One document says how far the journal was read. The work orders of a page are
// made before the page counts as read, under ids that follow from what they are about: a page that is read twice makes none twice.
// So any number of these may run.

import {
  actorText,
  BAD_ENDS,
  type Collection,
  casesIn,
  casesOf,
  check,
  closedByItself,
  type Deaths,
  deadlineUnder,
  type Engine,
  type Escalation,
  type Fingerprint,
  getOrInsert,
  isRepriseError,
  type JournalEntry,
  mapLimited,
  NO_POLICIES,
  openWorkOrder,
  type PolicySource,
  refuseNoEngine,
  type Service,
  stepWorkOrder,
  type Task,
  type TaskId,
  tellLeftovers,
  type WorkOrder,
  type WorkOrderSubject,
  workOrdersIn,
} from '@reprise/core'
import { copyId, ORIGINAL_LABEL } from './redrives/send.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

export interface WorkOrdersOptions extends ServiceOptions {
  readonly engine: Pick<Engine, 'journal' | 'collection' | 'execution' | 'task' | 'tasks' | 'failureGroups' | 'now'>
  readonly policies?: PolicySource | undefined
  readonly intervalMs?: number
}

interface Progress {
  readonly id: string
  readonly cursor: string
}

/** A task that died, as the journal tells it. */
interface Death {
  readonly taskId: TaskId
  readonly attempt: number
  readonly at: number
}

const INTERVAL_MS = 1_000
const CLOCKED_EVERY_MS = 5_000
const PAGE_ENTRIES = 500
/** How many pages follow each other before others have their turn. */
const PAGES_PER_ROUND = 20
const LOOKS_AT_ONCE = 20
/** A page may tell of as many. What is written together shares one commit, which costs more than the writes. */
const CAUSES_AT_ONCE = 100
/** Open work orders that are looked at in one round: the next round goes on behind them. */
const LOOKED_AT_MAX = 200
const MEMBERS_MAX = 100
/** How many entries about one task are looked through for what sent it back. */
const HISTORY_MAX = 50
const HELPED_LENGTH_MAX = 500
const PROGRESS_ID = 'journal'

const CHECKS: check.Table<WorkOrdersOptions> = { ...SERVICE_CHECKS, intervalMs: check.ms }

const progressIn = (engine: Pick<Engine, 'collection'>): Collection<Progress> =>
  engine.collection<Progress>({ name: 'work-order-progress', indexes: {} })

export function createWorkOrders(options: WorkOrdersOptions): Service {
  check.options(options, CHECKS, 'work orders option')
  const { engine, intervalMs = INTERVAL_MS } = options
  refuseNoEngine(engine, 'collection', 'createWorkOrders')
  const around = surroundings('work-orders', options)
  return createLoop('work-orders', around, () => {
    let clockedAt = Number.NEGATIVE_INFINITY
    let place: string | null = null
    return {
      async round(signal) {
        if (around.clock.monotonic() - clockedAt >= CLOCKED_EVERY_MS) {
          clockedAt = around.clock.monotonic()
          place = await closeRecovered(engine, place)
        }
        for (let page = 0; page < PAGES_PER_ROUND && !signal.aborted; page++) {
          if (!(await openWorkOrders(options))) return jitteredMs(intervalMs, around.random)
        }
        return 1
      },
    }
  })
}

/** Makes the work orders of one page of the journal. Whether there may be more; false too if another process was faster. */
export async function openWorkOrders(options: Pick<WorkOrdersOptions, 'engine' | 'policies'>): Promise<boolean> {
  const { engine } = options
  const progress = progressIn(engine)
  const { document, version } = await getOrInsert(progress, PROGRESS_ID, async () => ({
    id: PROGRESS_ID,
    cursor: await engine.journal.from(0),
  }))
  const { entries, cursor } = await engine.journal.read({ cursor: document.cursor, limit: PAGE_ENTRIES })
  if (entries.length === 0) return false
  const causes = deathsOf(entries)
  const cases = await casesOf(engine, [...causes.keys()])
  await mapLimited([...causes], CAUSES_AT_ONCE, async ([fingerprint, { action, deaths }]) => {
    const root = cases.get(fingerprint)?.mergedInto ?? fingerprint
    const name = action === '' ? await actionOf(engine, deaths) : action
    for (const one of await subjectsOf(options, root, deaths)) {
      await openWorkOrder(engine, one.subject, name, one.deaths)
    }
  })
  try {
    await progress.update({ id: PROGRESS_ID, cursor }, version)
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
    throw error
  }
  return entries.length === PAGE_ENTRIES
}

/** An entry about a discard that was taken back does not name it. */
async function actionOf(engine: WorkOrdersOptions['engine'], [first]: readonly Death[]): Promise<string> {
  return first === undefined ? '' : ((await engine.task(first.taskId, { light: true }))?.action ?? '')
}

/** How long the oldest entry of the journal waits that was not looked at for deaths; 0 if all was, or nothing ever was. */
export async function workOrdersBehindMs(engine: Pick<Engine, 'collection' | 'journal'>, now: number): Promise<number> {
  const stored = await progressIn(engine).get(PROGRESS_ID)
  if (stored === null) return 0
  const { entries } = await engine.journal.read({ cursor: stored.document.cursor, limit: 1 })
  const [oldest] = entries
  return oldest === undefined ? 0 : Math.max(0, now - oldest.at)
}

interface Cause {
  readonly action: string
  /** Oldest first. */
  readonly deaths: Death[]
}

/** Who died in a page, by fingerprint. */
function deathsOf(entries: readonly JournalEntry[]): ReadonlyMap<string, Cause> {
  const causes = new Map<string, Cause>()
  for (const { type, taskId, attempt, at, data } of entries) {
    const { fingerprint, action } = data
    if (taskId === null || attempt === null || typeof fingerprint !== 'string' || !isDeath(type, data)) continue
    const cause = causes.get(fingerprint) ?? { action: '', deaths: [] }
    cause.deaths.push({ taskId, attempt, at })
    causes.set(fingerprint, typeof action === 'string' ? { ...cause, action } : cause)
  }
  return causes
}

/** A discard that is taken back leaves a dead letter as well: somebody has to look at it again. */
const isDeath = (type: JournalEntry['type'], { decision, from }: JournalEntry['data']): boolean =>
  type === 'task.reverted'
    ? from === 'discarded'
    : (BAD_ENDS.has(type) || type === 'task.imported') && decision === 'dead'

interface Subject {
  readonly subject: WorkOrderSubject
  readonly deaths: Deaths
}

/** What the deaths of one cause are work orders about: the group, but for tasks whose policy wants one for each. */
async function subjectsOf(
  { engine, policies }: Pick<WorkOrdersOptions, 'engine' | 'policies'>,
  fingerprint: string,
  deaths: readonly Death[],
): Promise<readonly Subject[]> {
  const book = policies?.current() ?? NO_POLICIES
  const mayBePerTask = book.policies.some(({ escalation }) => escalation?.workOrder === 'task')
  // One look tells enough about a group, unless some of its tasks may stand for themselves.
  const looked = await mapLimited(mayBePerTask ? deaths : deaths.slice(-1), LOOKS_AT_ONCE, async (death) => {
    const [execution, task] = await Promise.all([
      engine.execution(death.taskId, death.attempt),
      engine.task(death.taskId, { light: true }),
    ])
    const decision = execution?.failure == null ? null : execution.decision
    const escalation: Escalation | null = decision?.kind === 'dead' ? (decision.escalation ?? null) : null
    const dueAt = task === null ? null : deadlineUnder(book, { ...task, snapshot: task })
    return { death, escalation, dueAt, tenant: task?.tenant ?? '' }
  })
  const own = looked.filter(({ escalation }) => escalation?.workOrder === 'task')
  const alone = new Set(own.map(({ death }) => death.taskId))
  const shared = deaths.filter(({ taskId }) => !alone.has(taskId))
  const last = looked.findLast(({ death }) => !alone.has(death.taskId))
  return [
    ...own.map(({ death, escalation, dueAt, tenant }) => ({
      subject: { kind: 'task', fingerprint, taskId: death.taskId, tenant } as const,
      deaths: summed([death], [tenant], { escalation, dueAt }),
    })),
    ...(shared.length === 0
      ? []
      : [
          {
            subject: { kind: 'group', fingerprint } as const,
            deaths: summed(shared, last === undefined ? [] : [last.tenant], last ?? { escalation: null, dueAt: null }),
          },
        ]),
  ]
}

function summed(
  deaths: readonly Death[],
  tenants: readonly string[],
  { escalation, dueAt }: Pick<Deaths, 'escalation' | 'dueAt'>,
): Deaths {
  const times = deaths.map(({ at }) => at)
  return {
    firstAt: Math.min(...times),
    lastAt: Math.max(...times),
    tasks: deaths.map(({ taskId }) => taskId).toReversed(),
    tenants: tenants.filter((tenant) => tenant !== ''),
    escalation,
    dueAt,
  }
}

/**
 * Closes what has recovered, of the work orders behind `place`, and tells what was left untold. Where to go on; null at the end.
 */
export async function closeRecovered(
  engine: WorkOrdersOptions['engine'],
  place: string | null = null,
): Promise<string | null> {
  const orders = workOrdersIn(engine)
  // Before anything is counted: a task that dies after this moment opens it again.
  const now = await engine.now()
  await tellLeftovers(engine.journal, orders, now)
  const query = { index: 'live', value: 'yes', limit: LOOKED_AT_MAX, ...(place === null ? {} : { cursor: place }) }
  const { items, next } = await orders.find(query)
  await mapLimited(items, LOOKS_AT_ONCE, async ({ document }) => {
    const because = await endOf(engine, document)
    if (because === null) return
    const helped = because === 'recovered' ? await whatHelped(engine, document) : null
    await stepWorkOrder(engine, document.id, (one) => closedByItself(one, now, because, helped))
  })
  return next
}

/** How its tasks have ended; null while there are dead letters, or while tasks that were sent back to work have not ended. */
async function endOf(
  engine: WorkOrdersOptions['engine'],
  { subject, tasks }: WorkOrder,
): Promise<'recovered' | 'gone' | null> {
  if (subject.kind === 'group' && (await hasDead(engine, subject.fingerprint))) return null
  const found = await Promise.all(tasks.map((id) => standingOf(engine, id)))
  const statuses = found.flatMap((task) => (task === null ? [] : [task.state.status]))
  if (statuses.some((status) => status === 'queued' || status === 'waiting' || status === 'running')) return null
  // Those of a group may be dead again of another cause: that one has a work order of its own.
  if (subject.kind === 'task' && statuses.includes('dead')) return null
  return statuses.includes('succeeded') ? 'recovered' : 'gone'
}

async function hasDead(engine: WorkOrdersOptions['engine'], root: string): Promise<boolean> {
  const { items } = await casesIn(engine).find({ index: 'into', value: root, limit: MEMBERS_MAX })
  const family = [root, ...items.map(({ document }) => document.id)]
  const groups = await mapLimited(family, LOOKS_AT_ONCE, (fingerprint) =>
    engine.failureGroups({ fingerprint: fingerprint as Fingerprint, limit: 1 }),
  )
  return groups.some((page) => page.items.some(({ count }) => count > 0))
}

/** The task, or the copy with a patched payload that went on in its place. */
async function standingOf(engine: WorkOrdersOptions['engine'], id: TaskId): Promise<Task | null> {
  const task = await engine.task(id, { light: true })
  if (task?.state.status !== 'discarded') return task
  const copy = await engine.task(copyId(task), { light: true })
  return copy?.labels[ORIGINAL_LABEL] === id ? copy : task
}

/** Who sent the task that died last back to work, and why: the redrive, the runbook or the person. Null if it was a retry. */
async function whatHelped({ journal }: WorkOrdersOptions['engine'], { tasks }: WorkOrder): Promise<string | null> {
  const [taskId] = tasks
  if (taskId === undefined) return null
  const { entries } = await journal.read({ taskId, newest: true, limit: HISTORY_MAX })
  const sent = entries.find(
    ({ type }) => type === 'task.redriven' || type === 'task.retried' || type === 'task.discarded',
  )
  return sent === undefined
    ? null
    : `What helped: ${actorText(sent.actor)} sent them back, ${sent.reason}`.slice(0, HELPED_LENGTH_MAX)
}
