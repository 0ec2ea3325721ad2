// Orchestrators that take from a queue, killed by SIGKILL at every step and at any moment, while some messages come twice: every
// task ends once, none is lost, and the queue is empty (A2, A3, A15; faults 3, 4). `npm run test:queues` does it with 20,000
// messages and ten kills on each engine.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Platform, servePlatform } from './platform.ts'
import { type EngineKind, message, openStore, startQueue, type TestQueue, type TestStore, until } from './setting.ts'
import { twiceOf } from './twice.ts'

const isLong = process.env.REPRISE_QUEUES === '1'
/** Between receiving and reserving, launching, noting, and removing. */
const FAILPOINTS = ['received', 'reserved', 'launched', 'noted', 'taken', 'removed'] as const

const SMALL = {
  sqlite: { messages: 200, kills: 6, atOnce: 6 },
  redis: { messages: 100, kills: 3, atOnce: 3 },
} satisfies Record<EngineKind, object>
const LARGE = { messages: 20_000, kills: 10, atOnce: 3 }

interface Running {
  readonly process: ChildProcess
  readonly isDead: Promise<NodeJS.Signals | null>
}

for (const kind of ['sqlite', 'redis'] as const) {
  const plan = isLong ? LARGE : SMALL[kind]
  const { messages, kills } = plan
  test(`A2, A3, A15: ${messages} messages on ${kind}, one in 20 twice, ${kills} kills: each task ends once, the queue is empty`, async () => {
    const [store, sqs, platform] = [await openStore(kind), await startQueue({ maxReceives: 100 }), new Platform()]
    const served = await servePlatform(platform)
    onTestFinished(() => served.close())
    for (let n = 0; n < messages; n++) sqs.send(message(`t${n}`))
    const began = performance.now()
    const killed = await killing(store, sqs, served.url, plan)
    const { engine } = store
    expect(killed).toBe(kills)
    expect(await engine.counts()).toMatchObject({ accepted: messages, succeeded: messages })
    expect(platform.ran.filter((run) => !run.endsWith(':1'))).toEqual([])
    expect(platform.ran).toHaveLength(messages)
    expect(new Set(platform.ran).size).toBe(messages)
    expect(sqs.left()).toBe(0)
    expect(sqs.dead()).toEqual([])
    const seconds = ((performance.now() - began) / 1_000).toFixed(0)
    const words = `${messages} messages, ${twiceOf(messages)} of them twice, ${killed} kills: ${platform.ran.length} runs`
    if (isLong) process.stdout.write(`${kind}: ${words}, ${seconds} s\n`)
  }, 1_800_000)
}

/** Some at a time; each that dies is replaced. Comes back when everything has ended, with how many were killed. */
async function killing(
  { engine, address }: TestStore,
  sqs: TestQueue,
  platform: string,
  { messages, kills, atOnce }: { readonly messages: number; readonly kills: number; readonly atOnce: number },
): Promise<number> {
  let begun = 0
  const next = (): Promise<Running> => {
    const failpoint = FAILPOINTS[begun % FAILPOINTS.length] ?? 'received'
    // The last ones live, and so do those that are killed from outside.
    const dies = begun < Math.min(kills, FAILPOINTS.length)
    begun++
    return start([address, sqs.url, sqs.server.address, platform, ...(dies ? [failpoint, '1'] : [])])
  }
  const running = await Promise.all(Array.from({ length: atOnce }, next))
  let killed = 0
  const share = messages / (kills + 2)
  while (killed < kills) {
    const dead = Promise.race(running.map(async ({ isDead }, index) => ({ index, signal: await isDead })))
    // Those that come to no failpoint are killed when their share is done.
    const target = atOnce === kills ? messages : share * (killed + 1)
    const done = until(async () => (await engine.counts()).succeeded >= target)
    const which = await Promise.race([dead, done.then(() => null)])
    const index = which?.index ?? 0
    running[index]?.process.kill('SIGKILL')
    expect(await running[index]?.isDead).toBe('SIGKILL')
    running.splice(index, 1)
    killed++
    if (begun < kills || running.length === 0) running.push(await next())
  }
  await until(async () => (await engine.counts()).succeeded === messages && sqs.left() === 0)
  await Promise.all(
    running.map(({ process: child, isDead }) => {
      child.kill('SIGTERM')
      return isDead
    }),
  )
  return killed
}

async function start(argv: readonly string[]): Promise<Running> {
  const script = join(import.meta.dirname, 'processes', 'queue-orchestrator.ts')
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', script, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const isDead = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), isDead])
  return { process: child, isDead }
}
