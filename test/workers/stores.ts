// Two openings of one store, as a worker and an operator in two processes have it, on each engine. Time stands still unless a
// test moves it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, VirtualClock } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { startRedis } from '@reprise/test-servers'
import { afterAll, onTestFinished } from 'vitest'

const redis = await startRedis()
let stores = 0
afterAll(() => redis.stop())

export const STORES = ['sqlite', 'redis', 'redis in 3 partitions'] as const

/** The openings share a virtual clock. */
export async function twoOpenings(kind: (typeof STORES)[number]) {
  const clock = new VirtualClock()
  const open = opener(kind, clock)
  const engines: [Engine, Engine] = [await open(), await open()]
  onTestFinished(async () => {
    for (const engine of engines) await engine.close()
  })
  const [here, there] = engines
  return { clock, here, there }
}

function opener(kind: (typeof STORES)[number], clock: VirtualClock): () => Promise<Engine> {
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-workers-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return () => openSqliteEngine({ path: join(folder, 'store.db'), clock })
  }
  const prefix = `workers-${stores++}`
  const partitions = kind === 'redis' ? 1 : 3
  return () => openRedisEngine({ url: redis.url, prefix, partitions, clock })
}
