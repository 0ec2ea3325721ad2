// The demo: what fails there fails in the ways that it says, and the stream goes on whatever happens.

import { type Action, type Clock, seededRandom, VirtualClock } from '@reprise/core'
import { createTestKit } from '@reprise/testing'
import { expect, onTestFinished, test } from 'vitest'
import { type DemoPayload, demoActions } from '../src/demo/actions.ts'
import { createDemoStream, type DemoClient } from '../src/demo/stream.ts'

test('the opening of the stream has one of each fault, and most of what follows works', async () => {
  const clock = new VirtualClock()
  const submitted: { action: string; faulty: number; tenant: string }[] = []
  let isAway = false
  const errors: unknown[] = []
  const client: DemoClient = {
    async submit(action, { faultyAttempts = 0 }, { tenant }) {
      if (isAway) throw new Error('away')
      submitted.push({ action, faulty: faultyAttempts, tenant })
    },
    counts: async () => ({ queued: 0, waiting: 0, running: 0 }),
  }
  const stream = createDemoStream(client, clock, seededRandom(7), (error) => errors.push(error))
  await stream.start()
  onTestFinished(() => stream.stop())
  await clock.advance(2_000)
  const opening = submitted.slice(0, 5)
  expect(new Set(opening.map(({ action }) => action)).size).toBe(5)
  expect(opening.every(({ faulty }) => faulty > 0)).toBe(true)
  isAway = true
  await clock.advance(2_000)
  isAway = false
  await clock.advance(200_000)
  expect(errors.length).toBeGreaterThan(0)
  expect(submitted.length).toBeGreaterThan(300)
  const failing = submitted.filter(({ faulty }) => faulty > 0).length / submitted.length
  expect(failing).toBeGreaterThan(0.1)
  expect(failing).toBeLessThan(0.4)
  expect(new Set(submitted.map(({ tenant }) => tenant)).size).toBe(3)
})

test('the stream waits while much is unfinished', async () => {
  const clock = new VirtualClock()
  let submitted = 0
  const client: DemoClient = {
    submit: async () => ++submitted,
    counts: async () => ({ queued: 150, waiting: 40, running: 10 }),
  }
  const stream = createDemoStream(client, clock, seededRandom(1), () => undefined)
  await stream.start()
  onTestFinished(() => stream.stop())
  await clock.advance(10_000)
  expect(submitted).toBe(0)
})

test.each([
  ['hello', {}, 'succeeded'],
  ['email.send', { faultyAttempts: 2, to: 'a@b' }, 'succeeded'],
  ['payment.charge', { faultyAttempts: 1 }, 'succeeded'],
  ['report.build', { faultyAttempts: 1 }, 'succeeded'],
  ['contact.import', { to: 'a@b' }, 'succeeded'],
  ['contact.import', { to: 'nobody' }, 'dead'],
  ['invoice.render', { faultyAttempts: 1 }, 'dead'],
])('%s with %j ends as %s', async (name, payload, status) => {
  // The kit makes its clock, and wants the actions before.
  let clock: Clock = new VirtualClock()
  const actions = demoActions({
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (...given) => clock.after(...given),
    soon: (callback) => clock.soon(callback),
  })
  const kit = await createTestKit({ actions })
  clock = kit.clock
  onTestFinished(() => kit.close())
  const action: Action<DemoPayload | null> | undefined = actions.find((one) => one.name === name)
  if (action === undefined) throw new Error(`There is no ${name}.`)
  const task = await kit.client.submit(action, payload)
  await kit.runUntilIdle()
  expect((await kit.client.getTask({ id: task.id })).state.status).toBe(status)
})
