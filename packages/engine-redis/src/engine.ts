// Opens the Redis engine: connects, checks the server and the store, and puts the verbs together.

import { randomUUID } from 'node:crypto'
import {
  type Clock,
  DEFAULT_HEALTH_THRESHOLDS,
  type Engine,
  type HealthThresholds,
  InvalidError,
  type Random,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { openLink } from './link/link.ts'
import { Partition, type PartitionSettings, requestIds } from './partition.ts'
import { partitionEngine } from './partition-engine.ts'
import { moveOldKeys } from './partitioned/key-upgrade.ts'
import { partitionedEngine } from './partitioned/partitioned-engine.ts'
import { Partitions } from './partitioned/partitions.ts'
import {
  checkServer,
  openStore,
  PARTITIONS_MAX,
  partitionPrefixes,
  raiseLayout,
  reviewServers,
  type WantedDurability,
} from './store.ts'
import { redisVoucher } from './vouch.ts'
import { Wake } from './wake.ts'

export interface RedisEngineOptions {
  /** 'redis://host:6379', 'rediss://user:password@host:6380/2'; several for a cluster, any of its nodes. */
  readonly url: string | readonly string[]
  /** What all keys start with; 'reprise' if not given. A task's key is '<prefix>:<task id>'. */
  readonly prefix?: string
  /** `false` refuses a prefix without a store, with `REPRISE_STORE_MISSING`; true if not given. */
  readonly create?: boolean
  /** Slots that tasks are spread over, fixed when the store is created; what the store has, or 1, if not given. */
  readonly partitions?: number
  /** `durable` refuses a server without an append-only file; `fast` (the default) takes the persistence it finds. */
  readonly durability?: WantedDurability
  /** The store's time, for tests; the server's own clock if not given. */
  readonly clock?: Clock
  readonly random?: Random
  /** Queued and waiting tasks together; more are refused. */
  readonly maxBacklog?: number
  readonly healthThresholds?: HealthThresholds
  /** How long a call is repeated while the server can't be reached, before it is refused; 10 s if not given. */
  readonly patienceMs?: number
  /** How long one command may take before its connection is given up; 5 s if not given. */
  readonly commandTimeoutMs?: number
}

export const DEFAULT_PREFIX = 'reprise'
const DEFAULT_BACKLOG_MAX = 10_000_000

export async function openRedisEngine(options: RedisEngineOptions): Promise<Engine> {
  const { prefix = DEFAULT_PREFIX, durability = 'fast', clock, random = systemRandom } = options
  const asked = options.partitions ?? null
  if (asked !== null && (!Number.isInteger(asked) || asked < 1 || asked > PARTITIONS_MAX)) {
    throw new InvalidError(`A store has between 1 and ${PARTITIONS_MAX} partitions, not ${asked}.`)
  }
  const { patienceMs, commandTimeoutMs } = options
  const link = await openLink({
    url: options.url,
    clock: systemClock,
    random,
    ...(patienceMs === undefined ? {} : { patienceMs }),
    ...(commandTimeoutMs === undefined ? {} : { commandTimeoutMs }),
  })
  try {
    const checks = await checkServer(link, `${prefix}/store`, durability)
    const { partitions, isOlder } = await openStore(link, prefix, {
      partitions: asked,
      creates: options.create !== false,
    })
    const [only = prefix, ...others] = partitionPrefixes(prefix, partitions)
    const thresholds = options.healthThresholds ?? DEFAULT_HEALTH_THRESHOLDS
    const drawRequestId = requestIds()
    const at = (place: number): PartitionSettings => {
      return { position: { place, places: partitions }, thresholds, drawRequestId }
    }
    // They may live on other servers than the one that was looked at.
    if (link.isCluster) for (const other of others) await checkServer(link, `${other}/numbers`, durability)
    const partition = new Partition(link, only, clock ?? null, at(0))
    const store = new Partitions(
      partition,
      others.map((other, index) => new Partition(link, other, clock ?? null, at(index + 1))),
    )
    if (isOlder) {
      await moveOldKeys(store)
      await raiseLayout(link, prefix)
    }
    await Promise.all(store.all.map((one) => one.open()))
    const wake = new Wake(store.all, randomUUID(), clock ?? systemClock, (id) => store.placeOf(id))
    await wake.open()
    const parts = {
      wake,
      info: { kind: 'redis', ...checks, callsAtOnce: 2, lacks: [] },
      // Only on a cluster the partitions may live on different servers.
      durability: () =>
        reviewServers(
          link,
          [only, ...(link.isCluster ? others : [])].map((one) => `${one}/numbers`),
        ),
      maxBacklog: options.maxBacklog ?? DEFAULT_BACKLOG_MAX,
      voucher: () => redisVoucher({ urls: [options.url].flat(), partitions: store.all, clock: clock ?? null }),
      close: () => link.close(),
    }
    return store.size === 1 ? partitionEngine({ partition, ...parts }) : partitionedEngine({ store, ...parts })
  } catch (error) {
    await link.close()
    throw error
  }
}
