// Handlers that block the event loop of their worker for ever. Real processes.

import { expect, test } from 'vitest'
import { harmfulStage, RUN_MS_MAX, WAYS } from './harmful-stage.ts'

test.each(WAYS)(
  'an endless loop is a time-out of its own task; what ran beside it goes to another worker, on %s by way of %s',
  async (...way) => {
    const { engine, client, worker } = await harmfulStage(way)
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
