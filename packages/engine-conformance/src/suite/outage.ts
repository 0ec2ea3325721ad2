// What the chapters about breakers share: a small breaker, the failures that count for it, and a store in which it is open.

import {
  type ActionName,
  type BreakerSettings,
  type Decision,
  failed,
  type LeaseRef,
  type Outage,
  type ParkDecision,
  type SettleResult,
  succeeded,
} from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, failure, retryIn, type Store, type TestWorker } from './fixture.ts'

/** Two failures open it for 5 s, then 10 s, then 15 s; one probe, then two at once, then it is closed. */
export const SMALL: BreakerSettings = {
  windowMs: 10_000,
  minFailures: 2,
  failureRate: 0.5,
  openMs: 5_000,
  maxOpenMs: 15_000,
  probes: 1,
  maxRamp: 4,
}

export const BREAKER = 'action:render'

export const PARK: ParkDecision = {
  kind: 'park',
  reason: 'connection',
  rule: 'code:connection',
  sentence: 'Back to the queue until it is over.',
}

export interface OutageInput {
  readonly breakers?: readonly string[]
  readonly settings?: Partial<BreakerSettings>
  readonly decision?: Decision
}

export function outageOf({ breakers = [BREAKER], settings = {} }: OutageInput = {}): Outage {
  return { breakers: breakers.map((name) => ({ name, settings: { ...SMALL, ...settings } })), park: PARK }
}

/** The attempt fails in a way that looks like an outage. */
export async function failing(store: Store, ref: LeaseRef, input: OutageInput = {}): Promise<SettleResult | undefined> {
  const decision = input.decision ?? retryIn(1_000, 'connection')
  const guards = { outage: outageOf(input) }
  return (await store.engine.settle([failed(ref, failure('connection', 'Refused.'), decision, guards)]))[0]
}

export async function succeeding(store: Store, ...refs: readonly LeaseRef[]): Promise<void> {
  const results = await store.engine.settle(refs.map((ref) => succeeded(ref, null)))
  expect(results.map(({ outcome }) => outcome)).toEqual(refs.map(() => 'settled'))
}

/** Opens the breaker with two tasks of its own, `first` (charged, and waiting) and `second` (parked). */
export async function trip(
  store: Store,
  worker: TestWorker,
  input: OutageInput & { readonly action?: ActionName } = {},
): Promise<void> {
  const { action = ACTION } = input
  const decision = input.decision ?? retryIn(3_600_000, 'connection')
  await store.submit({ id: 'first', action }, { id: 'second', action })
  for (const lease of (await worker.claim(2, { actions: [action] })).claimed) {
    await failing(store, lease, { ...input, decision })
  }
}

export const statusOf = async (store: Store, name = BREAKER): Promise<string> =>
  (await store.engine.breakers()).items.find((breaker) => breaker.name === name)?.state.status ?? 'none'
