// A store with two tenants, for tests of what one may learn of the other: A has a canary in everything that it can name, and so has
// the platform where it speaks of all tenants.

import {
  actionName,
  DEFAULT_SETTINGS,
  decideFailed,
  describeFailure,
  type Engine,
  encodeJson,
  failed,
  poolName,
  retryToken,
  type TaskSpec,
  taskId,
  tenantId,
  workerId,
} from '@reprise/core'
import { type Caller, SCOPES } from '@reprise/operations'
import { type STORES, startApi } from './fixture.ts'

export const CANARY = 'canary7c1d'
const A = tenantId(`${CANARY}-tenant`)
export const B = tenantId('globex')
const WORKER = workerId(`${CANARY}-worker`)
const BY_A = { actor: `oidc:${CANARY}@a.example`, reason: `${CANARY} reason` }
const EVERYTHING: Omit<Caller, 'tenants'> = {
  kind: 'user',
  actor: BY_A.actor,
  name: CANARY,
  scopes: new Set(SCOPES),
}

/** What a request can name. */
export interface Names {
  readonly task: string
  readonly action: string
  readonly pool: string
  readonly tenant: string
  readonly worker: string
  readonly token: string
  readonly tokenName: string
  readonly webhook: string
  readonly delivery: string
  readonly note: string
  readonly fingerprint: string
  readonly policy: string
  readonly breaker: string
}

/** Of no thing, in the form of those that there are. */
export const NONE: Names = {
  task: 'no-such-task:1',
  action: 'no-such-action',
  pool: 'no-such-pool',
  tenant: 'no-such-tenant',
  worker: 'no-such-worker',
  token: '0123456789abcdef',
  tokenName: 'no-such-name',
  webhook: '00000000-0000-4000-8000-000000000000',
  delivery: '00000000-0000-4000-8000-000000000000.1',
  note: '00000000-0000-4000-8000-000000000001',
  fingerprint: 'f'.repeat(16),
  policy: 'no-such-policy',
  breaker: 'dependency:no-such-thing',
}

const specOf = (tenant: typeof A, over: Partial<TaskSpec>): TaskSpec => ({
  id: taskId('unnamed'),
  action: actionName('render'),
  pool: poolName('default'),
  tenant,
  payload: encodeJson({}, 'payload'),
  labels: {},
  priority: 5,
  settings: DEFAULT_SETTINGS,
  retryToken: retryToken('r'),
  dedupeKey: null,
  deadlineAt: null,
  delayMs: 0,
  dueAt: null,
  deadlineMs: null,
  ...over,
})

/** Tasks of A that have died, one of the same cause as one of B, one that runs, and one that is queued. Gives A's own cause. */
async function seedTasks(engine: Engine): Promise<string> {
  const own = {
    labels: { [CANARY]: CANARY },
    payload: encodeJson({ [CANARY]: CANARY }, 'payload'),
    dedupeKey: `${CANARY}-key`,
    retryToken: retryToken(`${CANARY}-retry`),
  }
  // Its id looks like an attempt of another task.
  await engine.submit([
    specOf(A, { ...own, id: taskId(`${CANARY}-dead:1`) }),
    specOf(A, { ...own, id: taskId(`${CANARY}-shared`), dedupeKey: null }),
    specOf(B, { id: taskId('b-dead') }),
    specOf(A, { id: taskId(`${CANARY}-queued`), action: actionName(CANARY), pool: poolName(`${CANARY}-pool`) }),
  ])
  const pools = [poolName('default')]
  const about = { host: `${CANARY}.internal`, version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker: WORKER, pools, actions: null, ...about })
  const { claimed } = await engine.claim({ worker: WORKER, epoch, pools, actions: null, limit: 3, leaseMs: 600_000 })
  let fingerprint = ''
  for (const one of claimed) {
    const isOwnCause = one.taskId === `${CANARY}-dead:1`
    const message = isOwnCause ? `${CANARY} broke` : `invoice '${one.taskId}' is wrong`
    const failure = describeFailure(new TypeError(message), one.snapshot.action)
    if (isOwnCause) ({ fingerprint } = failure)
    const { settings } = one.snapshot
    const decision = decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 })
    await engine.settle([failed(one, failure, decision)])
  }
  await engine.submit([specOf(A, { id: taskId(`${CANARY}-runs`) }), specOf(B, { id: taskId('b-runs') })])
  await engine.claim({ worker: WORKER, epoch, pools, actions: null, limit: 2, leaseMs: 600_000 })
  await engine.submit([specOf(B, { id: taskId('b-queued') })])
  return fingerprint
}

const POLICIES = `
policies:
  - name: ${CANARY}-policy
    match: { tenants: [${A}] }
    retries: 7
`

/** Everything that A can name, and what the platform says about all tenants. */
export async function seeded(store: (typeof STORES)[number]) {
  const api = await startApi(store, {
    rateLimit: { perSecond: 1e6, burst: 1e6 },
    webhookAllow: ['127.0.0.1'],
  })
  const { engine, server } = api
  const fingerprint = await seedTasks(engine)
  await engine.pause({}, BY_A)
  await engine.pause({ tenant: A }, BY_A)
  await engine.limit({}, 1, BY_A)
  await api.send('PUT', '/api/v1/policies', { body: { text: POLICIES } })
  const platform: Caller = { ...EVERYTHING, tenants: null }
  const ofA: Caller = { ...EVERYTHING, tenants: [A] }
  const { facts } = await server.access.tokens.create({ name: `${CANARY}-token`, scopes: ['read'], tenants: [A] }, ofA)
  await server.access.tokens.create({ name: `${CANARY}-all`, scopes: ['read'], tenants: null }, platform)
  const made = await server.access.tokens.create(
    { name: 'b', scopes: [...SCOPES], tenants: [B] },
    { ...platform, actor: 'x' },
  )
  const post = async (path: string, body: unknown): Promise<never> => (await api.post(path, body)).body
  const { id: note } = (await post('/api/v1/notes', { task: `${CANARY}-dead:1`, text: CANARY })) as { id: string }
  await post('/api/v1/notes', { fingerprint, text: CANARY })
  const { webhook } = (await post('/api/v1/webhooks', {
    url: `http://127.0.0.1:9/${CANARY}`,
    tenant: A,
    description: CANARY,
    enabled: false,
  })) as { webhook: { id: string } }
  const delivery = (await post(`/api/v1/webhooks/${webhook.id}/test`, {})) as { id: string }
  await api.send('PUT', '/api/v1/flags/dlq-inspector', { body: { on: true, reason: CANARY } })
  const theirs: Names = {
    task: `${CANARY}-dead:1`,
    action: CANARY,
    pool: `${CANARY}-pool`,
    tenant: A,
    worker: WORKER,
    token: facts.id,
    tokenName: `${CANARY}-token`,
    webhook: webhook.id,
    delivery: delivery.id,
    note,
    fingerprint,
    policy: `${CANARY}-policy`,
    breaker: `dependency:${CANARY}`,
  }
  return { api, theirs, token: made.token }
}
