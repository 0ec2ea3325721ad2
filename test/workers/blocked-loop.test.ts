// Handlers that block the event loop of their worker for a while: what becomes of the tasks beside them. Real processes.

import { expect, test } from 'vitest'
import { harmfulStage, RUN_MS_MAX, WAYS } from './harmful-stage.ts'

test.each(WAYS)(
  'fault 16: a handler that blocks the event loop for three leases costs nobody an attempt, and is named, on %s by way of %s',
  async (...way) => {
    const { engine, client, worker, begun } = await harmfulStage(way)
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
