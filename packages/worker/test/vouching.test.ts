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

async function blockedWorker() {
  const { voucher, asked } = counting()
  const worker = workerId('blocked')
  const vouched = new Vouched({ worker, leaseMs: LEASE_MS, voucher, log: silentLogger, onBlock: () => {} })
  onTestFinished(() => vouched.stop())
  await vouched.join()
  vouched.as(1)
  // The thread hears of it by a message.
  await new Promise((resolve) => setImmediate(resolve))
  /** Holds the event loop until it has been vouched for twice, so that what the first vouch did is written. */
  const block = (): void => {
    for (let seen = 0; seen < 2; seen = Atomics.load(asked, 0)) Atomics.wait(asked, 0, seen, 10_000)
  }
  return { vouched, block }
}

test('a lease that is vouched for ends later, and one that had ended before does not come back', async () => {
  const { vouched, block } = await blockedWorker()
  const began = systemClock.monotonic()
  expect(vouched.leaseEnd(began + LEASE_MS)).toBe(began + LEASE_MS)
  block()
  expect(vouched.leaseEnd(began + LEASE_MS)).toBeGreaterThan(began + LEASE_MS)
  expect(vouched.leaseEnd(began - 1)).toBe(began - 1)
})
