import { exerciseAgainstModel } from '@reprise/engine-conformance'
import { openRedisEngine } from '@reprise/engine-redis'
import { startCluster } from '@reprise/test-servers'
import { afterAll } from 'vitest'

const cluster = await startCluster()
let stores = 0

afterAll(() => cluster.stop())

exerciseAgainstModel(
  {
    name: 'redis on a cluster',
    open: (options) => openRedisEngine({ url: cluster.urls, prefix: `{store-${stores++}}`, ...options }),
  },
  { sequences: 100, long: 2_000 },
)
