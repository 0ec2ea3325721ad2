// Samples of attempts for comparing: dead letters of a failure group, and successes of the same action that were accepted around
// the same time, as a caller may see them. Bounded in number and in what is read; long payloads are left out, and count as long.

import {
  type AttemptFacts,
  type Engine,
  type Features,
  type Fingerprint,
  featuresOf,
  LEFT_OUT,
  mapLimited,
  type Task,
  type TaskQuery,
  type TenantId,
  turnsOf,
} from '@reprise/core'
import type { Caller } from './access/caller.ts'
import type { Context } from './context.ts'

/** Of each side. */
const SAMPLE_MAX = 200
/** Of how many attempts the record is read as well, for when they began and how long they took. */
const TIMED_MAX = 100
const READS_AT_ONCE = 10
/** How many places among the failures successes are looked for at. */
const PLACES = 4
/** How often the store is asked for successes where it finds few. */
const PAGES_MAX = 5
/** Of a caller limited to more tenants, some are looked at. */
const TENANTS_MAX = 16

interface Samples {
  readonly failures: readonly Task[]
  readonly successes: readonly Task[]
}

type Store = Pick<Engine, 'tasks' | 'execution'>
type Scoped = Pick<TaskQuery, 'tenant'>

const scopesOf = (tenants: readonly TenantId[] | null): readonly Scoped[] =>
  tenants === null ? [{}] : tenants.slice(0, TENANTS_MAX).map((tenant) => ({ tenant }))

/** The newest dead letters with these fingerprints, and successes that were accepted between them and just before. */
export async function samplesOf(
  engine: Store,
  { tenants }: Pick<Caller, 'tenants'>,
  fingerprints: readonly string[],
): Promise<Samples> {
  const scopes = scopesOf(tenants)
  const each = Math.max(1, Math.floor(SAMPLE_MAX / (scopes.length * fingerprints.length)))
  const parts = await mapLimited(
    scopes.flatMap((scope) => fingerprints.map((fingerprint) => ({ scope, fingerprint }))),
    READS_AT_ONCE,
    async ({ scope, fingerprint }) => {
      const query = { ...scope, fingerprint: fingerprint as Fingerprint, light: true }
      const failures: Task[] = []
      const places: string[] = []
      // In parts: where each ends is a place to look for successes.
      for (const limit of [1, ...Array.from({ length: PLACES }, () => Math.ceil(each / PLACES))]) {
        const last = places.at(-1)
        const room = Math.min(limit, each - failures.length)
        if (room <= 0) break
        const page = await engine.tasks({ ...query, limit: room, ...(last === undefined ? {} : { cursor: last }) })
        failures.push(...page.items)
        if (page.next === null) break
        places.push(page.next)
      }
      return { scope, failures, places: places.slice(0, PLACES) }
    },
  )
  const failures = parts.flatMap((part) => part.failures)
  const [action] = failures.map((task) => task.action)
  if (action === undefined) return { failures, successes: [] }
  const found = new Map<string, Task>()
  const perPlace = Math.max(1, Math.floor(SAMPLE_MAX / (PLACES * parts.length)))
  await mapLimited(parts, READS_AT_ONCE, async ({ scope, places }) => {
    const query = { ...scope, action, status: 'succeeded', light: true } as const
    for (const place of places.length === 0 ? [null] : places) {
      for (const task of await successesFrom(engine, query, place, perPlace)) found.set(task.id, task)
    }
  })
  return { failures, successes: [...found.values()] }
}

/** Successes that were accepted before this place, the newest first. Without a place the newest of all. */
export async function successesFrom(
  engine: Pick<Engine, 'tasks'>,
  query: TaskQuery,
  place: string | null,
  limit: number,
): Promise<readonly Task[]> {
  const found: Task[] = []
  let cursor = place
  for (let page = 0; page < PAGES_MAX && found.length < limit; page++) {
    const from = cursor === null ? {} : { cursor }
    const { items, next } = await engine.tasks({ ...query, ...from, limit: limit - found.length })
    found.push(...items)
    if (next === null) break
    cursor = next
  }
  return found
}

/** When an attempt began, and how long it took; null where that was not looked at. */
type Timing = Pick<AttemptFacts, 'startedAt' | 'durationMs'>

const UNTIMED: Timing = { startedAt: null, durationMs: null }

export async function timingOf(engine: Store, { id, attempt, payload }: Task): Promise<Timing> {
  // The record comes with the payload.
  const execution = payload === LEFT_OUT ? null : await engine.execution(id, attempt)
  if (execution === null || execution.resolvedAt === null) return UNTIMED
  const { dispatchedAt, resolvedAt } = execution
  return { startedAt: dispatchedAt, durationMs: resolvedAt - dispatchedAt }
}

/** Tasks as features, as the caller may see them. */
export async function featuresFor(
  context: Pick<Context, 'engine' | 'redaction' | 'clock'>,
  caller: Caller,
  tasks: readonly Task[],
): Promise<Features[]> {
  const turns = turnsOf(context.clock)
  const timings = await mapLimited(tasks.slice(0, TIMED_MAX), READS_AT_ONCE, (task) => timingOf(context.engine, task))
  const features: Features[] = []
  for (const [at, task] of tasks.entries()) {
    if (turns.isSpent) await turns.wait()
    features.push(featuresOf(await seenFacts(context, caller, task, timings[at] ?? UNTIMED)))
  }
  return features
}

const LONG = '(long)'

export async function seenFacts(
  context: Pick<Context, 'redaction' | 'clock'>,
  caller: Caller,
  task: Task,
  timing: Timing,
): Promise<AttemptFacts> {
  const isLong = task.payload === LEFT_OUT
  const payload: unknown = isLong ? LONG : JSON.parse(task.payload)
  const seen = (await context.redaction.paced({ payload, labels: task.labels }, turnsOf(context.clock))) as {
    readonly payload: unknown
    readonly labels: Readonly<Record<string, string>>
  }
  // Workers work for all tenants: those who may see some are not told which there are (docs/adr/0023).
  const worker = caller.tenants === null ? task.lastWorker : null
  return {
    version: worker?.version ?? null,
    host: worker?.host ?? null,
    worker: worker?.worker ?? null,
    tenant: task.tenant,
    pool: task.pool,
    labels: typeof seen === 'object' && seen !== null ? seen.labels : {},
    payload: typeof seen === 'object' && seen !== null ? seen.payload : undefined,
    payloadBytes: isLong ? null : Buffer.byteLength(task.payload),
    attempt: task.attempt,
    ...timing,
  }
}
