// Handlers that kill their worker: what becomes of the tasks beside them. Real processes.

import { expect, onTestFinished, test } from 'vitest'
import { harmfulStage, RUN_MS_MAX, WAYS } from './harmful-stage.ts'

test.each(WAYS)(
  'fault 19: a task that kills its worker each time is found out alone; none of those beside it is called a crash loop, on %s by way of %s',
  async (...way) => {
    const { client, worker, begun } = await harmfulStage(way)
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
