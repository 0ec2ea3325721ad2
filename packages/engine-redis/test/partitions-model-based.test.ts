import { exerciseAgainstModel } from '@reprise/engine-conformance'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { afterAll } from 'vitest'
import { PARTITIONS, placeOf } from './partitions-fixture.ts'

const server = await startRedis()
let stores = 0

afterAll(() => server.stop())

exerciseAgainstModel(
  {
    name: `redis with ${PARTITIONS} partitions`,
    open: (options) =>
      openRedisEngine({ url: server.url, prefix: `store-${stores++}`, partitions: PARTITIONS, ...options }),
    placeOf,
  },
  { sequences: 50, long: 5_000 },
)
