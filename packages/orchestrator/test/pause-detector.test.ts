// Missing time is noticed, ordinary lateness is not.

import { expect, test } from 'vitest'
import { PauseDetector } from '../src/pause-detector.ts'

const detectorAt = (storeNow: number, monotonic: number): PauseDetector => {
  const detector = new PauseDetector()
  expect(detector.observe({ storeNow, monotonic }, 0)).toEqual({ kind: 'steady' })
  return detector
}

test('an ordinary round is steady, even a late one', () => {
  const detector = detectorAt(1_000_000, 0)
  expect(detector.observe({ storeNow: 1_001_000, monotonic: 1_000 }, 1_000).kind).toBe('steady')
  expect(detector.observe({ storeNow: 1_003_500, monotonic: 3_500 }, 1_000).kind).toBe('steady')
})

test('a round that took far longer than planned was a pause', () => {
  const detector = detectorAt(1_000_000, 0)
  expect(detector.observe({ storeNow: 1_020_000, monotonic: 20_000 }, 1_000)).toEqual({ kind: 'paused', ms: 19_000 })
})

test('store time that ran ahead is a jump; store time that was set back harms nobody', () => {
  const ahead = detectorAt(1_000_000, 0)
  expect(ahead.observe({ storeNow: 4_601_000, monotonic: 1_000 }, 1_000)).toEqual({ kind: 'jumped', ms: 3_600_000 })
  const back = detectorAt(9_000_000, 0)
  expect(back.observe({ storeNow: 5_000_000, monotonic: 1_000 }, 1_000).kind).toBe('steady')
})
