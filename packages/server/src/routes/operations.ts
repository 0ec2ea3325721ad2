// Handlers for what is around tasks: figures, lanes, breakers, workers, flags, repairs. What concerns all tenants is closed
// to callers whose rights are limited to some.

import { failureGroupView, type operationRoutes } from '@reprise/contract'
import {
  checkedText,
  durationMs,
  type Engine,
  FLAGS,
  type FlagState,
  InvalidError,
  NotFoundError,
  orderDrain,
  type PoolName,
  RequestError,
  type Scope,
  SERIES_STEP_MS,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { registrySnapshot, scalingSignals } from '@reprise/orchestrator'
import { monitoring } from '@reprise/telemetry'
import { byOf } from '../access/by.ts'
import type { Principal } from '../access/principal.ts'
import { tenantScope, wholeStore } from '../access/tenants.ts'
import { type Handlers, json } from '../http/handler.ts'
import type { Services } from '../services.ts'
import { refuseUnlessOn } from './feature.ts'
import { pageOf } from './page.ts'

type Routes = typeof operationRoutes
type Policy = Extract<keyof Routes, `${string}olic${string}`>

const MINUTES = 60
const TARGET_WAIT_MS = 10_000
const WINDOW_MS = 600_000
/** As the contract has it. */
const BREAKER_NAME_LENGTH_MAX = 220

export function operationHandlers(services: Services): Handlers<Omit<Routes, Policy>> {
  const { engine, redaction, flags } = services
  const worker = async (id: WorkerId): Promise<WorkerView> => {
    const found = await engine.worker(id)
    if (found === null) throw new NotFoundError('worker', id)
    return found
  }
  return {
    counts: async ({ query, principal }) => json(200, await engine.counts(scopeOf(query, principal))),
    series: async ({ query: { minutes = MINUTES, ...scope }, principal }) => {
      const now = await engine.now()
      const from = Math.floor(now / SERIES_STEP_MS) * SERIES_STEP_MS - (minutes - 1) * SERIES_STEP_MS
      return json(200, { points: await engine.series({ ...scopeOf(scope, principal), from, to: now + 1 }) })
    },
    monitoring: async ({ query, principal }) => {
      wholeStore(principal)
      const windowMs = query.window === undefined ? WINDOW_MS : durationMs(query.window, 'window')
      return json(200, await monitoring(engine, { windowMs, now: await engine.now() }))
    },
    scaling: async ({ query, principal }) => {
      wholeStore(principal)
      const pools = query.pool === undefined ? await poolsOf(engine) : [query.pool]
      const signals = await scalingSignals(engine, pools, {
        targetWaitMs: query.targetWait === undefined ? TARGET_WAIT_MS : durationMs(query.targetWait, 'targetWait'),
        ...(query.slotsPerWorker === undefined ? {} : { slotsPerWorker: query.slotsPerWorker }),
        ...(query.duration === undefined ? {} : { durationMs: durationMs(query.duration, 'duration') }),
      })
      return json(200, { signals })
    },
    listLanes: async ({ query: { limit, cursor, ...scope }, principal }) =>
      json(200, await engine.lanes({ ...scopeOf(scope, principal), ...pageOf({ limit, cursor }) })),
    pauseLanes: async ({ body, principal }) => {
      await engine.pause(changedScope(body, principal), byOf(principal, body.reason))
      return json(200, { changed: true })
    },
    resumeLanes: async ({ body, principal }) =>
      json(200, { changed: await engine.resume(changedScope(body, principal), byOf(principal, body.reason)) }),
    limitLanes: async ({ body, principal }) => {
      await engine.limit(changedScope(body, principal), body.concurrency, byOf(principal, body.reason))
      return json(200, { changed: true })
    },
    listBreakers: async ({ query, principal }) => {
      wholeStore(principal)
      return json(200, await engine.breakers(pageOf(query)))
    },
    resetBreaker: async ({ params, body, principal }) => {
      wholeStore(principal)
      const name = checkedText('name of a breaker', params.name, BREAKER_NAME_LENGTH_MAX)
      return json(200, { changed: await engine.resetBreaker(name, byOf(principal, body?.reason)) })
    },
    listFailureGroups: async ({ query: { action, ...page }, principal }) => {
      wholeStore(principal)
      refuseUnlessOn(services, 'dlq-inspector')
      const found = await engine.failureGroups({ ...(action === undefined ? {} : { action }), ...pageOf(page) })
      return json(200, { items: found.items.map((group) => failureGroupView(group, redaction)), next: found.next })
    },
    listWorkers: async ({ query, principal }) => {
      wholeStore(principal)
      return json(200, await engine.workers(pageOf(query)))
    },
    getWorker: async ({ params, principal }) => {
      wholeStore(principal)
      return json(200, await worker(params.id))
    },
    drainWorker: async ({ params, body, principal }) => {
      wholeStore(principal)
      const { worker: id, epoch } = await worker(params.id)
      return json(200, { changed: await orderDrain(engine, id, epoch, byOf(principal, body?.reason)) })
    },
    listFlags: () => json(200, { flags: flags.list().map(flagView) }),
    setFlag: async ({ params: { name }, body, principal }) => {
      wholeStore(principal)
      if (!Object.hasOwn(FLAGS, name)) throw new NotFoundError('flag', name)
      return json(200, flagView(await flags.set(name, body.on, byOf(principal, body.reason))))
    },
    inspect: async ({ body: { repair = false, limit, cursor, reason }, principal }) => {
      wholeStore(principal)
      if (repair && !principal.scopes.has('configure')) {
        throw new RequestError(
          'REPRISE_FORBIDDEN',
          `A repair needs the scope 'configure', which ${principal.actor} does not have.`,
        )
      }
      return json(200, await engine.inspect({ repair, by: byOf(principal, reason), ...pageOf({ limit, cursor }) }))
    },
  }
}

const flagView = ({ name, description, on, by, changedAt }: FlagState) => ({
  name,
  description,
  on,
  changedBy: by?.actor ?? null,
  changedAt,
})

type GivenScope = { readonly [Key in keyof Scope]?: Scope[Key] | undefined }

function scopeOf({ pool, action, tenant }: GivenScope, principal: Principal): Scope {
  return {
    ...(pool === undefined ? {} : { pool }),
    ...(action === undefined ? {} : { action }),
    ...tenantScope(principal, tenant),
  }
}

/** What a forgotten field must never mean: everything. */
function changedScope(
  { all, ...given }: GivenScope & { readonly all?: true | undefined },
  principal: Principal,
): Scope {
  const scope = scopeOf(given, principal)
  if (Object.keys(scope).length === 0 && all !== true) {
    throw new InvalidError("Say which lanes: by pool, action or tenant; or 'all': true for every one.")
  }
  return scope
}

async function poolsOf(engine: Engine): Promise<readonly PoolName[]> {
  const pools = new Set<PoolName>()
  for (const { pools: served } of await registrySnapshot(engine)) for (const pool of served) pools.add(pool)
  const { items } = await engine.lanes({ limit: 1_000 })
  for (const { pool } of items) pools.add(pool)
  return [...pools].sort().slice(0, 100)
}
