// Ephemeral workers as real processes, in TypeScript and in Python, against a real server on each engine: started by a
// launcher, and started by the test with the same environment.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Client, createClient, TaskFailedError } from '@reprise/client'
import { type Engine, openFlags, poolName, type TaskId, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createProcessLauncher } from '@reprise/launchers'
import { createOrchestrator, openLeaseCredentials } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer, type Server } from '@reprise/server'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

let redis: Promise<RedisServer> | null = null
afterAll(async () => (await redis)?.stop())

const ENGINES = {
  sqlite: () => openSqliteEngine({ path: ':memory:' }),
  redis: async () => {
    redis ??= startRedis()
    return openRedisEngine({ url: (await redis).url, prefix: randomUUID() })
  },
}

const folder = join(import.meta.dirname, 'processes')
const LANGUAGES = {
  TypeScript: [process.execPath, '--conditions=reprise-source', join(folder, 'ephemeral-worker.ts')],
  Python: ['python3', join(folder, 'ephemeral_worker.py')],
}
const POOL = poolName('ephemeral')
const RUN_MS_MAX = 60_000

interface Setup {
  readonly engine: Engine
  readonly client: Client
  readonly server: Server
  readonly url: string
  /** A server on the same store and port, for when the first was stopped. */
  readonly again: () => Promise<Server>
}

async function setUp(open: () => Promise<Engine>): Promise<Setup> {
  const engine = await open()
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const serve = async (port: number): Promise<Server> => {
    const server = await createServer({ engine, policies, flags, version: 'test', maxRetries: 1, port })
    await server.start()
    onTestFinished(() => server.stop())
    return server
  }
  const server = await serve(0)
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const url = server.url()
  return { engine, client, server, url, again: () => serve(Number(new URL(url).port)) }
}

/** One attempt under a lease, as a launch service reserves it, and a process for it. */
async function launched({ engine, client, url }: Setup, argv: readonly string[], job: object, env = {}) {
  const task = await client.submit('job', job, { pool: POOL })
  const worker = workerId(`launcher-${randomUUID()}`)
  const { epoch } = await engine.register({
    worker,
    pools: [POOL],
    actions: null,
    host: 'here',
    version: '1',
    runtimes: [],
    endpoint: null,
  })
  const claim = { worker, epoch, pools: [POOL], actions: null, limit: 1, leaseMs: 60_000, stage: 'launch' } as const
  const [claimed] = (await engine.claim(claim)).claimed
  if (claimed === undefined) throw new Error('Nothing was claimed.')
  const token = (await openLeaseCredentials(engine)).issue(claimed)
  return {
    task,
    token,
    ...started(argv, {
      REPRISE_TASK_ID: task.id,
      REPRISE_ATTEMPT: '1',
      REPRISE_LEASE_TOKEN: token,
      REPRISE_CALLBACK_URL: `${url}/task-complete`,
      ...env,
    }),
  }
}

function started(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const [command = '', ...args] = argv
  const child: ChildProcess = spawn(command, args, { env: { PATH: process.env.PATH, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const runs = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      if (line === 'running') runs.resolve()
    })
  }
  const exited = once(child, 'exit').then(([code]: unknown[]) => ({ code, says: lines.join('\n') }))
  return { child, exited, running: Promise.race([runs.promise, exited]) }
}

const executionOf = ({ engine }: Setup, id: string) => engine.execution(id as TaskId, 1)

test('16: an ephemeral worker reports a status beside a code, and plain fields of the error', async () => {
  const setup = await setUp(ENGINES.sqlite)
  const { exited, task } = await launched(setup, LANGUAGES.TypeScript, { do: 'refused' })
  await exited
  expect((await executionOf(setup, task.id))?.failure).toMatchObject({
    code: 'UPSTREAM',
    reason: 'worker_unavailable',
    rule: 'code:HTTP_503',
    details: '{"orderId":5}',
  })
})

describe.each(Object.entries(LANGUAGES))('an ephemeral worker in %s', (_, argv) => {
  test.each(Object.entries(ENGINES))(
    'A11: that a launcher started fetches its payload, tells how it goes, calls back, and ends when it is cancelled, on %s',
    async (__, open) => {
      const setup = await setUp(open)
      const { engine, client, url } = setup
      const directory = mkdtempSync(join(tmpdir(), 'reprise-ephemeral-'))
      const callbackUrl = `${url}/task-complete`
      const launcher = createProcessLauncher({ directory, commands: { job: { argv } }, callbackUrl, poll: '100ms' })
      const orchestrator = createOrchestrator({ engine, launchPools: [{ pool: POOL, launcher, slots: 3 }] })
      await orchestrator.start()
      onTestFinished(async () => {
        await orchestrator.stop()
        rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
      })
      const jobs = [{ do: 'count', text: 'to be or not' }, { do: 'fail' }, { do: 'wait' }]
      const [good, bad, long] = await client.submitMany('job', jobs, () => ({ pool: POOL }))
      if (good === undefined || bad === undefined || long === undefined) throw new Error('Not submitted.')
      expect(await good.result()).toEqual({ words: 4, attempt: 1, hasToken: true })
      const logOf = async (id: string) => (await client.taskLogs({ id })).items
      expect(await logOf(good.id)).toMatchObject([{ lines: [{ level: 'info', text: 'has begun what=count' }] }])
      await expect(bad.result()).rejects.toThrow(TaskFailedError)
      expect(await executionOf(setup, bad.id)).toMatchObject({ status: 'failed', errorMessage: 'no such page' })
      await vi.waitUntil(async () => (await logOf(long.id)).length > 0, { timeout: RUN_MS_MAX })
      await client.cancelTasks({ ids: [long.id], reason: 'not needed' })
      await expect(long.result()).rejects.toThrow('cancelled')
      // Its process has ended: the launcher has nothing left to look after.
      const runs = () => readdirSync(directory).filter((name) => !name.startsWith('.'))
      await vi.waitUntil(() => runs().length === 0, { timeout: RUN_MS_MAX })
    },
    RUN_MS_MAX,
  )

  test(
    'A11: brings its end when the server is back, and tells by its exit code how it went',
    async () => {
      const setup = await setUp(ENGINES.sqlite)
      const { server, url, client } = setup
      const good = await launched(setup, argv, { do: 'count', text: 'a b' })
      const large = await launched(setup, argv, { do: 'large' })
      const order = {
        REPRISE_TASK_ID: good.task.id,
        REPRISE_ATTEMPT: '1',
        REPRISE_CALLBACK_URL: `${url}/task-complete`,
      }
      const nothing = started(argv, { REPRISE_TASK_ID: 't' })
      const wrong = started(argv, { ...order, REPRISE_LEASE_TOKEN: 'not-this' })
      expect((await good.exited).code).toBe(0)
      expect(await good.task.result()).toMatchObject({ words: 2 })
      expect((await large.exited).code).toBe(1)
      expect(await executionOf(setup, large.task.id)).toMatchObject({
        status: 'failed',
        errorCode: 'REPRISE_TOO_LARGE',
      })
      const { code, says } = await nothing.exited
      expect([code, says]).toEqual([78, expect.stringContaining('launcher of Reprise')])
      expect((await wrong.exited).code).toBe(78)
      // A second worker for an attempt that has ended has nothing to do.
      expect((await started(argv, { ...order, REPRISE_LEASE_TOKEN: good.token }).exited).code).toBe(0)
      await server.stop()
      const impatient = await launched(setup, argv, { do: 'fail' }, { PATIENCE: '1s' })
      expect((await impatient.exited).code).toBe(75)
      const patient = await launched(setup, argv, { do: 'count', text: 'a b c' })
      await setup.again()
      expect((await patient.exited).code).toBe(0)
      expect(await patient.task.result()).toMatchObject({ words: 3 })
      expect(await client.counts()).toMatchObject({ succeeded: 2, running: 1 })
    },
    RUN_MS_MAX,
  )

  test(
    'A11: that is asked to end stops its handler, says so and exits with 143, also if the handler does not listen',
    async () => {
      const setup = await setUp(ENGINES.sqlite)
      const children = [await launched(setup, argv, { do: 'wait' }), await launched(setup, argv, { do: 'stubborn' })]
      for (const { task, child, exited, running } of children) {
        await running
        child.kill('SIGTERM')
        expect((await exited).code).toBe(143)
        expect(await executionOf(setup, task.id)).toMatchObject({ status: 'failed', errorCode: 'SIGNAL_SIGTERM' })
      }
    },
    RUN_MS_MAX,
  )

  test(
    'A11: a handler that stops when it is asked to ends the process at once, however long the grace would be',
    async () => {
      const setup = await setUp(ENGINES.sqlite)
      const begun = () => launched(setup, argv, { do: 'wait' }, { STOP_GRACE: '600s' })
      const [cancelled, interrupted] = [await begun(), await begun()]
      await Promise.all([cancelled.running, interrupted.running])
      await setup.client.cancelTasks({ ids: [cancelled.task.id] })
      expect((await cancelled.exited).code).toBe(0)
      interrupted.child.kill('SIGTERM')
      expect((await interrupted.exited).code).toBe(143)
    },
    RUN_MS_MAX,
  )
})

test('A11: a handler in Python that ends its program has failed, and it says how', async () => {
  const setup = await setUp(ENGINES.sqlite)
  const { exited, task } = await launched(setup, LANGUAGES.Python, { do: 'exit' })
  expect((await exited).code).toBe(1)
  expect((await executionOf(setup, task.id))?.failure).toMatchObject({ message: 'The handler called sys.exit(7).' })
})
