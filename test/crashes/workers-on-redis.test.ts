// Workers killed by SIGKILL under load lose nothing and settle nothing twice: on Redis.

import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { killWorkersUnderLoad } from './processes/kill-workers.ts'

const KILLS = 10

test(`A15, fault 5: ${KILLS} kills on Redis: nothing is lost, nothing is settled twice`, async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const engine = await openRedisEngine({ url: server.url })
  onTestFinished(() => engine.close())
  // Every kill hit running work.
  expect(await killWorkersUnderLoad(engine, server.url, KILLS)).toBeGreaterThanOrEqual(KILLS)
}, 900_000)
