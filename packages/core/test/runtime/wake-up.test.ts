import { VirtualClock, WakeUp } from '@reprise/core'
import { expect, test } from 'vitest'

const never = new AbortController().signal

test('a call ends a wait, and one that came before is remembered once', async () => {
  const wakeUp = new WakeUp()
  const waiting = wakeUp.wait()
  wakeUp.call()
  await waiting
  wakeUp.call()
  wakeUp.call()
  await wakeUp.wait()
  const clock = new VirtualClock()
  let isOver = false
  const next = wakeUp.waitFor(clock, 1_000, never).then(() => (isOver = true))
  await clock.advance(999)
  expect(isOver).toBe(false)
  await clock.advance(1)
  await next
})

test('a wait for a time ends early at a call and at the signal, and leaves no timer behind', async () => {
  const clock = new VirtualClock()
  const wakeUp = new WakeUp()
  const stop = new AbortController()
  const called = wakeUp.waitFor(clock, 1_000, stop.signal)
  wakeUp.call()
  await called
  const stopped = wakeUp.waitFor(clock, 1_000, stop.signal)
  stop.abort()
  await stopped
  await wakeUp.waitFor(clock, 1_000, stop.signal)
  expect(clock.nextAt()).toBeNull()
})
