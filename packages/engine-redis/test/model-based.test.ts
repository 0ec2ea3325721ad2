import { exerciseAgainstModel } from '@reprise/engine-conformance'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll } from 'vitest'

const isLong = process.env.REPRISE_LONG === '1'
const server = await startRedis()
let stores = 0

afterAll(() => server.stop())

exerciseAgainstModel(
  {
    name: 'redis',
    open: (options) => openRedisEngine({ url: server.url, prefix: `store-${stores++}`, ...options }),
  },
  isLong ? { sequences: 10_000, seed: Date.now() } : { sequences: 300 },
)
