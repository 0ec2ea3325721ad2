// What a worker sees coming (C9): a rise is told before it crosses, and nothing else is.

import { Forecast, seededRandom } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import type { ForecastSample } from '../../src/workers/forecast.ts'

const BEAT_MS = 5_000

/** What the forecast says after each of these, one heartbeat apart. */
function outlooks(samples: readonly Partial<Omit<ForecastSample, 'at'>>[]): (string | null)[] {
  const forecast = new Forecast()
  return samples.map((sample, index) =>
    forecast.sample({ at: index * BEAT_MS, failureRate: 0, loopLagMs: 0, queueDepth: 0, ...sample }),
  )
}
const rising = (count: number, value: (beat: number) => Partial<ForecastSample>) =>
  Array.from({ length: count }, (_, beat) => value(beat))

describe('C9: predictive health', () => {
  test('an event loop that gets later with each beat is told before it is too late, with the numbers', () => {
    const said = outlooks(rising(12, (beat) => ({ loopLagMs: 200 * beat })))
    expect(said.slice(0, 5)).toEqual([null, null, null, null, null])
    const first = said.find((one) => one !== null)
    expect(first).toMatch(/^its event loop is \d+ ms late and rising by \d+ ms\/s: past 2000 ms in about \d+ s$/)
    // Told at the latest when it really is at 1,600 ms; the threshold is crossed at beat 10.
    expect(said.findIndex((one) => one !== null)).toBeLessThanOrEqual(8)
  })

  test('a failure rate and a queue depth that rise', () => {
    const failing = outlooks(rising(12, (beat) => ({ failureRate: 0.03 * beat }))).find((one) => one !== null)
    expect(failing).toMatch(/^[\d.]+ % of its attempts fail, rising by [\d.]+ points\/s: past 30 % in about \d+ s$/)
    const filling = outlooks(rising(12, (beat) => ({ queueDepth: 5 * beat }))).find((one) => one !== null)
    expect(filling).toMatch(/^\d+ tasks wait inside it, [\d.]+ more each second: past 50 in about \d+ s$/)
  })

  test('what comes first is told', () => {
    const said = outlooks(rising(10, (beat) => ({ loopLagMs: 800 + 60 * beat, queueDepth: 10 + 4 * beat }))).at(-1)
    expect(said).toContain('tasks wait inside it')
  })

  test.each<[string, (beat: number) => Partial<ForecastSample>]>([
    ['a steady lag just below the threshold', () => ({ loopLagMs: 1_900 })],
    ['a falling one', (beat) => ({ loopLagMs: 1_900 - 50 * beat })],
    ['a rise from far below', (beat) => ({ loopLagMs: 60 * beat })],
    ['a slow rise', (beat) => ({ loopLagMs: 1_000 + 10 * beat })],
    ['one over the threshold: health sees that itself', () => ({ loopLagMs: 2_500 })],
    ['one peak', (beat) => ({ loopLagMs: beat === 9 ? 1_900 : 100 })],
  ])('nothing is told of %s', (_, value) => {
    expect(outlooks(rising(15, value)).filter((one) => one !== null)).toEqual([])
  })

  test('noise around half of the threshold hardly ever counts as a trend', () => {
    const random = seededRandom(3)
    const said = outlooks(rising(1_000, () => ({ loopLagMs: 1_000 + 200 * (random.next() - 0.5) })))
    expect(said.filter((one) => one !== null).length).toBeLessThan(10)
  })

  test('fewer than five samples say nothing, one alone neither, also after a gap', () => {
    const forecast = new Forecast()
    const at = (seconds: number, loopLagMs: number) =>
      forecast.sample({ at: seconds * 1_000, failureRate: 0, queueDepth: 0, loopLagMs })
    const before = [0, 5, 10, 15, 20, 25].map((seconds) => at(seconds, 1_000 + 30 * seconds))
    expect(before.slice(0, 4)).toEqual([null, null, null, null])
    expect(before.at(-1)).not.toBeNull()
    expect([200, 205, 210, 215].map((seconds) => at(seconds, 1_000 + 150 * (seconds - 200)))).toEqual([
      null,
      null,
      null,
      null,
    ])
  })
})
