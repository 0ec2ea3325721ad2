// What a claim gives to which worker: order, fairness across lanes, priorities without starvation, limits, and the lease
// that comes with it. Health has a chapter of its own.

import { actionName, DEFAULT_POOL, DURATION_MS_MAX, tenantId, workerId } from '@reprise/core'
import { scopeMatches, scopeText } from '@reprise/core/engine'
import { expect } from 'vitest'
import { ACTION, BY, expectRefused, LEASE_MS, pool, START, TIMEOUT_MS, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

export const claiming = subject('claim', (check) => {
  check('A1: reserves attempt 1 under a lease and hands over the snapshot', async (store) => {
    const spec = taskSpec({ id: 'a', payload: [1] })
    await store.engine.submit([spec])
    const lease = await (await store.worker('w1')).claimOne()
    const { delayMs: _delay, dueAt: _due, deadlineMs: _deadline, ...snapshot } = spec
    expect(lease).toEqual({
      taskId: 'a',
      attempt: 1,
      token: expect.any(String) as unknown,
      snapshot,
      generation: 1,
      failures: 0,
      losses: 0,
      parks: 0,
      deferrals: 0,
      retryReason: null,
      acceptedAt: START,
      startedAt: START,
      leaseUntil: START + LEASE_MS,
      timeoutAt: START + TIMEOUT_MS,
    })
  })

  check('A1: writes the running execution and the running state in the same step', async (store) => {
    const lease = await store.running({ id: 'a' })
    expect(await store.engine.execution(lease.taskId, 1)).toEqual({
      taskId: 'a',
      attempt: 1,
      generation: 1,
      worker: 'w1',
      build: { version: '1', host: 'here', runtimes: [] },
      token: lease.token,
      dispatchedAt: START,
      retryReason: null,
      taskSnapshot: lease.snapshot,
      status: 'running',
      resolvedAt: null,
      errorCode: null,
      errorMessage: null,
      failure: null,
      decision: null,
    })
    expect(await store.task('a')).toMatchObject({
      attempt: 1,
      state: { status: 'running', attempt: 1, worker: 'w1', token: lease.token, startedAt: START, progress: null },
    })
  })

  check('takes a time-out as long as a duration may be', async (store) => {
    await store.submit(
      { id: 'a', settings: { timeoutMs: DURATION_MS_MAX } },
      { id: 'b', settings: { timeoutMs: DURATION_MS_MAX } },
    )
    const worker = await store.worker()
    for (const taskId of ['a', 'b']) {
      expect(await worker.claimOne()).toMatchObject({ taskId, timeoutAt: START + DURATION_MS_MAX })
    }
  })

  check(
    'gives tasks of one lane in the order of submission',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
      expect(await (await store.worker()).claimIds(2)).toEqual(['a', 'b'])
      expect(await (await store.worker('w2')).claimIds(2)).toEqual(['c'])
    },
    { ordered: true },
  )

  check('gives nothing from an empty queue', async (store) => {
    expect(await (await store.worker()).claim(5)).toEqual({ claimed: [], nextDueAt: null, heldBack: null, now: START })
  })

  check('gives only what the asked pools hold', async (store) => {
    await store.submit({ id: 'a', pool: pool('cpu') }, { id: 'b', pool: pool('gpu') })
    const worker = await store.worker('w1', { pools: [pool('gpu')] })
    expect(await worker.claimIds(5)).toEqual(['b'])
    expect(await worker.claimIds(5, { pools: [pool('cpu'), pool('gpu')] })).toEqual(['a'])
  })

  check('gives only the actions asked for', async (store) => {
    await store.submit({ id: 'a', action: actionName('mail') }, { id: 'b' })
    const worker = await store.worker()
    expect(await worker.claimIds(5, { actions: [ACTION] })).toEqual(['b'])
    expect(await worker.claimIds(5, { actions: [] })).toEqual([])
    expect(await worker.claimIds(5, { actions: null })).toEqual(['a'])
  })

  check(
    'gives higher priorities first',
    async (store) => {
      await store.submit({ id: 'low', priority: 0 }, { id: 'mid' }, { id: 'top', priority: 9 }, { id: 'mid2' })
      expect(await (await store.worker()).claimIds(4)).toEqual(['top', 'mid', 'mid2', 'low'])
    },
    { ordered: true },
  )

  check(
    'gives the oldest at every eighth pick, so that low priorities do not starve',
    async (store) => {
      await store.submit({ id: 'low', priority: 0 })
      await store.submit(...Array.from({ length: 10 }, (_, index) => ({ id: `top${index}`, priority: 9 as const })))
      const taken = await (await store.worker()).claimIds(11)
      expect(taken.indexOf('low')).toBe(7)
    },
    { ordered: true },
  )

  check(
    'shares fairly between lanes, whatever their backlog',
    async (store) => {
      const many = Array.from({ length: 6 }, (_, index) => ({ id: `big${index}`, tenant: tenantId('big') }))
      await store.submit(
        ...many,
        { id: 'small0', tenant: tenantId('small') },
        { id: 'small1', tenant: tenantId('small') },
      )
      const taken = await (await store.worker()).claimIds(6)
      expect(taken).toEqual(['big0', 'small0', 'big1', 'small1', 'big2', 'big3'])
    },
    { ordered: true },
  )

  check(
    'gives a lane that comes late no credit for its absence',
    async (store) => {
      const worker = await store.worker()
      await store.submit(...Array.from({ length: 8 }, (_, index) => ({ id: `old${index}`, tenant: tenantId('old') })))
      await worker.claimIds(4)
      await store.submit(...Array.from({ length: 4 }, (_, index) => ({ id: `new${index}`, tenant: tenantId('new') })))
      // Four turns of 'old' are behind; 'new' starts level with the last of them, not four turns ahead.
      expect(await worker.claimIds(5)).toEqual(['new0', 'old4', 'new1', 'old5', 'new2'])
    },
    { ordered: true },
  )

  check(
    'gives a lane no credit for the time it was paused',
    async (store) => {
      const worker = await store.worker()
      const lane = (name: string) =>
        Array.from({ length: 6 }, (_, index) => ({ id: `${name}${index}`, tenant: tenantId(name) }))
      await store.submit(...lane('x'), ...lane('y'))
      await store.engine.pause({ tenant: tenantId('y') }, BY)
      expect(await worker.claimIds(3)).toEqual(['x0', 'x1', 'x2'])
      await store.engine.resume({ tenant: tenantId('y') }, BY)
      expect(await worker.claimIds(4)).toEqual(['y0', 'x3', 'y1', 'x4'])
    },
    { ordered: true },
  )

  check(
    'compares lanes of different pools by their own pool time',
    async (store) => {
      const worker = await store.worker('w1', { pools: [pool('busy'), pool('calm')] })
      await store.submit(...Array.from({ length: 6 }, (_, index) => ({ id: `busy${index}`, pool: pool('busy') })))
      await worker.claimIds(4)
      await store.submit(...Array.from({ length: 4 }, (_, index) => ({ id: `calm${index}`, pool: pool('calm') })))
      // 'busy' is one turn past its pool's time (4 − 3), 'calm' at its own (0 − 0).
      expect(await worker.claimIds(4)).toEqual(['calm0', 'busy4', 'calm1', 'busy5'])
    },
    { ordered: true },
  )

  check('never gives more than the limit of a lane, and gives on when a slot is free (A7)', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
    await store.engine.limit({ action: ACTION }, 2, BY)
    const { claimed } = await worker.claim(5)
    expect(claimed).toHaveLength(2)
    expect(await worker.claimIds(5)).toEqual([])
    const [first] = claimed
    if (first !== undefined) await store.engine.settle([{ kind: 'succeeded', ref: first, result: null }])
    const taken = [...claimed.map(({ taskId }) => taskId), ...(await worker.claimIds(5))]
    expect(taken.toSorted()).toEqual(['a', 'b', 'c'])
  })

  check('a limit counts over all lanes that it covers, and every limit must have room', async (store) => {
    const acme = tenantId('acme')
    await store.submit({ id: 'a', tenant: acme }, { id: 'b', tenant: acme }, { id: 'c' }, { id: 'd' })
    await store.engine.limit({ pool: DEFAULT_POOL }, 3, BY)
    await store.engine.limit({ tenant: acme }, 1, BY)
    const taken = await (await store.worker()).claimIds(5)
    expect(taken.filter((id) => id === 'a' || id === 'b')).toHaveLength(1)
    expect(taken.filter((id) => id === 'c' || id === 'd')).toHaveLength(2)
  })

  const full = [
    { action: ACTION },
    { pool: DEFAULT_POOL, action: ACTION },
    { tenant: tenantId('t1') },
    { pool: DEFAULT_POOL, tenant: tenantId('t1') },
    { action: ACTION, tenant: tenantId('t1') },
    { pool: DEFAULT_POOL },
    {},
  ] as const
  for (const scope of full) {
    check(
      `A7: gives what ${scopeText(scope)} without room leaves over, however many lanes come before`,
      async (store) => {
        const worker = await store.worker('w1', { pools: [DEFAULT_POOL, pool('other')] })
        const tasks = ['t0', 't1'].flatMap((tenant) =>
          [ACTION, actionName('mail')].flatMap((action) =>
            [DEFAULT_POOL, pool('other')].flatMap((name) =>
              Array.from({ length: 3 }, (_, index) => ({
                id: `${tenant}-${action}-${name}-${index}`,
                tenant: tenantId(tenant),
                action,
                pool: name,
              })),
            ),
          ),
        )
        await store.submit(...tasks)
        await store.engine.limit(scope, 1, BY)
        const covered = tasks.filter((task) => scopeMatches(scope, task)).map(({ id }) => id)
        const claimed: string[] = []
        for (;;) {
          const more = await worker.claimIds(2)
          if (more.length === 0) break
          claimed.push(...more)
        }
        expect(claimed.filter((id) => covered.includes(id))).toHaveLength(1)
        expect(claimed).toHaveLength(tasks.length - covered.length + 1)
        expect(new Set(claimed).size).toBe(claimed.length)
      },
      { ordered: true },
    )
  }

  check('lifting a limit gives the rest', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' }, { id: 'b' })
    await store.engine.limit({}, 1, BY)
    const first = await worker.claimIds(5)
    expect(first).toHaveLength(1)
    await store.engine.limit({}, null, BY)
    expect([...first, ...(await worker.claimIds(5))].toSorted()).toEqual(['a', 'b'])
  })

  check('a lease never outlasts the time-out by more than the grace of 5 s', async (store) => {
    await store.submit({ id: 'a', settings: { timeoutMs: 2_000 } })
    const lease = await (await store.worker()).claimOne({ leaseMs: 60_000 })
    expect(lease.timeoutAt).toBe(START + 2_000)
    expect(lease.leaseUntil).toBe(START + 7_000)
  })

  check('refuses a worker that is not registered, and an epoch that is not current', async (store) => {
    const worker = await store.worker('w1')
    await expectRefused(store.engine.claim({ ...worker.request(), worker: workerId('w9') }), 'REPRISE_NOT_FOUND')
    await store.worker('w1')
    await expectRefused(worker.claim(), 'REPRISE_WORKER_FENCED')
  })

  check('refuses limits and lease times out of range', async (store) => {
    const worker = await store.worker()
    for (const limit of [-1, 1.5, 1_001]) await expectRefused(worker.claim(limit), 'REPRISE_INVALID')
    for (const leaseMs of [0, -1, 86_400_001]) await expectRefused(worker.claim(1, { leaseMs }), 'REPRISE_INVALID')
  })

  check('A2, fault 5: 50 concurrent claims never hand out a task twice', async (store) => {
    const worker = await store.worker()
    await store.submit(...Array.from({ length: 70 }, (_, index) => ({ id: `t${index}` })))
    const taken = (await Promise.all(Array.from({ length: 50 }, () => worker.claim(2)))).flatMap(
      ({ claimed }) => claimed,
    )
    expect(taken).toHaveLength(70)
    expect(new Set(taken.map(({ taskId }) => taskId)).size).toBe(70)
    expect(new Set(taken.map(({ token }) => token)).size).toBe(70)
  })
})
