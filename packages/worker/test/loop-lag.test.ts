// The lag of the event loop: a single pause is forgiven, a loop that is late again and again is told.

import { expect, test } from 'vitest'
import { LAG_SAMPLES, LoopLag } from '../src/loop-lag.ts'

test('C5: one pause, however long, is no lag', () => {
  const lag = new LoopLag()
  expect(lag.ms).toBe(0)
  lag.note(60_000)
  expect(lag.ms).toBe(0)
  for (let sample = 0; sample < LAG_SAMPLES; sample++) lag.note(3)
  lag.note(60_000)
  expect(lag.ms).toBe(3)
})

test('C5: a loop that is late twice among the last samples is late, until they are over', () => {
  const lag = new LoopLag()
  lag.note(4_000)
  lag.note(2.4)
  lag.note(2_500)
  expect(lag.ms).toBe(2_500)
  for (let sample = 0; sample < LAG_SAMPLES; sample++) lag.note(-1)
  expect(lag.ms).toBe(0)
})
