// Operations about lanes and circuit breakers: what holds work back.

import {
  type Breaker,
  checkedText,
  type Engine,
  type Hold,
  InvalidError,
  type LaneView,
  NAME_LENGTH_MAX,
  NotFoundError,
  type Scope,
  type TenantId,
} from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller, mayTouch, tenantScope } from './access/caller.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { unknownNames } from './known-names.ts'
import { operation, viewOf } from './operation.ts'
import { checkedBy, PageQuery, pageOf, ReasonInput, ScopeInput, TenantIdInput } from './schemas/names.ts'
import { BreakerView, Changed, LaneView as LaneSchema } from './schemas/operations.ts'
import { GateView } from './schemas/task.ts'
import { sightOf } from './sight.ts'
import { noteLimitByHand } from './tenant-slots.ts'
import { holdView, laneView } from './views.ts'

const ScopeChange = ScopeInput.extend({ all: z.literal(true).optional(), reason: ReasonInput.optional() })

const BREAKER_NAME_LENGTH_MAX = NAME_LENGTH_MAX + 'dependency:'.length

const BreakerName = checkedBy((value) => {
  const name = checkedText('name of a breaker', value, BREAKER_NAME_LENGTH_MAX)
  if (/^(?:action|dependency):./.test(name)) return name
  throw new InvalidError(`A breaker is named 'action:…' or 'dependency:…', not '${name.slice(0, 40)}'.`)
}, 'The name of a breaker.')

export const laneOperations = {
  listLanes: operation({
    route: 'GET /api/v1/lanes',
    summary: 'List lanes',
    tag: 'lanes',
    right: 'read',
    tenants: 'own',
    input: ScopeInput.extend(PageQuery.shape),
    output: pageOf(viewOf<LaneView>(LaneSchema), 'LanePage'),
    answer: 'A page of lanes with their gates.',
    run: async (context, caller, { limit, cursor, ...scope }) => {
      const { items, next } = await context.engine.lanes({ ...scopeOf(scope, caller), ...given({ limit, cursor }) })
      const sight = sightOf(context, caller)
      return { items: items.map((lane) => laneView(lane, sight)), next }
    },
  }),
  listHolds: operation({
    route: 'GET /api/v1/holds',
    summary: 'List holds and limits',
    tag: 'lanes',
    right: 'read',
    tenants: 'own',
    input: PageQuery,
    output: pageOf(viewOf<Hold>(GateView), 'HoldPage'),
    answer:
      'What operators have put on lanes, by scope, also where no lane is yet. Limited callers see those of their tenants.',
    run: async (context, caller, page) => {
      const tenants = caller.tenants ?? undefined
      const { items, next } = await context.engine.holds(given({ ...page, tenants }))
      const sight = sightOf(context, caller)
      return { items: items.map((hold) => holdView(hold, sight)), next }
    },
  }),
  pauseLanes: operation({
    audit: holdsOf,
    route: 'POST /api/v1/lanes/pause',
    summary: 'Hold lanes',
    tag: 'lanes',
    right: 'operate',
    tenants: 'own',
    input: ScopeChange,
    output: Changed,
    answer: 'They are held, present and future ones.',
    repeatable: true,
    run: async ({ engine }, caller, { reason, ...scope }) => {
      const held = changedScope(scope, caller)
      await refuseNoLanes(engine, held, caller)
      await engine.pause(held, byOf(caller, reason))
      return { changed: true, ...(await unknownNames(engine, held, caller)) }
    },
  }),
  resumeLanes: operation({
    audit: holdsOf,
    route: 'POST /api/v1/lanes/resume',
    summary: 'Let lanes go on',
    tag: 'lanes',
    right: 'operate',
    tenants: 'own',
    input: ScopeChange,
    output: Changed,
    answer: 'False if exactly this scope was not held.',
    repeatable: true,
    run: async ({ engine }, caller, { reason, ...scope }) => ({
      changed: await engine.resume(changedScope(scope, caller), byOf(caller, reason)),
    }),
  }),
  limitLanes: operation({
    audit: holdsOf,
    route: 'POST /api/v1/lanes/limit',
    summary: 'Limit how many tasks run at once',
    tag: 'lanes',
    right: 'operate',
    tenants: 'own',
    input: ScopeChange.extend({ concurrency: z.int().min(0).nullable() }),
    output: Changed,
    answer: 'The limit holds; null lifts it.',
    repeatable: true,
    run: async ({ engine }, caller, { reason, concurrency, ...scope }) => {
      const limited = changedScope(scope, caller)
      if (concurrency !== null) await refuseNoLanes(engine, limited, caller)
      await noteLimitByHand(engine, caller, limited, concurrency)
      await engine.limit(limited, concurrency, byOf(caller, reason))
      return { changed: true, ...(concurrency === null ? {} : await unknownNames(engine, limited, caller)) }
    },
  }),
  listBreakers: operation({
    route: 'GET /api/v1/breakers',
    summary: 'List circuit breakers',
    tag: 'lanes',
    right: 'read',
    tenants: 'own',
    input: PageQuery.extend({ tenant: TenantIdInput.optional() }),
    output: pageOf(viewOf<Breaker>(BreakerView), 'BreakerPage'),
    answer: 'Those that are not closed, or saw failures: of each tenant, and of all tenants.',
    run: async ({ engine }, caller, { tenant, ...page }) => {
      const { items, next } = await engine.breakers(given({ ...page, tenants: breakerTenants(caller, tenant) }))
      return { items: caller.tenants === null ? items : items.map(withoutNeighbours), next }
    },
  }),
  resetBreaker: operation({
    audit: async ({ engine }, caller, { name, tenant }) => {
      const { items } = await engine.breakers(given({ limit: 1_000, tenants: breakerTenants(caller, tenant) }))
      return items.filter((one) => one.name === name).map((one) => ({ tenant: one.tenant, status: one.state.status }))
    },
    route: 'POST /api/v1/breakers/{name}/reset',
    summary: 'Close a circuit breaker',
    tag: 'lanes',
    right: 'operate',
    tenants: 'own',
    input: z.object({ name: BreakerName, tenant: TenantIdInput.optional(), reason: ReasonInput.optional() }),
    output: Changed,
    answer:
      'False if there is none of this name that you may close. Without a tenant, all that you may close are meant.',
    repeatable: true,
    run: async ({ engine }, caller, { name, tenant, reason }) => ({
      changed: await engine.resetBreaker(name, byOf(caller, reason), breakerTenants(caller, tenant)),
    }),
  }),
}

/** What is on exactly these lanes, for the audit. */
async function holdsOf({ engine }: Context, caller: Caller, scope: GivenScope): Promise<unknown> {
  const { items } = await engine.holds({ limit: 1_000, ...given({ tenants: caller.tenants ?? undefined }) })
  const same = (one: string | undefined, other: string | undefined): boolean => one === other
  return items
    .filter(({ scope: held }) => same(held.pool, scope.pool) && same(held.action, scope.action))
    .filter(({ scope: held }) => same(held.tenant, scope.tenant))
}

/** The tenants whose breakers are meant: the one asked for, or those that the caller has. Undefined for every breaker. */
function breakerTenants(caller: Caller, asked: TenantId | undefined): readonly TenantId[] | undefined {
  if (asked === undefined) return caller.tenants ?? undefined
  if (mayTouch(caller, asked)) return [asked]
  throw new NotFoundError('tenant', asked)
}

/** The breaker of all tenants as one tenant may see it: that it is there, and until when. */
function withoutNeighbours(breaker: Breaker): Breaker {
  if (breaker.tenant !== null) return breaker
  const { state } = breaker
  if (state.status !== 'half_open') return { ...breaker, actions: [], voices: [] }
  const { doubtedBy: _, ...rest } = state
  return { ...breaker, actions: [], voices: [], state: rest }
}

type GivenScope = { readonly [Key in keyof Scope]?: Scope[Key] | undefined }

export const scopeOf = ({ pool, action, tenant }: GivenScope, caller: Caller): Scope => ({
  ...given({ pool, action }),
  ...tenantScope(caller, tenant),
})

/** A forgotten field must never mean everything. */
function changedScope({ all, ...fields }: GivenScope & { readonly all?: true | undefined }, caller: Caller): Scope {
  const scope = scopeOf(fields, caller)
  if (Object.keys(scope).length === 0 && all !== true) {
    throw new InvalidError("Say which lanes: by pool, action or tenant; or 'all': true for every one.")
  }
  return scope
}

/** A caller limited to tenants holds lanes that are there: names that they think up would be holds without end. */
async function refuseNoLanes(engine: Engine, scope: Scope, { tenants }: Caller): Promise<void> {
  if (tenants === null || (scope.pool === undefined && scope.action === undefined)) return
  const { items, next } = await engine.lanes({ ...scope, limit: 1 })
  if (items.length === 0 && next === null) throw new NotFoundError('lane of', scope.action ?? scope.pool ?? '')
}
