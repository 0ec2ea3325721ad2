// Handlers that never return. Real processes.

import { expect, test } from 'vitest'
import { harmfulStage, RUN_MS_MAX, WAYS } from './harmful-stage.ts'

test.each(WAYS)(
  'C5: a worker that claims nothing more, because its handlers never return, says so everywhere, on %s by way of %s',
  async (...way) => {
    const { engine, client, worker } = await harmfulStage(way)
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
