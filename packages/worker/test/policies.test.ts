// Policies and breakers, from the worker's side: what it settles with, what it does not start, what it asks first.

import { NO_POLICIES, type Policy, type PolicyBook, type PolicySource } from '@reprise/core'
import { type AnyAction, defineAction, TransientError } from '@reprise/worker'
import { describe, expect, test } from 'vitest'
import { type Setup, setUp, taskOf } from './fixture.ts'

function source(...policies: Policy[]): PolicySource & { book: PolicyBook } {
  const made = { book: { ...NO_POLICIES, version: 7, policies }, current: () => made.book }
  return made
}

test('B7: a policy decides in place of the action, and the decision says which', async () => {
  const flaky = defineAction({
    name: 'flaky',
    retry: { max: 5 },
    async run() {
      throw new TransientError('again')
    },
  })
  const policies = source({ name: 'never', match: { actions: ['fla*'] }, retries: 0 })
  const { client, clock } = await setUp({ actions: [flaky], policies })
  const task = await client.submit(flaky, null)
  await clock.advance(0)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'dead', reason: 'retries_exhausted' })
  expect((await client.listExecutions({ id: task.id })).items[0]?.decision?.policy).toEqual({
    name: 'never',
    version: 7,
  })
  // The next book counts from the next failure on.
  policies.book = NO_POLICIES
  const next = await client.submit(flaky, null)
  await clock.advance(0)
  expect((await taskOf(client, next.id)).state).toMatchObject({ status: 'waiting', reason: 'transient' })
})

test('policies that can not be had any more stay as they were', async () => {
  let isBroken = false
  const books = source({ name: 'never', match: {}, retries: 0 })
  const policies: PolicySource = {
    current() {
      if (isBroken) throw new Error('the file is gone')
      return books.current()
    },
  }
  const flaky = defineAction({
    name: 'flaky',
    retry: { max: 5 },
    async run() {
      isBroken = true
      throw new TransientError('again')
    },
  })
  const { client, clock, worker } = await setUp({ actions: [flaky], policies })
  const task = await client.submit(flaky, null)
  await clock.advance(0)
  expect((await taskOf(client, task.id)).state).toMatchObject({ status: 'dead', reason: 'retries_exhausted' })
  expect(worker.state).toBe('running')
  await expect(setUp({ actions: [flaky], policies })).rejects.toThrow('the file is gone')
})

test('C9: failures that look like an outage open a breaker; what is parked is not charged', async () => {
  let isDown = true
  let attempts = 0
  const charge = defineAction({
    name: 'charge',
    retry: { max: 1 },
    uses: ['stripe'],
    breaker: { minFailures: 2, open: '10s', probes: 1 },
    async run() {
      attempts++
      if (isDown) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      return 'charged'
    },
  })
  const { client, clock } = await setUp({ actions: [charge], concurrency: 1 })
  const tasks = await client.submitMany(charge, [1, 2, 3, 4])
  await clock.advance(5_000)
  expect(attempts).toBe(2)
  expect((await client.listBreakers()).items).toMatchObject([{ name: 'dependency:stripe', state: { status: 'open' } }])
  const parked = await taskOf(client, tasks[1]?.id ?? '')
  expect(parked).toMatchObject({ failures: 0, parks: 1, state: { status: 'queued' } })
  expect((await client.explainTask({ id: parked.id })).summary).toContain(
    "Breaker 'dependency:stripe' of tenant 'default' is open",
  )
  isDown = false
  await clock.advance(10_000)
  expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(Array(4).fill('charged'))
})

test('C9: an operator closes a breaker, and work goes on', async () => {
  let isDown = true
  const charge = defineAction({
    name: 'charge',
    uses: ['stripe'],
    breaker: { minFailures: 1, open: '1h' },
    async run() {
      if (isDown) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      return 'charged'
    },
  })
  const { client, clock } = await setUp({ actions: [charge] })
  const task = await client.submit(charge, null)
  await clock.advance(2_000)
  expect(await client.resetBreaker({ name: 'dependency:none' })).toEqual({ changed: false })
  isDown = false
  const reset = { name: 'dependency:stripe', reason: 'stripe is back' }
  expect(await client.resetBreaker(reset)).toEqual({ changed: true })
  expect(await task.result()).toBe('charged')
  const { items } = await client.listEvents({ type: 'breaker.closed' })
  expect(items).toMatchObject([{ data: { actor: 'client', reason: 'stripe is back' } }])
  await expect(client.resetBreaker({ name: 'stripe' })).rejects.toThrow(
    "A breaker is named 'action:…' or 'dependency:…'",
  )
})

test('an attempt that comes too late for its SLA is not started, and says so', async () => {
  let runs = 0
  const urgent = defineAction({ name: 'urgent', retry: { max: 3 }, run: () => void runs++ })
  const policies = source({ name: 'urgent', match: {}, slaMs: 60_000 })
  const { client, clock } = await setUp({ actions: [urgent], policies })
  const late = await client.submit(urgent, null, { delay: '60s' })
  const punctual = await client.submit(urgent, null, { delay: '59s' })
  await clock.advance(61_000)
  expect(await punctual.result()).toBeNull()
  const { state } = await taskOf(client, late.id)
  expect(state).toMatchObject({ status: 'dead', reason: 'deadline', failure: { reason: 'deadline' } })
  expect(state.status === 'dead' ? state.failure.message : '').toContain('so it was not started')
  expect(runs).toBe(1)
})

describe('a lost attempt whose action must be asked first', () => {
  type Answer = 'done' | 'not_done' | 'unknown' | { readonly outcome: 'done'; readonly result: string }

  interface Pay {
    readonly action: AnyAction
    readonly runs: number[]
    readonly asked: string[]
  }

  const pay = (answer: () => Promise<Answer> | Answer, isLost = true): Pay => {
    const runs: number[] = []
    const asked: string[] = []
    const action = defineAction({
      name: 'pay',
      timeout: '10m',
      onLost: 'reconcile',
      run(_: null, { attempt }) {
        runs.push(attempt)
        return isLost && attempt === 1 ? new Promise<string>(() => {}) : `run ${attempt}`
      },
      reconcile(_, { retryToken }) {
        asked.push(retryToken)
        return answer()
      },
    })
    return { action, runs, asked }
  }

  /** The first attempt is lost with its worker's epoch; the same worker, registered again, gets the next. */
  async function lose({ client, clock, engine, worker }: Setup, action: AnyAction): Promise<string> {
    // By name, so that its settings say nothing of it: the policy does.
    const task = await client.submit(action.name, null)
    await clock.advance(10)
    const [view] = (await engine.workers()).items
    await engine.deregister(worker.id, view?.epoch ?? 0)
    await clock.advance(60_000)
    return task.id
  }

  const policies = source({ name: 'ask', match: { actions: ['pay'] }, onLost: 'reconcile' })

  test.each<[Answer, unknown]>([
    ['done', null],
    [{ outcome: 'done', result: 'receipt 12' }, 'receipt 12'],
  ])('%j: succeeds with its result, and does not run', async (answer, result) => {
    const { action, runs, asked } = pay(() => answer)
    const setup = await setUp({ actions: [action], policies })
    const id = await lose(setup, action)
    const task = await taskOf(setup.client, id)
    expect(task).toMatchObject({ attempt: 2, losses: 1, state: { status: 'succeeded', result } })
    expect([runs, asked]).toEqual([[1], [id]])
  })

  test('not_done: runs again', async () => {
    const { action, runs, asked } = pay(() => 'not_done')
    const setup = await setUp({ actions: [action], policies })
    const id = await lose(setup, action)
    expect((await taskOf(setup.client, id)).state).toMatchObject({ status: 'succeeded', result: 'run 2' })
    expect([runs, asked]).toEqual([[1, 2], [id]])
  })

  test.each<[string, () => Answer, string]>([
    ['unknown', () => 'unknown', "can't tell what became of attempt 1 of action 'pay'"],
    ['an answer nobody understands', () => 'maybe' as Answer, "can't tell what became of attempt 1"],
    [
      'a hook that throws',
      () => {
        throw new Error('the bank does not answer')
      },
      'the bank does not answer',
    ],
  ])('%s: left to a person', async (_, answer, message) => {
    const { action, runs } = pay(answer)
    const setup = await setUp({ actions: [action], policies })
    const id = await lose(setup, action)
    const { state } = await taskOf(setup.client, id)
    expect(state).toMatchObject({ status: 'dead', reason: 'outcome_unknown' })
    expect(state.status === 'dead' ? state.failure.message : '').toContain(message)
    expect(runs).toEqual([1])
    // A redrive is a person's word that it may run.
    await setup.client.redriveTasks({ ids: [id] })
    await setup.clock.advance(1_000)
    expect((await taskOf(setup.client, id)).state.status).toBe('succeeded')
  })

  test('without a hook it is left to a person, and the worker warns when it starts', async () => {
    const warnings: string[] = []
    const warn = (message: string): void => void warnings.push(message)
    const { action, runs } = pay(() => 'done')
    const silent = { debug: () => {}, info: () => {}, error: () => {} }
    const setup = await setUp({ actions: [{ ...action, reconcile: null }], policies, log: { ...silent, warn } })
    expect(warnings.filter((text) => text.includes('no reconcile hook'))).toHaveLength(1)
    const id = await lose(setup, action)
    expect((await taskOf(setup.client, id)).state).toMatchObject({ status: 'dead', reason: 'outcome_unknown' })
    expect(runs).toEqual([1])
  })

  test('a hook that outlasts the time-out ends the attempt, and the handler is not called after it', async () => {
    const answer = Promise.withResolvers<Answer>()
    const { action, runs } = pay(() => answer.promise)
    const setup = await setUp({ actions: [action], policies })
    const id = await lose(setup, action)
    await setup.clock.advance(600_000)
    expect((await taskOf(setup.client, id)).state.status).toBe('dead')
    answer.resolve('not_done')
    await setup.clock.advance(1_000)
    expect(runs).toEqual([1])
    expect(setup.worker.stats().abandoned).toBe(1)
  })

  test('a first attempt asks nothing', async () => {
    const { action, asked } = pay(() => 'unknown', false)
    const { client, clock } = await setUp({ actions: [action], policies })
    const task = await client.submit(action.name, null)
    await clock.advance(1_000)
    expect((await taskOf(client, task.id)).state.status).toBe('succeeded')
    expect(asked).toEqual([])
  })
})

describe('a worker that was given no policies', () => {
  const flaky = defineAction({
    name: 'flaky',
    retry: { max: 5 },
    run() {
      throw new TransientError('again')
    },
  })
  const NEVER = 'policies:\n  - name: never\n    retries: 0\n'
  const PATIENT = 'policies:\n  - name: patient\n    retries: 9\n'
  const statusAfter = async ({ client, clock }: Setup) => {
    const { id } = await client.submit(flaky, null)
    await clock.advance(0)
    return (await taskOf(client, id)).state.status
  }

  test('follows those of the store, also when they change, and says which version it applies', async () => {
    const setup = await setUp({ actions: [flaky] })
    const { client, clock } = setup
    expect(await statusAfter(setup)).toBe('waiting')
    expect(await client.getWorker({ id: 'w1' })).toMatchObject({ policyVersion: 0 })
    await client.publishPolicies({ text: NEVER })
    await clock.advance(5_000)
    expect(await statusAfter(setup)).toBe('dead')
    expect(await client.getWorker({ id: 'w1' })).toMatchObject({ policyVersion: 1 })
    await client.publishPolicies({ text: PATIENT })
    await clock.advance(5_000)
    expect(await statusAfter(setup)).toBe('waiting')
    expect(await client.getWorker({ id: 'w1' })).toMatchObject({ policyVersion: 2 })
  })

  test('obeys the switch for automatic retries', async () => {
    const setup = await setUp({ actions: [flaky] })
    await setup.client.setFlag({ name: 'task-retry-queue', on: false, reason: 'the queue overflows' })
    await setup.clock.advance(5_000)
    expect(await statusAfter(setup)).toBe('dead')
  })

  test('asks the store beside the heartbeat, however often that comes and however many tasks fail', async () => {
    const setup = await setUp({ actions: [flaky], heartbeat: '100ms' })
    await statusAfter(setup)
    setup.engine.reads.length = 0
    for (let second = 0; second < 12; second++) {
      await statusAfter(setup)
      await setup.clock.advance(1_000)
    }
    const asked = setup.engine.reads.filter((name) => name === 'policies').length
    expect(asked).toBeGreaterThanOrEqual(3)
    expect(asked).toBeLessThanOrEqual(4)
  })

  test('a worker that was given policies keeps to them, and reports their version', async () => {
    const setup = await setUp({ actions: [flaky], policies: source({ name: 'mine', match: {}, retries: 3 }) })
    await setup.client.publishPolicies({ text: NEVER })
    await setup.clock.advance(6_000)
    expect(await statusAfter(setup)).toBe('waiting')
    expect(await setup.client.getWorker({ id: 'w1' })).toMatchObject({ policyVersion: 7 })
  })
})
