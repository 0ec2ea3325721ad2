// A worker that is told to stop while the store is out of reach: it does not wait for one that does not answer.

import { defineAction } from '@reprise/core'
import { startRedis } from '@reprise/test-servers'
import { createWorker } from '@reprise/worker'
import { expect, test } from 'vitest'

/** How long a call to a store that is gone lasts before it is given up. Stopping makes several. */
const PATIENCE_MS = 10_000

test('an idle worker stops soon though the store is gone', async () => {
  const server = await startRedis()
  const action = defineAction({ name: 'idle', run: () => undefined })
  const worker = await createWorker({ engine: server.url, actions: [action] })
  try {
    await server.kill()
    const startedAt = performance.now()
    await worker.stop()
    expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS)
  } finally {
    await server.stop()
  }
})
