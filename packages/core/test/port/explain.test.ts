// Why a task is not running now: each gate, each verdict on a worker, and the sentence for a person.

import {
  actionName,
  type Breaker,
  type BreakerState,
  DEFAULT_BREAKER,
  DEFAULT_HEALTH_THRESHOLDS,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  poolName,
  type Task,
  type TaskState,
  tenantId,
  type WorkerView,
  workerId,
} from '@reprise/core'
import { type ExplainFacts, explain, scopeMatches, scopeText } from '@reprise/core/engine'
import { describe, expect, test } from 'vitest'
import { EXPLAIN_WORKERS_MAX } from '../../src/port/explain.ts'
import { failureWith, NOW, RENDER, running, taskWith, workerWith } from '../fixture.ts'

const facts = (over: Partial<ExplainFacts> = {}): ExplainFacts => ({
  task: taskWith(),
  now: NOW,
  holds: [],
  limits: [],
  breakers: [],
  workers: [workerWith()],
  thresholds: DEFAULT_HEALTH_THRESHOLDS,
  ...over,
})
const inState = (state: TaskState, over: Partial<Task> = {}) => facts({ task: taskWith({ state, ...over }) })
const waiting = (dueAt: number, quota: string | null = null): TaskState => {
  return { status: 'waiting', since: NOW, dueAt, reason: 'connection', quota }
}
const breaker = (state: BreakerState): Breaker => {
  const name = 'dependency:stripe'
  return { name, tenant: null, settings: DEFAULT_BREAKER, actions: [RENDER], state, buckets: [], voices: [] }
}
const by = { actor: 'operator:ann', reason: 'maintenance' }

describe('what holds a task back', () => {
  test('nothing: it says that the task can be claimed, and by whom', () => {
    expect(explain(facts())).toEqual({
      task: taskWith(),
      summary: 'It is queued and can be claimed.',
      gates: [],
      workers: [{ worker: 'w1', verdict: 'eligible', reasons: [] }],
      nextAt: null,
    })
  })

  test('it is not due', () => {
    expect(explain(inState(waiting(NOW + 90_000)))).toMatchObject({
      summary: 'It waits (connection) and is due in 1m 30s.',
      gates: [{ kind: 'not_due', dueAt: NOW + 90_000, reason: 'connection' }],
      nextAt: NOW + 90_000,
    })
  })

  test('it is due just now, and the next claim will see it', () => {
    expect(explain(inState(waiting(NOW)))).toMatchObject({
      summary: 'It is due and will be queued by the next claim.',
      gates: [],
      nextAt: NOW,
    })
  })

  test('its lane is paused', () => {
    const hold = { scope: { action: RENDER }, by, since: NOW - 5, rank: 'platform' as const }
    expect(explain(facts({ holds: [hold] }))).toMatchObject({
      summary: "Action 'render' is paused by operator:ann: maintenance",
      gates: [{ kind: 'paused', ...hold }],
    })
  })

  test('everything is paused', () => {
    expect(explain(facts({ holds: [{ scope: {}, by, since: NOW, rank: 'platform' }] })).summary).toBe(
      'All lanes are paused by operator:ann: maintenance',
    )
  })

  test('a limit has no room', () => {
    const scope = { pool: poolName('gpu'), tenant: tenantId('acme') }
    expect(explain(facts({ limits: [{ scope, running: 4, concurrency: 4, rank: 'platform' }] }))).toMatchObject({
      summary: "Pool 'gpu', tenant 'acme' runs 4 tasks, its limit is 4.",
      gates: [{ kind: 'concurrency', scope, running: 4, concurrency: 4 }],
    })
    expect(explain(facts({ limits: [{ scope: {}, running: 4, concurrency: 3, rank: 'platform' }] })).summary).toBe(
      'All lanes run 4 tasks, their limit is 3.',
    )
  })

  test('a limit with room is no gate', () => {
    expect(explain(facts({ limits: [{ scope: {}, running: 3, concurrency: 4, rank: 'platform' }] })).gates).toEqual([])
  })

  test('C9: its breaker is open, and it says until when', () => {
    const open = breaker({ status: 'open', since: NOW - 1_000, until: NOW + 4_000, opens: 1 })
    expect(explain(facts({ breakers: [open] }))).toMatchObject({
      summary: "Breaker 'dependency:stripe' is open: too much failed. It lets a few tasks through in 4s.",
      gates: [
        {
          kind: 'breaker',
          name: 'dependency:stripe',
          tenant: null,
          status: 'open',
          since: NOW - 1_000,
          until: NOW + 4_000,
        },
      ],
      nextAt: NOW + 4_000,
    })
  })

  test.each<[string, BreakerState]>([
    [
      "Breaker 'dependency:stripe' lets a few tasks through to see whether they succeed.",
      { status: 'half_open', since: NOW, opens: 1, succeeded: 0 },
    ],
    [
      "Breaker 'dependency:stripe' lets more and more tasks through again.",
      { status: 'ramping', since: NOW, opens: 1, succeeded: 0, concurrency: 6 },
    ],
  ])('C9: %s', (summary, state) => {
    const explanation = explain(facts({ breakers: [breaker(state)] }))
    expect(explanation.summary).toBe(summary)
    expect(explanation.gates).toEqual([
      { kind: 'breaker', name: 'dependency:stripe', tenant: null, status: state.status, since: NOW, until: null },
    ])
    expect(explanation.nextAt).toBeNull()
  })

  test('C9: a closed breaker is no gate', () => {
    expect(explain(facts({ breakers: [breaker({ status: 'closed' })] })).gates).toEqual([])
  })

  test('C9: its retry is over the quota', () => {
    expect(explain(inState(waiting(NOW + 60_000, 'render')))).toMatchObject({
      summary: "Its retry is over the quota 'render' and was moved: it is due in 1m.",
      gates: [{ kind: 'retry_quota', name: 'render', dueAt: NOW + 60_000 }],
      nextAt: NOW + 60_000,
    })
  })

  test('there is no worker for it', () => {
    expect(explain(facts({ workers: [] }))).toMatchObject({
      summary: "No worker is registered in pool 'default'.",
      gates: [{ kind: 'no_worker' }],
      workers: [],
    })
  })

  test('the workers run other actions', () => {
    const [worker] = facts().workers
    if (worker === undefined) throw new Error('one worker')
    const other = { ...worker, actions: [actionName('mail')] }
    expect(explain(facts({ workers: [other] })).summary).toBe(
      "No worker in pool 'default' runs action 'render': add it to the actions of one.",
    )
    const draining = { ...worker, draining: true }
    expect(explain(facts({ workers: [other, draining] })).summary).toBe(
      "No worker that runs action 'render' in pool 'default' takes work now.",
    )
  })

  test('of more workers than fit, those that serve its pool are shown first', () => {
    const [worker] = facts().workers
    if (worker === undefined) throw new Error('one worker')
    const elsewhere = { ...worker, pools: [poolName('other')] }
    const { workers, gates } = explain(
      facts({ workers: [...Array<typeof elsewhere>(EXPLAIN_WORKERS_MAX).fill(elsewhere), worker] }),
    )
    expect(workers).toHaveLength(EXPLAIN_WORKERS_MAX)
    expect(workers[0]?.verdict).toBe('eligible')
    expect(gates).toEqual([])
  })

  test('several things at once are all listed, the first is told', () => {
    const explanation = explain({
      ...inState(waiting(NOW + 1_000)),
      holds: [{ scope: {}, by, since: NOW, rank: 'platform' }],
      limits: [{ scope: {}, running: 1, concurrency: 1, rank: 'platform' }],
      workers: [],
    })
    expect(explanation.gates.map(({ kind }) => kind)).toEqual(['not_due', 'paused', 'concurrency', 'no_worker'])
    expect(explanation.summary).toContain('is due in 1s')
  })
})

describe('when something can change by itself', () => {
  const queuedUntil = (expiresAt: number | null): TaskState => ({ status: 'queued', since: NOW, expiresAt })

  test.each<[string, TaskState, Partial<Task>, number | null]>([
    ['never', queuedUntil(null), {}, null],
    ['at the end of its queue TTL', queuedUntil(NOW + 60), {}, NOW + 60],
    ['at its deadline', queuedUntil(null), { deadlineAt: NOW + 70 }, NOW + 70],
    ['at the earlier of the two', queuedUntil(NOW + 60), { deadlineAt: NOW + 70 }, NOW + 60],
    ['at the earlier of the two, the other way round', queuedUntil(NOW + 80), { deadlineAt: NOW + 70 }, NOW + 70],
    ['never, since a redriven task has no deadline', queuedUntil(null), { deadlineAt: NOW + 70, generation: 2 }, null],
    ['when its lease ends', running, {}, NOW + 15_000],
  ])('%s', (_, state, over, nextAt) => {
    expect(explain(inState(state, over)).nextAt).toBe(nextAt)
  })
})

describe('workers that were considered', () => {
  const unhealthy = { status: 'unhealthy', reasons: ['no heartbeat for 45 s'] } as const
  const degraded = { status: 'degraded', reasons: ['60 tasks wait inside it'] } as const

  test.each<[string, Partial<WorkerView>, readonly string[]]>([
    ['eligible', {}, []],
    ['eligible', { actions: [RENDER] }, []],
    ['other_pool', { pools: [poolName('gpu')], health: unhealthy }, []],
    ['other_actions', { actions: [actionName('send')], health: unhealthy }, []],
    ['draining', { draining: true, health: unhealthy }, []],
    ['unhealthy', { health: unhealthy }, ['no heartbeat for 45 s']],
    ['degraded', { health: degraded }, ['60 tasks wait inside it']],
  ])('%s', (verdict, over, reasons) => {
    const explanation = explain(facts({ workers: [workerWith(over)] }))
    expect(explanation.workers).toEqual([{ worker: 'w1', verdict, reasons }])
    expect(explanation.gates).toHaveLength(verdict === 'eligible' || verdict === 'degraded' ? 0 : 1)
  })

  test('one that can is enough', () => {
    const workers = [workerWith({ health: unhealthy }), workerWith({ worker: workerId('w2') })]
    expect(explain(facts({ workers })).gates).toEqual([])
  })
})

describe('a task that runs or has ended has no gates', () => {
  const dead = failureWith({ message: 'no paper' })

  test.each<[string, TaskState, string]>([
    ['running', running, "Attempt 2 has been running on 'w1' for 1m 30s."],
    ['dispatched', { ...running, stage: 'dispatch' }, "Attempt 2 is with dispatcher 'w1', which looks for a worker."],
    ['assigned', { ...running, stage: 'inbox' }, "Attempt 2 lies in the inbox of worker 'w1'."],
    ['launching', { ...running, stage: 'launch' }, "Attempt 2 is being launched by 'w1'."],
    ['launched', { ...running, stage: 'launch', handle: 'pid 7' }, "Attempt 2 was launched 1m 30s ago as 'pid 7'."],
    ['succeeded', { status: 'succeeded', at: NOW, result: null }, 'It has ended as succeeded.'],
    ['dead', { status: 'dead', at: NOW, reason: 'crash_loop', failure: dead }, 'It is dead (crash_loop): no paper'],
    ['discarded', { status: 'discarded', at: NOW }, 'It has ended as discarded.'],
    ['cancelled', { status: 'cancelled', at: NOW }, 'It has ended as cancelled.'],
  ])('%s', (_, state, summary) => {
    const explanation = explain({
      ...inState(state),
      holds: [{ scope: {}, by, since: NOW, rank: 'platform' }],
      workers: [],
    })
    expect(explanation).toMatchObject({ summary, gates: [] })
  })
})

describe('scopes', () => {
  const lane = { pool: DEFAULT_POOL, action: RENDER, tenant: DEFAULT_TENANT }

  test('cover the lanes that agree with all that is given', () => {
    expect(scopeMatches({}, lane)).toBe(true)
    expect(scopeMatches(lane, lane)).toBe(true)
    expect(scopeMatches({ action: RENDER }, lane)).toBe(true)
    expect(scopeMatches({ pool: poolName('gpu') }, lane)).toBe(false)
    expect(scopeMatches({ action: RENDER, tenant: tenantId('acme') }, lane)).toBe(false)
    expect(scopeMatches({ action: actionName('send') }, lane)).toBe(false)
  })

  test('are told in words, with every part that is set', () => {
    expect(scopeText({})).toBe('all lanes')
    expect(scopeText({ tenant: tenantId('acme'), pool: poolName('gpu') })).toBe("pool 'gpu', tenant 'acme'")
    expect(scopeText(lane)).toBe("pool 'default', action 'render', tenant 'default'")
  })
})
