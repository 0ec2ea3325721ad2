// What a caller who is limited to tenant B can learn about tenant A: nothing. A has a canary in everything it can name, and so has
// the platform where it speaks of all tenants. B calls every line of the route table, with names of its own, with A's names, and
// with names that nothing has: the canary never appears, and A's names are answered as names that nothing has. On both engines.

import { DEFAULT_SETTINGS } from '@reprise/core'
import { ROUTES, type Route } from '@reprise/operations'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Answered, type Api, STORES } from './fixture.ts'
import { B, CANARY, type Names, NONE, seeded } from './two-tenants.ts'

/** The path of a line, with these names. */
function pathOf(route: Route, names: Names): string {
  const [, section = ''] = /^\/(?:api\/v1\/)?([\w-]+)/.exec(route.path) ?? []
  const ids: Readonly<Record<string, string>> = {
    tasks: names.task,
    executions: names.task,
    'task-payload': names.task,
    dashboard: names.task,
    workers: names.worker,
    tokens: names.token,
    webhooks: names.webhook,
    notes: names.note,
  }
  const values: Readonly<Record<string, string>> = {
    id: ids[section] ?? 'x',
    taskId: names.task,
    fingerprint: names.fingerprint,
    attempt: '1',
    number: '1',
    delivery: names.delivery,
    name: section === 'breakers' ? names.breaker : 'dlq-inspector',
    code: 'x',
  }
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? 'x'))
}

/** Queries to try: none, and each thing that one can name. */
const queriesOf = (names: Names): readonly Readonly<Record<string, string>>[] => [
  {},
  { limit: '1' },
  { q: `id:${names.task}` },
  { q: `tenant:${names.tenant}` },
  { q: `fingerprint:${names.fingerprint}` },
  { q: `worker:${names.worker}` },
  { q: `action:${names.action}` },
  { q: 'label:*=*' },
  { task: names.task },
  { task: names.task, newest: 'true', limit: '1' },
  { tenant: names.tenant },
  { action: names.action },
  { pool: names.pool },
]

const failedEvent = (names: Names, fields: object) => ({
  specversion: '1.0',
  id: 'e1',
  source: 's',
  type: 'task.execution.failed',
  data: { errorCode: 'X', retryable: false, idempotencyKey: 'k', taskId: names.task, ...fields },
})

/** Bodies to try, by line. A line that needs one, and does not stand here, fails the test. */
const BODIES: Readonly<Record<string, (names: Names) => readonly object[]>> = {
  submitTask: (names) => [
    { action: names.action },
    { action: 'render', tenant: names.tenant },
    { action: 'render', dedupeKey: `${names.tokenName}-key` },
    { action: 'render', preferredWorker: names.worker },
  ],
  retryInternally: (names) => [
    { taskId: names.task },
    { taskId: names.task, policy: names.policy },
    { taskId: 'b-dead', policy: names.policy },
  ],
  retryExecution: (names) => [{}, { policy: names.policy }],
  registerWorker: (names) => [{ worker: names.worker, pools: [names.pool] }],
  publishActions: (names) => [{ actions: [{ name: names.action, pool: names.pool, settings: DEFAULT_SETTINGS }] }],
  beat: () => [{ epoch: 1 }],
  vouch: () => [{ epoch: 1 }],
  claim: (names) => [{ worker: names.worker, epoch: 1, pools: [names.pool], waitMs: 0 }],
  renew: (names) => [{ leases: [{ taskId: names.task, attempt: 1, token: 'x'.repeat(60) }] }],
  settle: (names) => [
    { settlements: [{ taskId: names.task, attempt: 1, token: 'x'.repeat(60), outcome: 'succeeded' }] },
  ],
  receiveEvents: (names) => [failedEvent(names, {}), failedEvent(names, { attempt: 1, token: 't' })],
  receiveEventsAlias: (names) => [failedEvent(names, { tenant: names.tenant, action: 'render' })],
  cancelTask: () => [{}],
  cancelTasks: (names) => [
    { ids: [names.task] },
    { fingerprint: names.fingerprint },
    { action: names.action },
    { tenant: names.tenant },
  ],
  redriveTasks: (names) => [{ ids: [names.task] }, { tenant: names.tenant }],
  discardTasks: (names) => [{ ids: [names.task] }, { tenant: names.tenant }],
  promoteTasks: (names) => [{ ids: [names.task] }, { tenant: names.tenant }],
  createRedrive: (names) => [
    { ids: [names.task], reason: 'x' },
    { fingerprint: names.fingerprint, reason: 'x' },
    { q: `action:${names.action}`, reason: 'x' },
    { tenant: names.tenant, reason: 'x' },
  ],
  collectRedrive: () => [{}],
  startRedrive: () => [{ reason: 'x' }],
  pauseRedrive: () => [{ reason: 'x' }],
  resumeRedrive: () => [{ reason: 'x' }],
  abortRedrive: () => [{ reason: 'x' }],
  undoRedrive: () => [{ reason: 'x' }],
  restoreTasks: (names) => [{ ids: [names.task] }, { q: `action:${names.action}` }],
  importTasks: (names) => [
    { tasks: [{ snapshot: { id: names.task, action: names.action }, state: { status: 'dead' } }] },
  ],
  addNote: (names) => [
    { task: names.task, text: 'x' },
    { fingerprint: names.fingerprint, text: 'x' },
  ],
  publishRunbook: () => [{ text: 'x' }],
  startRunbook: () => [{ reason: 'x' }],
  answerRunbookRun: () => [{ answer: 'yes' }],
  commentWorkOrder: () => [{ text: 'x' }],
  closeWorkOrder: () => [{ result: 'x' }],
  notifyTenants: () => [{ fingerprint: '0123456789abcdef', message: 'x' }],
  reportWorkOrder: () => [{ system: 'x', status: 'closed' }],
  createSilence: () => [{ matches: { rule: '*' }, for: '1h', reason: 'x' }],
  putAlertRule: () => [{ metric: 'retry_rate' }],
  createChannel: () => [{ name: 'x', kind: 'tenants' }],
  endSilence: () => [{}],
  testChannel: () => [{}],
  mergeFailureGroups: (names) => [{ from: [names.fingerprint] }],
  ignoreFailureGroup: () => [{ count: 1 }],
  pauseLanes: (names) => [{ tenant: names.tenant }, { pool: names.pool, tenant: names.tenant }],
  resumeLanes: (names) => [{ tenant: names.tenant }, {}],
  limitLanes: (names) => [{ tenant: names.tenant, concurrency: 1 }],
  resetBreaker: () => [{}],
  drainWorker: () => [{}],
  publishPolicies: () => [{ text: 'policies: []' }],
  simulatePolicies: (names) => [
    { action: 'render', failure: { code: 'X' } },
    { action: 'render', failure: { code: 'X' }, tenant: names.tenant },
    { action: names.action, failure: 'lost' },
  ],
  setFlag: () => [{ on: false }],
  inspect: () => [{}],
  createToken: (names) => [
    { name: names.tokenName, role: 'viewer' },
    { name: 'y', role: 'viewer', tenants: [names.tenant] },
  ],
  createWebhook: (names) => [
    { url: 'http://127.0.0.1:9/', tenant: B },
    { url: 'http://127.0.0.1:9/', tenant: names.tenant },
    { url: 'http://10.1.2.3/', tenant: B },
  ],
  updateWebhook: () => [{ url: 'http://127.0.0.1:9/' }],
  redeliver: () => [{}],
  testWebhook: () => [{}],
  startJob: (names) => [
    { action: names.action, range: { to: 1 } },
    { action: 'render', range: { to: 1 }, tenant: names.tenant },
    { action: 'render', id: names.task, range: { to: 1 } },
  ],
  handOverChunks: () => [{ from: 0, payloads: [1] }],
  retryFromDashboard: () => [{}],
  // Lines of submissions, which are as submitTask has them.
  submitTasks: () => [],
}

interface Request {
  readonly path: string
  readonly body?: object
}

function requestsOf(name: string, route: Route, names: Names): readonly Request[] {
  const path = pathOf(route, names)
  if (route.method === 'GET' || route.method === 'DELETE') {
    const known = route.query instanceof z.ZodObject ? Object.keys(route.query.shape) : []
    const queries = queriesOf(names).filter((query) => Object.keys(query).every((field) => known.includes(field)))
    return queries.map((query) => ({ path: `${path}?${new URLSearchParams(query).toString()}` }))
  }
  const bodies = BODIES[name] ?? (route.body?.safeParse({}).success === true ? () => [{}] : undefined)
  if (bodies === undefined) throw new Error(`Say which bodies to try on ${name}.`)
  return bodies(names).map((body) => ({ path, body }))
}

/** Tested below, or open to everybody, or known by a lease's credential, which has tests of its own. */
const ELSEWHERE = new Set([
  'streamEvents',
  'metrics',
  'openapi',
  'home',
  'signIn',
  'signInCallback',
  'showLink',
  'redeemLink',
  'signOut',
  'taskComplete',
  'taskHeartbeat',
  'payload',
])
const LINES = Object.entries(ROUTES).filter(([name]) => !ELSEWHERE.has(name))

const sent = (api: Api, token: string, route: Route, { path, body }: Request): Promise<Answered> =>
  api.send(route.method, path, {
    token,
    ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
    headers: { 'content-type': route.consumes ?? 'application/json' },
  })

/** The answer, with one name for what either request was about, and without what differs from call to call. */
function comparable({ status, text }: Answered, both: readonly Names[]): string {
  const names = both
    .flatMap((each) => Object.entries(each) as [kind: string, name: string][])
    .sort(([, one], [, other]) => other.length - one.length)
  let plain = text
  // An attempt is named as its task, and a number.
  for (const [kind, name] of names) {
    plain = plain.replaceAll(name, `<${kind}>`).replaceAll(name.replace(/:1$/, ''), `<${kind}>`)
  }
  return `${status} ${plain
    .replaceAll(/"(?:instance|requestId|id|token|secret|cursor|next|fingerprint)":"[^"]*"/g, '"…"')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{13}|\d{4}-\d\d-\d\dT[\d:.]+Z|rpr_\w+/g, '…')}`
}

describe.each(STORES)('tenant B, on $name,', (store) => {
  test('intruder 14: learns nothing by asking for what is its own, on every line', async () => {
    const { api, theirs, token } = await seeded(store)
    const own: Names = {
      ...NONE,
      task: 'b-dead',
      action: 'render',
      pool: 'default',
      tenant: B,
      fingerprint: theirs.fingerprint,
    }
    for (const task of ['b-dead', 'b-runs', 'b-queued']) {
      for (const [name, route] of LINES) {
        if (name === 'cancelTask' || name === 'cancelTasks') continue
        for (const request of requestsOf(name, route, { ...own, task })) {
          const { text } = await sent(api, token, route, request)
          expect([name, request, text.includes(CANARY) ? text : '']).toEqual([name, request, ''])
        }
      }
    }
  })

  test('intruder 7: gets for A\u2019s names what it gets for names of nothing, on every line', async () => {
    const { api, theirs, token } = await seeded(store)
    for (const [name, route] of LINES) {
      const nothing = requestsOf(name, route, NONE)
      for (const [at, request] of requestsOf(name, route, theirs).entries()) {
        const [first, second] = [request, nothing[at] ?? request]
        const forTheirs = comparable(await sent(api, token, route, first), [theirs, NONE])
        const forNothing = comparable(await sent(api, token, route, second), [theirs, NONE])
        expect([name, first, forTheirs]).toEqual([name, first, forNothing])
      }
    }
  })

  test('intruder 7: submits under an id of A\u2019s as under one that is free', async () => {
    const { api, theirs, token } = await seeded(store)
    const submitted = async (id: string): Promise<string> =>
      comparable(await api.post('/api/v1/tasks', { action: 'render', id }, { token }), [theirs, NONE])
    expect(await submitted(theirs.task)).toBe(await submitted(NONE.task))
  })

  test('intruder 14: is not told what the metrics say of all', async () => {
    const { api, token } = await seeded(store)
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    const answered = await api.get('/metrics', { token, headers })
    expect(answered.status).toBe(403)
    expect((await api.get('/metrics', { headers })).text).toContain('reprise')
  })

  test('intruder 14: hears nothing of others on the live stream, nor who its workers are', async () => {
    const { api, token } = await seeded(store)
    const gone = new AbortController()
    const url = `${api.url}/api/v1/events/stream?cursor=0`
    const { body } = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: gone.signal })
    let heard = ''
    for await (const chunk of (body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
      heard += chunk
      if (heard.includes('"subject":"b-dead"')) break
    }
    gone.abort()
    expect(heard).toContain('"actor":"worker"')
    expect(heard).not.toContain(CANARY)
  })
})
