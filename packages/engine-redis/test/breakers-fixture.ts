// What the tests of breakers and quotas in Redis share: a store with one worker, and failures that a breaker counts.

import {
  actionName,
  type BreakerSettings,
  type Claimed,
  type ClaimRequest,
  type Engine,
  type Failure,
  failed,
  observedFailure,
  type Settlement,
  systemClock,
  systemRandom,
  VirtualClock,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { onTestFinished } from 'vitest'
import { openLink } from '../src/link/link.ts'
import { Partition } from '../src/partition.ts'
import { registered } from './partitions-fixture.ts'

export const START = 1_893_456_000_000
export const NAME = 'dependency:printer'
/** The first failure opens it; the first probe that succeeds closes it. */
export const SETTINGS: BreakerSettings = {
  windowMs: 10_000,
  minFailures: 1,
  failureRate: 0.5,
  openMs: 5_000,
  maxOpenMs: 60_000,
  probes: 1,
  maxRamp: 2,
}
export const REFUSED: Failure = observedFailure('connection', 'Refused.', actionName('render'))
let stores = 0

/** A prefix that no other store has. */
export const freshPrefix = (): string => `breakers-${stores++}`

export interface Fixture {
  readonly clock: VirtualClock
  readonly engine: Engine
  readonly request: (limit?: number) => ClaimRequest
  readonly raw: Partition
}

/** A new store on this server, with a worker. */
export async function openedOn(url: string, partitions = 1): Promise<Fixture> {
  const clock = new VirtualClock(START)
  const prefix = freshPrefix()
  const engine = await openRedisEngine({ url, prefix, clock, partitions })
  const link = await openLink({ url, clock: systemClock, random: systemRandom })
  onTestFinished(async () => {
    await Promise.all([engine.close(), link.close()])
  })
  return { clock, engine, request: await registered(engine, 'w1'), raw: new Partition(link, prefix, clock) }
}

export const outageOf = (settings: Partial<BreakerSettings> = {}) => ({
  breakers: [{ name: NAME, settings: { ...SETTINGS, ...settings } }],
  park: { kind: 'park', reason: 'connection', rule: 'r', sentence: 'Back to the queue.' } as const,
})

export function failing(lease: Claimed, settings?: Partial<BreakerSettings>): Settlement {
  const decision = { kind: 'retry', delayMs: 0, reason: 'connection', rule: 'r', sentence: 'Again.' } as const
  return failed(lease, REFUSED, decision, { outage: outageOf(settings) })
}
