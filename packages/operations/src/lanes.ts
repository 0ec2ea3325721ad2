// Operations about lanes, circuit breakers and failure groups: what holds work back, and what has failed.

import { type Breaker, checkedText, InvalidError, type LaneView, NAME_LENGTH_MAX, type Scope } from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller, tenantScope } from './access/caller.ts'
import { refuseUnlessOn } from './context.ts'
import { given } from './given.ts'
import { notesOnGroups, withNotes } from './notes.ts'
import { operation, viewOf } from './operation.ts'
import { ActionNameInput, checkedBy, PageQuery, pageOf, ReasonInput, ScopeInput } from './schemas/names.ts'
import { BreakerView, Changed, FailureGroupView, LaneView as LaneSchema } from './schemas/operations.ts'
import { failureGroupView } from './views.ts'

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
    run: ({ engine }, caller, { limit, cursor, ...scope }) =>
      engine.lanes({ ...scopeOf(scope, caller), ...given({ limit, cursor }) }),
  }),
  pauseLanes: operation({
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
      await engine.pause(changedScope(scope, caller), byOf(caller, reason))
      return { changed: true }
    },
  }),
  resumeLanes: operation({
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
      await engine.limit(changedScope(scope, caller), concurrency, byOf(caller, reason))
      return { changed: true }
    },
  }),
  listBreakers: operation({
    route: 'GET /api/v1/breakers',
    summary: 'List circuit breakers',
    tag: 'lanes',
    right: 'read',
    tenants: 'all',
    input: PageQuery,
    output: pageOf(viewOf<Breaker>(BreakerView), 'BreakerPage'),
    answer: 'Those that are not closed, or saw failures.',
    run: ({ engine }, _, page) => engine.breakers(given(page)),
  }),
  resetBreaker: operation({
    route: 'POST /api/v1/breakers/{name}/reset',
    summary: 'Close a circuit breaker',
    tag: 'lanes',
    right: 'operate',
    tenants: 'all',
    input: z.object({ name: BreakerName, reason: ReasonInput.optional() }),
    output: Changed,
    answer: 'False if there is none of this name.',
    repeatable: true,
    run: async ({ engine }, caller, { name, reason }) => ({
      changed: await engine.resetBreaker(name, byOf(caller, reason)),
    }),
  }),
  listFailureGroups: operation({
    route: 'GET /api/v1/failure-groups',
    summary: 'List dead letters by cause',
    tag: 'tasks',
    right: 'read',
    tenants: 'all',
    input: PageQuery.extend({ action: ActionNameInput.optional() }),
    output: pageOf(FailureGroupView.extend(withNotes).meta({ id: 'NotedFailureGroup' }), 'FailureGroupPage'),
    answer: 'The most recent first.',
    run: async (context, _, query) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      const [{ items, next }, notes] = await Promise.all([
        context.engine.failureGroups(given(query)),
        notesOnGroups(context),
      ])
      const noted = items.map((group) => ({
        ...failureGroupView(group, context.redaction),
        notes: notes.get(group.fingerprint) ?? [],
      }))
      return { items: noted, next }
    },
  }),
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
