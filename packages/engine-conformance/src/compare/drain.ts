// Invariant 13: once faults stop, every task reaches an end within lease and longest backoff. All holds and limits are
// lifted, one healthy worker, one sweep and one launcher go on, and time passes. Breakers find out by themselves.

import type { Settlement } from '@reprise/core'
import { launchSettlement, sweepSettlement } from './decisions.ts'
import { InvariantError } from './difference.ts'
import { BY, LONGEST_WAIT_MS, POOLS, WORKERS, workerOf } from './draft.ts'
import type { Observer } from './observer.ts'
import type { Side } from './pair.ts'

const STEP_MS = 10_000

export async function drain({ engine, clock }: Side, observer: Observer): Promise<void> {
  for (const scope of observer.holds.values()) await engine.resume(scope, BY)
  for (const { scope } of observer.limits.values()) await engine.limit(scope, null, BY)
  observer.limits.clear()
  const worker = workerOf(WORKERS)
  const { epoch } = await engine.register({
    worker,
    pools: POOLS,
    actions: null,
    host: '',
    version: '',
    runtimes: [],
    endpoint: null,
  })
  const request = { worker, epoch, pools: POOLS, actions: null, limit: 1_000, leaseMs: STEP_MS }
  const endsAt = clock.now() + LONGEST_WAIT_MS + 2 * STEP_MS
  for (;;) {
    const { overdue, now } = await engine.expired(1_000)
    observer.swept(overdue)
    const swept = overdue.map((item) => sweepSettlement(item, 'lost', now))
    for (const pool of POOLS) {
      const { items } = await engine.launches({ pool, limit: 1_000 })
      swept.push(...items.flatMap((launch) => launchSettlement(launch, now, false)))
    }
    observer.settled(swept, await engine.settle(swept), now)
    // Each success may let more through.
    for (let isMore = true; isMore; ) {
      const { claimed } = await engine.claim(request)
      await observer.claimed(claimed, 'run')
      const done: Settlement[] = claimed.map((ref) => ({ kind: 'succeeded', ref, result: null }))
      observer.settled(done, await engine.settle(done), now)
      isMore = claimed.length > 0
    }
    const { queued, waiting, running } = await engine.counts()
    if (queued + waiting + running === 0) return
    if (now >= endsAt)
      throw new InvariantError(13, `${queued} queued, ${waiting} waiting and ${running} running tasks do not end.`)
    clock.jump(STEP_MS)
  }
}
