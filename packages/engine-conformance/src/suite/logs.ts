// What handlers wrote down: brought with renewals, replaced as a whole, kept of the last attempts, bounded.

import { type AttemptLog, LOG_BYTES_MAX, LOG_LINES_MAX, leaseToken, taskId } from '@reprise/core'
import { LOG_ATTEMPTS_MAX } from '@reprise/core/engine'
import { expect } from 'vitest'
import { BY, expectRefused, failure, ids, LEASE_MS, retryIn, START, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const log = (...texts: string[]): AttemptLog => ({
  lines: texts.map((text, index) => ({ at: START + index, level: 'info', text })),
  dropped: 0,
})
const logsOf = (store: Store, id = 'a') => store.engine.logs(taskId(id))

export const logs = subject('logs', (check) => {
  check('a renewal brings the log of its attempt, and one without a log keeps it', async (store) => {
    const lease = await store.running({ id: 'a' })
    expect(await logsOf(store)).toEqual([])
    await store.engine.renew([{ ...lease, progress: null, log: log('begun ✓', 'a\nb') }], LEASE_MS)
    await store.engine.renew([{ ...lease, progress: null }], LEASE_MS)
    expect(await logsOf(store)).toEqual([{ attempt: 1, ...log('begun ✓', 'a\nb') }])
    const more = { ...log('half'), dropped: 2 }
    await store.engine.renew([{ ...lease, progress: null, log: more }], LEASE_MS)
    expect(await logsOf(store)).toEqual([{ attempt: 1, ...more }])
  })

  check('a log outlives its attempt, and only the holder of the lease writes it', async (store) => {
    const lease = await store.running({ id: 'a' })
    const stranger = { ...lease, token: leaseToken('made-up'), progress: null, log: log('forged') }
    await store.engine.renew([stranger, { ...lease, progress: null, log: log('mine') }], LEASE_MS)
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    await store.engine.renew([{ ...lease, progress: null, log: log('late') }], LEASE_MS)
    expect(await logsOf(store)).toEqual([{ attempt: 1, ...log('mine') }])
    expect(await logsOf(store, 'nobody')).toEqual([])
  })

  check('each attempt has its own; those of the last attempts are kept', async (store) => {
    await store.submit({ id: 'a' })
    const worker = await store.worker()
    const attempts = LOG_ATTEMPTS_MAX + 3
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const lease = await worker.claimOne()
      // Of one attempt in the middle there is nothing to tell.
      const told = attempt === 5 ? {} : { log: log(`attempt ${attempt}`) }
      await store.engine.renew([{ ...lease, progress: null, ...told }], LEASE_MS)
      await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: retryIn(0) }])
    }
    const kept = Array.from({ length: LOG_ATTEMPTS_MAX }, (_, index) => index + 4)
    const found = (await logsOf(store)).map(({ attempt }) => attempt)
    expect(found).toEqual(kept.filter((attempt) => attempt !== 5))
  })

  check('an attempt that was released leaves no log to the next of its number', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.renew([{ ...lease, progress: null, log: log('begun') }], LEASE_MS)
    await store.engine.settle([{ kind: 'released', ref: lease, reason: 'stopping' }])
    expect(await logsOf(store)).toEqual([])
  })

  check('logs go with their task', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.engine.renew([{ ...lease, progress: null, log: log('begun') }], LEASE_MS)
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    expect(await logsOf(store)).toHaveLength(1)
    store.clock.jump(1_000)
    await store.engine.retain({ cancelledMs: 1_000 })
    await store.submit({ id: 'a' })
    expect(await logsOf(store)).toEqual([])
  })

  check('a log beyond the bounds is refused, and changes nothing', async (store) => {
    const lease = await store.running({ id: 'a' })
    const many = log(...Array.from({ length: LOG_LINES_MAX + 1 }, () => 'x'))
    const long = log('x'.repeat(LOG_BYTES_MAX))
    for (const wrong of [many, long]) {
      const renewal = store.engine.renew([{ ...lease, progress: { fraction: 1, note: null }, log: wrong }], LEASE_MS)
      await expectRefused(renewal, 'REPRISE_INVALID')
    }
    expect(await logsOf(store)).toEqual([])
    expect((await store.task('a')).state).toMatchObject({ progress: null })
  })
})
