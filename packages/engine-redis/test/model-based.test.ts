import { exerciseAgainstModel } from '@reprise/engine-conformance'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll } from 'vitest'

const server = await startRedis()
let stores = 0

afterAll(() => server.stop())

exerciseAgainstModel(
  {
    name: 'redis',
    open: (options) => openRedisEngine({ url: server.url, prefix: `store-${stores++}`, ...options }),
  },
  { sequences: 300, long: 20_000 },
)
