// Handlers that block the event loop of their worker, that kill it, and that never return: what becomes of the tasks beside them.
// Real processes, on each engine, beside the store and over HTTP.

import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { serverOn } from '../outages/product/served.ts'
import { ENGINES, processStage, startProcess } from './process-stage.ts'

const RUN_MS_MAX = 120_000

/** Which engine, and how the worker gets to it. */
const WAYS = ENGINES.flatMap((engine) => (['its store', 'a server'] as const).map((by) => [engine, by] as const))

async function setUp([on, by]: (typeof WAYS)[number]) {
  const { address, engine, client, file, written, sweep } = await processStage(on)
  await sweep({ intervalMs: 100 })
  const server = by === 'a server' ? await serverOn(engine) : null
  const worker = async (concurrency = 8) => {
    const args = [server?.url ?? address, file, String(concurrency)]
    const child = startProcess('blocking-worker.ts', args, { TOKEN: server?.token ?? '' })
    const ready = Promise.withResolvers<void>()
    const lines: { readonly level: string; readonly message: string }[] = []
    const errors: string[] = []
    if (child.stdout !== null) {
      createInterface(child.stdout).on('line', (line) => {
        lines.push(JSON.parse(line) as { readonly level: string; readonly message: string })
        ready.resolve()
      })
    }
    if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => void errors.push(line))
    child.once('exit', () => ready.resolve())
    await ready.promise
    return { child, lines, errors }
  }
  /** How often each task began, by id. */
  const begun = (): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (const line of written()) {
      const [id = ''] = line.split(' ')
      counts[id] = (counts[id] ?? 0) + 1
    }
    return counts
  }
  return { engine, client, worker, begun }
}

test.each(WAYS)(
  'fault 16: a handler that blocks the event loop for three leases costs nobody an attempt, and is named, on %s by way of %s',
  async (...way) => {
    const { engine, client, worker, begun } = await setUp(way)
    // Before it blocks: afterwards it could not say that it is ready.
    const { lines } = await worker()
    const neighbours = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => client.submit('peaceful', 800, { id: `calm-${n}` })),
    )
    const culprit = await client.submit('blocking', 7_000, { id: 'culprit' })
    const outlooks = new Set<string>()
    await expect
      .poll(
        async () => {
          for (const { outlook } of (await engine.workers()).items) if (outlook !== null) outlooks.add(outlook)
          return (await culprit.get())?.state.status
        },
        { timeout: 60_000 },
      )
      .toBe('succeeded')
    for (const task of neighbours) await task.result({ timeout: '30s' })
    expect(begun()).toEqual({ culprit: 1, 'calm-1': 1, 'calm-2': 1, 'calm-3': 1, 'calm-4': 1, 'calm-5': 1 })
    expect([...outlooks].join('\n')).toMatch(
      /claims nothing: its event loop has been blocked for .* by blocking \(task culprit\), at spin/,
    )
    await expect
      .poll(() => lines.map(({ message }) => message).join('\n'))
      .toMatch(/^blocking \(task culprit\) blocked the event loop for /m)
    // It works on, and nothing is held against it.
    await expect.poll(async () => (await engine.workers()).items[0]?.health.status, { timeout: 30_000 }).toBe('healthy')
  },
  RUN_MS_MAX,
)

test.each(WAYS)(
  'an endless loop is a time-out of its own task; what ran beside it goes to another worker, on %s by way of %s',
  async (...way) => {
    const { engine, client, worker } = await setUp(way)
    // The worker publishes the time-out of its action, which the submission takes.
    const { errors } = await worker()
    const calm = await client.submit('peaceful', 1_000, { id: 'calm' })
    const endless = await client.submit('endless', null, { id: 'endless' })
    await expect.poll(async () => (await endless.get())?.state.status, { timeout: 60_000 }).toBe('dead')
    expect(await engine.execution(endless.id, 1)).toMatchObject({ status: 'failed', failure: { reason: 'timeout' } })
    await worker()
    await calm.result({ timeout: '60s' })
    await expect
      .poll(() => errors.join('\n'), { timeout: 30_000 })
      .toMatch(/blocked for .* by endless \(task endless\).* Restart this process/)
  },
  RUN_MS_MAX,
)

test.each(WAYS)(
  'fault 19: a task that kills its worker each time is found out alone; none of those beside it is called a crash loop, on %s by way of %s',
  async (...way) => {
    const { client, worker, begun } = await setUp(way)
    let current = await worker()
    const deadly = await client.submit('deadly', null, { id: 'deadly' })
    const calm = await Promise.all([1, 2, 3, 4, 5].map((n) => client.submit('peaceful', 600, { id: `calm-${n}` })))
    const watch = { isOver: false }
    const restart = (): void => {
      current.child.once('exit', () => {
        if (watch.isOver) return
        void worker().then((next) => {
          current = next
          restart()
        })
      })
    }
    restart()
    onTestFinished(() => {
      watch.isOver = true
    })
    await expect.poll(async () => (await deadly.get())?.state.status, { timeout: 90_000 }).toBe('dead')
    expect(await deadly.get()).toMatchObject({ state: { reason: 'crash_loop' } })
    const ends = await Promise.all(calm.map((task) => task.result({ timeout: '60s' }).then(() => 'succeeded', String)))
    expect(ends).toEqual(calm.map(() => 'succeeded'))
    expect(begun().deadly).toBe(4)
  },
  RUN_MS_MAX,
)

test.each(WAYS)(
  'C5: a worker that claims nothing more, because its handlers never return, says so everywhere, on %s by way of %s',
  async (...way) => {
    const { engine, client, worker } = await setUp(way)
    const { lines } = await worker(1)
    const tasks = await client.submitMany('stuck', Array<null>(12).fill(null))
    const endpoint = /http\S+/.exec(lines.map(({ message }) => message).join(' '))?.[0] ?? ''
    expect((await fetch(endpoint)).status).toBe(200)
    const trouble = '10 handlers run on though their attempts have ended; restart it'
    await expect
      .poll(async () => (await fetch(endpoint)).json(), { timeout: 60_000 })
      .toMatchObject({ state: 'running', trouble })
    expect((await fetch(endpoint)).status).toBe(503)
    const [known] = (await engine.workers()).items
    const words = `claims nothing: ${trouble}`
    const reasons = expect.arrayContaining([words]) as readonly string[]
    await expect
      .poll(() => client.getWorker({ id: known?.worker ?? '' }), { timeout: 30_000 })
      .toMatchObject({ health: { status: 'unhealthy', reasons } })
    expect(await client.explainTask({ id: tasks[11]?.id ?? '' })).toMatchObject({
      workers: [{ verdict: 'unhealthy', reasons }],
    })
  },
  RUN_MS_MAX,
)
