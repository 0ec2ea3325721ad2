// What the thread that vouches means for the leases of a worker, seen from the event loop that it stood in for.

import { silentLogger, systemClock, type Voucher, workerId } from '@reprise/core'
import { expect, onTestFinished, test } from 'vitest'
import { Vouched } from '../src/vouching/vouching.ts'

const LEASE_MS = 3_000

/** Tells how often it was asked, and always finds a lease to renew. */
function counting(): { readonly voucher: Voucher; readonly asked: Int32Array } {
  const asked = new Int32Array(new SharedArrayBuffer(4))
  const program = `const asked = new Int32Array(data)
    return {
      async vouch() { Atomics.add(asked, 0, 1); Atomics.notify(asked, 0); return { renewed: 1 } },
      close() {},
    }`
  return { voucher: { program, data: asked.buffer } as unknown as Voucher, asked }
}

function blockedWorker() {
  const { voucher, asked } = counting()
  const worker = workerId('blocked')
  const vouched = new Vouched({ worker, leaseMs: LEASE_MS, voucher, log: silentLogger, onBlock: () => {} })
  onTestFinished(() => vouched.stop())
  vouched.join()
  vouched.as(1)
  /** Holds the event loop, which has not turned since the thread was started, until it has been vouched for twice, so that what the first vouch did is written. */
  const block = (): void => {
    for (let seen = 0; seen < 2; seen = Atomics.load(asked, 0)) {
      // Nothing else could end a test that blocks.
      if (Atomics.wait(asked, 0, seen, 10_000) === 'timed-out') throw new Error('Nobody vouched for it.')
    }
  }
  return { vouched, block }
}

test('a lease that is vouched for from the first turn on ends later, and one that had ended before does not come back', () => {
  const { vouched, block } = blockedWorker()
  const began = systemClock.monotonic()
  expect(vouched.leaseEnd(began + LEASE_MS)).toBe(began + LEASE_MS)
  block()
  expect(vouched.leaseEnd(began + LEASE_MS)).toBeGreaterThan(began + LEASE_MS)
  expect(vouched.leaseEnd(began - 1)).toBe(began - 1)
})
