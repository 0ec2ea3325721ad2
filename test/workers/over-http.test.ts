// createWorker({ url, token }): the worker of the SDK, without the store; with a server on each engine.

import { randomUUID } from 'node:crypto'
import { type Client, createClient } from '@reprise/client'
import { type Engine, type Fetch, type Logger, openFlags, poolName, silentLogger, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { ROLES } from '@reprise/operations'
import { createDispatch, probeOnce } from '@reprise/orchestrator'
import { openPolicies, type Policies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import {
  type AnyAction,
  createWorker,
  defineAction,
  PermanentError,
  TransientError,
  type WorkerOptions,
} from '@reprise/worker'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

interface Setup {
  readonly engine: Engine
  readonly client: Client
  /** The server's. */
  readonly policies: Policies
  readonly start: (actions: readonly AnyAction[], options?: Partial<WorkerOptions>) => ReturnType<typeof createWorker>
}

let redis: Promise<RedisServer> | null = null
afterAll(async () => (await redis)?.stop())

const ENGINES: Readonly<Record<string, () => Promise<Engine>>> = {
  sqlite: () => openSqliteEngine({ path: ':memory:' }),
  redis: async () => {
    redis ??= startRedis()
    return openRedisEngine({ url: (await redis).url, prefix: randomUUID() })
  },
}

async function setUpOn(open: () => Promise<Engine>): Promise<Setup> {
  const engine = await open()
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const server = await createServer({ engine, policies, flags, version: '0.0.0-test', maxRetries: 1, port: 0 })
  await server.start()
  onTestFinished(() => server.stop())
  const scopes = new Set([...ROLES.admin, ...ROLES.worker])
  const { token } = await server.access.tokens.create(
    { name: 'worker', scopes: ROLES.worker, tenants: null },
    { kind: 'user', actor: 'test:admin', name: 'admin', scopes, tenants: null },
  )
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const url = server.url()
  const start: Setup['start'] = async (actions, options = {}) => {
    const worker = await createWorker({ url, token, id: 'w1', log: silentLogger, ...options, actions })
    onTestFinished(() => worker.stop({ grace: 0 }))
    return worker
  }
  return { engine, client, policies, start }
}

describe.each(Object.entries(ENGINES))('a worker over HTTP, on %s', (_, open) => {
  const setUp = (): Promise<Setup> => setUpOn(open)

  test('C9: answers probes where it serves its health', async () => {
    const { engine, start } = await setUp()
    const { endpoint } = await start([defineAction({ name: 'idle', run: () => null })], { health: {} })
    expect(await engine.worker(workerId('w1'))).toMatchObject({ endpoint, outlook: null })
    const options = { engine, log: silentLogger }
    expect(await probeOnce(options, new AbortController().signal)).toMatchObject([{ worker: 'w1', ok: true }])
  })

  test('runs what was there before and what comes later, with results, labels and log lines', async () => {
    const { client, start } = await setUp()
    const echo = defineAction({
      name: 'echo',
      run(input: { readonly n: number }, { log, labels, attempt }) {
        log.info('echoing', { n: input.n })
        return { n: input.n, labels, attempt }
      },
    })
    const before = await client.submitMany(echo, [{ n: 1 }, { n: 2 }, { n: 3 }])
    const worker = await start([echo], { concurrency: 2 })
    expect(await Promise.all(before.map((task) => task.result()))).toEqual(
      [1, 2, 3].map((n) => ({ n, labels: {}, attempt: 1 })),
    )
    const later = await client.submit(echo, { n: 4 }, { labels: { customer: 'c1' } })
    expect(await later.result()).toEqual({ n: 4, labels: { customer: 'c1' }, attempt: 1 })
    expect((await client.taskLogs({ id: later.id })).items).toMatchObject([{ lines: [{ text: 'echoing n=4' }] }])
    expect(await client.getWorker({ id: 'w1' })).toMatchObject({
      actions: ['echo'],
      concurrency: 2,
      policyVersion: null,
    })
    await worker.stop()
    expect(worker.stats()).toMatchObject({ state: 'stopped', succeeded: 4, failed: 0 })
    expect((await client.listWorkers()).items).toEqual([])
  })

  test('failures are judged by the server: by the word of the handler, and by the policies', async () => {
    const { client, policies, start } = await setUp()
    const text = `
policies:
  - name: patient
    retries: 5
    backoff: { kind: fixed, delay: 1h }
rules:
  - name: strange
    when: { code: E_STRANGE }
    then: { reason: transient }
`
    await policies.publish(text, 'test')
    const failing = defineAction({
      name: 'failing',
      run(how: 'permanent' | 'transient' | 'strange' | 'unknown') {
        if (how === 'permanent') throw new PermanentError('never')
        if (how === 'transient') throw new TransientError('again')
        throw Object.assign(new Error(how), how === 'strange' ? { code: 'E_STRANGE' } : {})
      },
    })
    const tasks = await client.submitMany(failing, ['permanent', 'transient', 'strange', 'unknown'])
    const settled = Promise.withResolvers<void>()
    let count = 0
    await start([failing], { onSettled: () => (++count === 4 ? settled.resolve() : undefined) })
    await settled.promise
    const states = await Promise.all(tasks.map(({ id }) => client.getTask({ id })))
    expect(states.map(({ state }) => state.status)).toEqual(['dead', 'waiting', 'waiting', 'dead'])
    const [attempt] = (await client.listExecutions({ id: tasks[2]?.id ?? '' })).items
    expect(attempt).toMatchObject({ errorCode: 'E_STRANGE', decision: { policy: { name: 'patient', version: 1 } } })
  })

  test('16: a failure is the same as on the store: its group, its rule, its fields, and what the log says', async () => {
    const { client, engine, start } = await setUp()
    const thrown: Readonly<Record<string, unknown>> = {
      plain: new Error('Order 17 has no customer.'),
      bug: new TypeError('x is not a function'),
      words: new Error('connection reset by peer'),
      transient: new TransientError('again'),
      status: Object.assign(new Error('Billing refused.'), { status: 503 }),
      'code and status': Object.assign(new Error('Billing refused.'), { code: 'UPSTREAM', status: 503 }),
      fields: Object.assign(new Error('Refused.'), { orderId: 5, request: { secret: 's' } }),
      text: 'only a text',
    }
    const failing = defineAction({
      name: 'failing',
      retry: { max: 1, backoff: { kind: 'fixed', delay: 1, jitter: 0 } },
      run(how: string) {
        throw thrown[how]
      },
    })
    const failuresOf = async (starting: (log: Logger) => ReturnType<typeof createWorker>) => {
      const lines: string[] = []
      const note = (line: string): void => void lines.push(line)
      const worker = await starting({ ...silentLogger, info: note, warn: note })
      const failures = []
      for (const how of Object.keys(thrown)) {
        const task = await client.submit(failing, how)
        await expect(task.result()).rejects.toThrow('ended as dead')
        const { items } = await client.listExecutions({ id: task.id })
        failures.push(items.map(({ failure, decision }) => [how, { ...failure, stack: null }, decision?.sentence]))
      }
      await worker.stop()
      return { failures, lines: lines.filter((line) => line.startsWith('failing ')) }
    }
    const overHttp = await failuresOf((log) => start([failing], { log }))
    const onStore = await failuresOf((log) => createWorker({ engine, actions: [failing], id: 'w2', log }))
    expect(overHttp).toEqual(onStore)
    expect(overHttp.lines).toContainEqual(expect.stringContaining('The one automatic retry is used up.'))
  })

  test('a cancel reaches the handler', async () => {
    const { client, start } = await setUp()
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<unknown>()
    const endless = defineAction({
      name: 'endless',
      run(_: null, { signal }) {
        signal.addEventListener('abort', () => stopped.resolve(signal.reason))
        started.resolve()
        return new Promise<never>(() => {})
      },
    })
    await start([endless])
    const task = await client.submit(endless, null)
    await started.promise
    await task.cancel()
    expect(String(await stopped.promise)).toContain('(cancelled)')
  })

  test('a stop gives back what runs, and what it had claimed and not begun', async () => {
    const { client, start } = await setUp()
    const started = Promise.withResolvers<void>()
    const endless = defineAction({
      name: 'endless',
      run() {
        started.resolve()
        return new Promise<never>(() => {})
      },
    })
    const worker = await start([endless], { concurrency: 1 })
    const task = await client.submit(endless, null)
    await started.promise
    await worker.stop({ grace: 0 })
    expect(await client.getTask({ id: task.id })).toMatchObject({ attempt: 0, losses: 0, state: { status: 'queued' } })
  })

  test('a newer worker of the same id ends it', async () => {
    const { client, engine, start } = await setUp()
    const echo = defineAction({ name: 'echo', run: (input: string) => input })
    const errors: unknown[] = []
    const worker = await start([echo], { heartbeat: '100ms', onError: (error) => errors.push(error) })
    const view = await client.getWorker({ id: 'w1' })
    await engine.register(view)
    await worker.drained
    expect(errors).toContainEqual(expect.objectContaining({ code: 'REPRISE_WORKER_FENCED' }))
  })

  test('a settlement that does not get through is brought again', async () => {
    const { client, start } = await setUp()
    let failures = 0
    const flaky: Fetch = async (url, init) => {
      if (url.endsWith('/settlements') && failures++ < 2) return new Response('<html>', { status: 502 })
      return fetch(url, init)
    }
    const echo = defineAction({ name: 'echo', run: (input: string) => input })
    await start([echo], { fetch: flaky })
    expect(await (await client.submit(echo, 'hello')).result()).toBe('hello')
    expect(failures).toBe(3)
  })

  test('with directed pools alone it runs what a dispatcher assigns to it', async () => {
    const { client, engine, start } = await setUp()
    const echo = defineAction({ name: 'echo', pool: 'directed', run: (input: string) => input })
    await start([echo], { directedPools: ['directed'] })
    const dispatch = createDispatch({ engine, pools: [poolName('directed')] })
    await dispatch.start()
    onTestFinished(() => dispatch.stop())
    expect(await (await client.submit(echo, 'hello')).result()).toBe('hello')
  })

  test('tasks that are submitted by name get the settings of its actions', async () => {
    const { client, start } = await setUp()
    const careful = defineAction({
      name: 'careful',
      pool: 'slow',
      timeout: '7m',
      retry: { max: 4, backoff: { kind: 'fixed', delay: '5s' } },
      queueTtl: '1h',
      sla: '1d',
      uses: ['stripe'],
      retryQuota: { window: '1m', limit: 30 },
      onLost: 'hold',
      pack: 'billing',
      notify: true,
      run: () => null,
    })
    await start([careful])
    const { id } = await client.submit('careful')
    const task = await client.getTask({ id })
    expect(task).toMatchObject({ pool: 'slow', settings: careful.settings })
  })
})

describe('options of a worker over HTTP', () => {
  test.each<[Partial<WorkerOptions>, string]>([
    [{}, 'either an engine or the url'],
    [{ url: 'http://127.0.0.1:1', engine: 'sqlite::memory:' }, 'either an engine or the url'],
    [{ url: 'http://127.0.0.1:1', sweep: true }, 'option sweep needs an engine'],
    [{ engine: 'sqlite::memory:', token: 'x' }, 'option token is for a worker with the url'],
    [{ url: 'http://u:p@127.0.0.1:1' }, 'must not contain a name or password'],
  ])('%j is refused', async (options, message) => {
    const echo = defineAction({ name: 'echo', run: (input: string) => input })
    await expect(createWorker({ ...options, actions: [echo] })).rejects.toThrow(message)
  })
})
