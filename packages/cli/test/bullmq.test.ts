// The jobs of a real BullMQ queue, taken over by the command line (B13): twice, and with nothing lost or doubled.

import { connectEngine } from '@reprise/connect'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { Queue, Worker } from 'bullmq'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Shell, shell } from './shell.ts'

const FAILED = 1_000
const ATTEMPTS = 2

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
  await fill()
}, 120_000)
afterAll(() => redis.stop())

interface Mail {
  readonly number: number
  readonly to: string
}

/** A thousand jobs that fail for three reasons, each twice; then some that wait, and some that are not due yet. */
async function fill(): Promise<void> {
  const connection = { host: '127.0.0.1', port: redis.port }
  const queue = new Queue<Mail>('mail', { connection })
  const job = (number: number, name: string) => ({ name, data: { number, to: `user${number}@example.com` } })
  const opts = { attempts: ATTEMPTS }
  await queue.addBulk(Array.from({ length: FAILED }, (_, number) => ({ ...job(number, 'send'), opts })))
  const worker = new Worker<Mail>(
    'mail',
    ({ data: { number } }) => {
      if (number % 3 === 0) throw new TypeError('no address:\n  the user is gone')
      throw new Error(number % 3 === 1 ? 'mailbox full' : 'greylisted')
    },
    { connection, concurrency: 50 },
  )
  let failed = 0
  await new Promise<void>((done) => {
    worker.on('failed', () => {
      if (++failed === FAILED * ATTEMPTS) done()
    })
  })
  await worker.close()
  await queue.addBulk([job(-1, 'send'), job(-2, 'send')])
  await queue.add('send', { number: -3, to: 'later' }, { delay: 3_600_000 })
  await queue.add('send', { number: -4, to: 'least' }, { priority: 100 })
  await queue.close()
}

/** What Redis has of the queue, to see that nothing changes there. */
async function fingerprintOfQueue(): Promise<unknown> {
  const queue = new Queue('mail', { connection: { host: '127.0.0.1', port: redis.port } })
  const [counts, jobs] = [await queue.getJobCounts(), await queue.getFailed(0, -1)]
  await queue.close()
  return { counts, jobs: jobs.map((job) => JSON.stringify(job.toJSON())).toSorted() }
}

interface Line {
  readonly snapshot: { readonly id: string; readonly action: string; readonly payload: Mail; readonly labels: object }
  readonly state: { readonly status: string; readonly at: number; readonly dueAt?: number }
  readonly attempts: readonly {
    readonly attempt: number
    readonly resolvedAt: number
    readonly failure: { readonly message: string; readonly name: string; readonly stack: string }
  }[]
}

async function stored({ reprise }: Shell, query: string): Promise<ReadonlyMap<string, Line>> {
  const { stdout } = await reprise('export', '--raw', query)
  const lines = stdout.split('\n').slice(0, -1)
  return new Map(lines.map((line) => JSON.parse(line) as Line).map((line) => [line.snapshot.id, line]))
}

/** A shell whose store is there: commands of operators make none. */
async function withStore(address: string, files: Readonly<Record<string, string>> = {}): Promise<Shell> {
  const at = shell({ env: { REPRISE_ENGINE: address }, files })
  const connection = await connectEngine(address.replace('./', `${at.folder}/`))
  await connection.close()
  return at
}

describe.each(['sqlite', 'redis'] as const)('on %s', (engine) => {
  const fresh = (): Promise<Shell> => withStore(engine === 'sqlite' ? 'sqlite:./reprise.db' : redis.url)

  test('B13: 1,000 failed jobs imported twice: equal counts, payloads, attempts and stacks, and no duplicates', async () => {
    const at = await fresh()
    const command = ['import', 'bullmq', '--redis', redis.url, '--queue', 'mail'] as const
    const before = await fingerprintOfQueue()
    const dry = await at.reprise(...command, '--dry-run')
    expect(dry).toMatchObject({ exitCode: 0, stdout: 'Of 1000 tasks 1000 would be imported, 0 are there already.\n' })
    expect(await stored(at, 'status:dead')).toHaveProperty('size', 0)
    const first = await at.reprise(...command, '--yes')
    expect(first).toMatchObject({ exitCode: 0, stdout: 'Of 1000 tasks 1000 imported, 0 were there already.\n' })
    const second = await at.reprise(...command, '--yes')
    expect(second).toMatchObject({ exitCode: 0, stdout: 'Of 1000 tasks 0 imported, 1000 were there already.\n' })
    expect(await fingerprintOfQueue()).toEqual(before)

    const tasks = await stored(at, 'status:dead')
    expect(tasks.size).toBe(FAILED)
    const queue = new Queue<Mail>('mail', { connection: { host: '127.0.0.1', port: redis.port } })
    const jobs = await queue.getFailed(0, -1)
    await queue.close()
    expect(jobs).toHaveLength(FAILED)
    for (const job of jobs) {
      const task = tasks.get(`bullmq-mail-${job.id}`)
      expect(task?.snapshot).toMatchObject({ action: 'send', payload: job.data, labels: { bullmq_queue: 'mail' } })
      expect(task?.state.at).toBe(job.finishedOn)
      expect(task?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2])
      expect(task?.attempts.map(({ failure }) => failure.stack)).toEqual(job.stacktrace)
      expect(task?.attempts.at(-1)?.failure.message).toBe(job.failedReason)
    }
    const groups = JSON.parse((await at.reprise('groups', '-o', 'json')).stdout) as readonly {
      readonly count: number
    }[]
    expect(groups.map(({ count }) => count).toSorted()).toEqual([333, 333, 334])
  })

  test('waiting and delayed jobs become tasks that go on, under the action and tenant that were asked for', async () => {
    const at = await fresh()
    const command = [
      'import',
      'bullmq',
      '--redis',
      redis.url,
      '--queue',
      'mail',
      '--states',
      'waiting,delayed',
    ] as const
    const ran = await at.reprise(...command, '--action', 'mail.send', '--tenant', 'acme', '--yes', '-o', 'json')
    expect(JSON.parse(ran.stdout)).toMatchObject({ read: 4, accepted: 4, refused: 0 })
    const tasks = [...(await stored(at, 'action:mail.send tenant:acme')).values()]
    const byNumber = new Map(tasks.map((task) => [task.snapshot.payload.number, task]))
    expect([...byNumber.keys()].toSorted()).toEqual([-1, -2, -3, -4])
    expect(byNumber.get(-1)?.state.status).toBe('queued')
    expect(byNumber.get(-4)?.snapshot).toMatchObject({ priority: 2 })
    const dueIn = (byNumber.get(-3)?.state.dueAt ?? 0) - Date.now()
    expect(dueIn).toBeGreaterThan(3_000_000)
    expect(dueIn).toBeLessThanOrEqual(3_600_000)
  })
})

test('a queue that is not there, and a Redis that does not answer, are said', async () => {
  const at = await withStore('sqlite:./reprise.db')
  const other = await at.reprise('import', 'bullmq', '--redis', redis.url, '--queue', 'male')
  expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("no BullMQ queue 'male'") as string })
  const nobody = await at.reprise('import', 'bullmq', '--redis', 'redis://127.0.0.1:1', '--queue', 'mail')
  expect(nobody.stderr).toContain('does not answer')
  expect(nobody.exitCode).not.toBe(0)
})

test('lines of a file: what is wrong is named by its number, and the rest is taken in', async () => {
  const good = (id: string) =>
    `{"snapshot":{"id":"${id}","action":"mail"},"state":{"status":"dead"},"attempts":[{"failure":{"message":"refused"}}]}`
  const at = await withStore('sqlite:./reprise.db', {
    'old.ndjson': [good('a'), '', '{"snapshot":', good('b'), '{"state":{}}'].join('\n'),
  })
  const ran = await at.reprise('import', 'old.ndjson', '--reason', 'moved')
  expect(ran.exitCode).toBe(5)
  expect(ran.stdout).toMatch(/^Of 4 tasks 2 imported, 0 were there already, 2 refused\.\n {2}line 3: It is not JSON/)
  expect(ran.stdout).toContain('line 5: snapshot')
  const again = await at.reprise('import', 'old.ndjson', '-o', 'jsonl')
  const outcomes = again.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as object)
  expect(outcomes).toMatchObject([
    { place: 'line 1', outcome: 'duplicate', id: 'a' },
    { place: 'line 3', outcome: 'refused' },
    { place: 'line 4', outcome: 'duplicate' },
    { place: 'line 5', outcome: 'refused' },
  ])
  expect((await at.reprise('import', 'nowhere.ndjson')).exitCode).toBe(2)
})
