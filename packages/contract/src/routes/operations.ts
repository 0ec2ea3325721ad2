// Routes for what is around tasks: lanes, workers, breakers, failure groups, figures, flags, policies, repairs.

import { z } from 'zod'
import { routeTable } from '../route.ts'
import {
  ActionNameInput,
  DurationInput,
  digitsInput,
  JsonValue,
  Milliseconds,
  Moment,
  NameInput,
  PageQuery,
  PoolNameInput,
  pageOf,
  ReasonInput,
  ScopeInput,
  TenantIdInput,
  WorkerIdInput,
} from '../schemas/names.ts'
import {
  BreakerPage,
  CountsView,
  FailureGroupPage,
  LanePage,
  ScalingView,
  SeriesView,
  WorkerPage,
  WorkerView,
} from '../schemas/operations.ts'
import { DecisionView, FailureView } from '../schemas/task.ts'

const scopeChange = z.strictObject({
  ...ScopeInput.shape,
  all: z.literal(true).optional(),
  reason: ReasonInput.optional(),
})
const Changed = z.object({ changed: z.boolean() }).meta({ id: 'Changed' })
const changed = (description: string) => ({ 200: { kind: 'json', schema: Changed, description } }) as const

const PolicyVersionView = z
  .object({
    number: z.int(),
    text: z.string().meta({ description: 'As it was written: YAML.' }),
    hash: z.string(),
    by: z.string(),
    at: Moment,
  })
  .meta({ id: 'PolicyVersion' })

const FlagView = z
  .object({
    name: z.string(),
    on: z.boolean(),
    description: z.string(),
    changedBy: z.string().nullable(),
    changedAt: Moment.nullable(),
  })
  .meta({ id: 'Flag' })

const FindingView = z
  .object({
    kind: z.string().meta({ description: 'What does not fit: `queue_entry_missing`, `count`, `lease_extra`, …' }),
    subject: z.looseObject({ kind: z.enum(['task', 'lane', 'limit', 'worker', 'key', 'group', 'store']) }),
    found: z.string(),
    expected: z.string(),
    sentence: z.string(),
    repaired: z.boolean(),
  })
  .meta({ id: 'Finding' })

const SimulationInput = z.strictObject({
  action: ActionNameInput,
  tenant: TenantIdInput.optional(),
  text: z.string().max(200_000).optional().meta({ description: 'Policies to try; those in force if missing.' }),
  failure: z.union([
    z.literal('lost'),
    z.strictObject({
      code: z.string().max(200).optional(),
      status: z.int().optional(),
      message: z.string().max(10_000).optional(),
      name: z.string().max(200).optional(),
    }),
  ]),
  attemptTime: DurationInput.optional(),
  attempts: z.int().min(1).max(1_000).optional(),
})

export const operationRoutes = routeTable({
  counts: {
    method: 'GET',
    path: '/api/v1/counts',
    summary: 'Count tasks by status',
    tag: 'figures',
    access: 'read',
    query: ScopeInput,
    answers: { 200: { kind: 'json', schema: CountsView, description: 'Counters that are kept, not counted.' } },
  },
  series: {
    method: 'GET',
    path: '/api/v1/series',
    summary: 'What happened, minute by minute',
    tag: 'figures',
    access: 'read',
    query: ScopeInput.extend({
      minutes: digitsInput(1, 1_440).optional().meta({ description: 'The last so many; 60 if missing.' }),
    }),
    answers: { 200: { kind: 'json', schema: SeriesView, description: 'Minutes without events are left out.' } },
  },
  monitoring: {
    method: 'GET',
    path: '/api/v1/monitoring',
    summary: 'The monitoring figures, ready made',
    description:
      'Retry rate and its success, reasons, health of workers, queue depth, with warning and critical levels (C10).',
    tag: 'figures',
    access: 'read',
    query: z.object({ window: DurationInput.optional() }),
    answers: {
      200: { kind: 'json', schema: z.looseObject({}).meta({ id: 'Monitoring' }), description: 'The figures.' },
    },
  },
  scaling: {
    method: 'GET',
    path: '/api/v1/scaling',
    summary: 'How many workers each pool would need',
    tag: 'figures',
    access: 'read',
    query: z.object({
      pool: PoolNameInput.optional().meta({ description: 'All pools that workers or lanes name if missing.' }),
      targetWait: DurationInput.optional().meta({
        description: 'How long a task may wait before it starts; 10 s if missing.',
      }),
      slotsPerWorker: digitsInput(1).optional(),
      duration: DurationInput.optional(),
    }),
    answers: { 200: { kind: 'json', schema: ScalingView, description: 'One signal per pool, with its sum.' } },
  },
  listLanes: {
    method: 'GET',
    path: '/api/v1/lanes',
    summary: 'List lanes',
    tag: 'lanes',
    access: 'read',
    query: ScopeInput.extend(PageQuery.shape),
    answers: { 200: { kind: 'json', schema: LanePage, description: 'A page of lanes with their gates.' } },
  },
  pauseLanes: {
    method: 'POST',
    path: '/api/v1/lanes/pause',
    summary: 'Hold lanes',
    tag: 'lanes',
    access: 'operate',
    body: scopeChange,
    answers: changed('They are held, present and future ones.'),
  },
  resumeLanes: {
    method: 'POST',
    path: '/api/v1/lanes/resume',
    summary: 'Let lanes go on',
    tag: 'lanes',
    access: 'operate',
    body: scopeChange,
    answers: changed('False if exactly this scope was not held.'),
  },
  limitLanes: {
    method: 'POST',
    path: '/api/v1/lanes/limit',
    summary: 'Limit how many tasks run at once',
    tag: 'lanes',
    access: 'operate',
    body: scopeChange.extend({ concurrency: z.int().min(0).nullable() }),
    answers: changed('The limit holds; null lifts it.'),
  },
  listBreakers: {
    method: 'GET',
    path: '/api/v1/breakers',
    summary: 'List circuit breakers',
    tag: 'lanes',
    access: 'read',
    query: PageQuery,
    answers: { 200: { kind: 'json', schema: BreakerPage, description: 'Those that are not closed, or saw failures.' } },
  },
  resetBreaker: {
    method: 'POST',
    path: '/api/v1/breakers/{name}/reset',
    summary: 'Close a circuit breaker',
    tag: 'lanes',
    access: 'operate',
    params: z.object({ name: z.string().min(1).max(220) }),
    body: z.strictObject({ reason: ReasonInput.optional() }).optional(),
    answers: changed('False if there is none of this name.'),
  },
  listFailureGroups: {
    method: 'GET',
    path: '/api/v1/failure-groups',
    summary: 'List dead letters by cause',
    tag: 'tasks',
    access: 'read',
    query: PageQuery.extend({ action: ActionNameInput.optional() }),
    answers: { 200: { kind: 'json', schema: FailureGroupPage, description: 'The most recent first.' } },
  },
  listWorkers: {
    method: 'GET',
    path: '/api/v1/workers',
    summary: 'List workers',
    tag: 'workers',
    access: 'read',
    query: PageQuery,
    answers: { 200: { kind: 'json', schema: WorkerPage, description: 'With their health and its reasons.' } },
  },
  getWorker: {
    method: 'GET',
    path: '/api/v1/workers/{id}',
    summary: 'Get a worker',
    tag: 'workers',
    access: 'read',
    params: z.object({ id: WorkerIdInput }),
    answers: { 200: { kind: 'json', schema: WorkerView, description: 'The worker.' } },
    problems: [404],
  },
  drainWorker: {
    method: 'POST',
    path: '/api/v1/workers/{id}/drain',
    summary: 'Have a worker finish what it has and take nothing new',
    tag: 'workers',
    access: 'operate',
    params: z.object({ id: WorkerIdInput }),
    body: z.strictObject({ reason: ReasonInput.optional() }).optional(),
    answers: changed('It is told at its next heartbeat.'),
    problems: [404],
  },
  policies: {
    method: 'GET',
    path: '/api/v1/policies',
    summary: 'The policies in force',
    tag: 'policies',
    access: 'read',
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({ version: PolicyVersionView.nullable(), notes: z.array(z.string()) })
          .meta({ id: 'Policies' }),
        description: 'The newest version; null if there is none.',
      },
    },
  },
  publishPolicies: {
    method: 'PUT',
    path: '/api/v1/policies',
    summary: 'Change the policies',
    description:
      'A new version, in force everywhere within seconds. With `If-Match: "<number>"` only if that is still the newest.',
    tag: 'policies',
    access: 'configure',
    body: z.strictObject({ text: z.string().max(250_000), dryRun: z.boolean().optional() }),
    answers: {
      200: {
        kind: 'json',
        schema: z.object({ version: PolicyVersionView.nullable(), notes: z.array(z.string()) }),
        description: 'The version, or null for a dry run.',
      },
    },
    problems: [409],
  },
  listPolicyVersions: {
    method: 'GET',
    path: '/api/v1/policies/versions',
    summary: 'List all versions of the policies',
    tag: 'policies',
    access: 'read',
    query: PageQuery,
    answers: {
      200: { kind: 'json', schema: pageOf(PolicyVersionView, 'PolicyVersionPage'), description: 'Oldest first.' },
    },
  },
  getPolicyVersion: {
    method: 'GET',
    path: '/api/v1/policies/versions/{number}',
    summary: 'Get one version of the policies',
    tag: 'policies',
    access: 'read',
    params: z.object({ number: digitsInput(1) }),
    answers: { 200: { kind: 'json', schema: PolicyVersionView, description: 'The version.' } },
    problems: [404],
  },
  policyTemplates: {
    method: 'GET',
    path: '/api/v1/policies/templates',
    summary: 'Templates for policies',
    tag: 'policies',
    access: 'read',
    answers: {
      200: {
        kind: 'json',
        schema: z.object({ templates: z.array(z.looseObject({ name: z.string() })) }).meta({ id: 'PolicyTemplates' }),
        description: 'Each with what it sets.',
      },
    },
  },
  simulatePolicies: {
    method: 'POST',
    path: '/api/v1/policies/simulate',
    summary: 'Try policies out on a made-up task',
    tag: 'policies',
    access: 'read',
    body: SimulationInput,
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            attempts: z.array(
              z.object({
                attempt: z.int(),
                startsAtMs: Milliseconds,
                endsAtMs: Milliseconds,
                failure: FailureView,
                decision: DecisionView,
                guards: JsonValue,
              }),
            ),
            notes: z.array(z.string()),
          })
          .meta({ id: 'Simulation' }),
        description: 'What would happen, attempt by attempt.',
      },
    },
  },
  listFlags: {
    method: 'GET',
    path: '/api/v1/flags',
    summary: 'List feature flags',
    tag: 'configuration',
    access: 'read',
    answers: {
      200: {
        kind: 'json',
        schema: z.object({ flags: z.array(FlagView) }).meta({ id: 'Flags' }),
        description: 'All of them.',
      },
    },
  },
  setFlag: {
    method: 'PUT',
    path: '/api/v1/flags/{name}',
    summary: 'Switch a feature on or off',
    tag: 'configuration',
    access: 'configure',
    params: z.object({ name: NameInput }),
    body: z.strictObject({ on: z.boolean(), reason: ReasonInput.optional() }),
    answers: { 200: { kind: 'json', schema: FlagView, description: 'The flag as it is now.' } },
    problems: [404],
  },
  inspect: {
    method: 'POST',
    path: '/api/v1/inspect',
    summary: 'Recount, and find what does not fit',
    description:
      'One bounded step: go on with `cursor` while `next` is not null. Changes nothing unless `repair` is true, which needs the scope `configure`.',
    tag: 'configuration',
    access: 'operate',
    body: z.strictObject({
      repair: z.boolean().optional(),
      limit: z.int().min(1).max(1_000).optional(),
      cursor: z.string().max(2_000).optional(),
      reason: ReasonInput.optional(),
    }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            checked: z.int(),
            findings: z.array(FindingView),
            unchecked: z.array(z.string()).meta({ description: 'What this step could not look at.' }),
            next: z.string().nullable(),
          })
          .meta({ id: 'Inspection' }),
        description: 'What was found.',
      },
    },
  },
})
