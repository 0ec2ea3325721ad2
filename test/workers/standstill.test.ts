// Processes that stand still, that die right after an effect, and that are asked to end while a handler does not listen: what
// their handlers learn before an effect, and what the next attempt can know of it. Real processes, on each engine.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { ENGINES, processStage, startProcess } from './process-stage.ts'

const RUN_MS_MAX = 60_000

async function setUp(on: (typeof ENGINES)[number]) {
  const { address, file, written: effects, ...stage } = await processStage(on)
  const worker = () => {
    const child = startProcess('effect-worker.ts', [address, file])
    child.stderr?.pipe(process.stderr)
    const begun = Promise.withResolvers<void>()
    if (child.stdout !== null) createInterface(child.stdout).on('line', () => begun.resolve())
    return { child, begun: begun.promise, exited: once(child, 'exit') }
  }
  return { ...stage, worker, effects }
}

test.each(
  ENGINES.flatMap((engine) => (['while it waits', 'before it waits'] as const).map((when) => [when, engine] as const)),
)(
  'C7: a handler that stands still %s sees by its signal, its clock and the store that its lease is over, on %s',
  async (when, on) => {
    const { engine, client, worker, effects, sweep } = await setUp(on)
    const task = await client.submit('careful', when)
    const stopped = worker()
    await stopped.begun
    await sweep({})
    // The next attempt waits: no worker is there for it.
    for (;;) {
      const execution = await engine.execution(task.id, 1)
      if (execution?.status === 'lost') break
      await engine.wait({ tasks: [task.id] }, 100)
    }
    stopped.child.kill('SIGCONT')
    await task.result({ timeout: '30s' })
    const [first, second] = effects()
    expect(first).toBe('attempt 1 {"aborted":true,"leaseMsLeft":0,"stillMine":false}')
    expect(second).toMatch(/^attempt 2 \{"aborted":false,"leaseMsLeft":[1-9]\d*,"stillMine":true\}$/)
  },
  RUN_MS_MAX,
)

test.each(ENGINES)(
  'fault 2: a process that dies after the effect and before it is settled: the next attempt has the same retry token, on %s',
  async (on) => {
    const { engine, client, worker, effects, sweep } = await setUp(on)
    const task = await client.submit('short-lived', null)
    expect(await worker().exited).toEqual([null, 'SIGKILL'])
    await sweep({})
    worker()
    await task.result({ timeout: '40s' })
    const { items } = await engine.executions(task.id)
    expect(items.map(({ status }) => status)).toEqual(['lost', 'succeeded'])
    const { retryToken } = (await engine.task(task.id)) ?? {}
    expect(effects()).toEqual([1, 2].map((attempt) => `attempt ${attempt} with ${retryToken}`))
  },
  RUN_MS_MAX,
)

test.each(ENGINES)(
  'a process that is asked to end is gone at the end of its grace time, and a handler that does not listen has no effect, on %s',
  async (on) => {
    const { client, worker, effects } = await setUp(on)
    const task = await client.submit('deaf', null)
    const { child, begun, exited } = worker()
    await begun
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    expect(effects()).toEqual([])
    expect(await task.get()).toMatchObject({ attempt: 0, state: { status: 'queued' } })
  },
  RUN_MS_MAX,
)
