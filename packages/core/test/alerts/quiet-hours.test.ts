// Quiet hours are asked about for every alert and channel, every few seconds.

import { expect, onTestFinished, test, vi } from 'vitest'
import { isQuiet } from '../../src/alerts/channel.ts'

test('quiet hours are reckoned without making a calendar for each alert', () => {
  const made = vi.spyOn(Intl, 'DateTimeFormat')
  onTestFinished(() => made.mockRestore())
  const quiet = { from: '22:00', to: '07:00', zone: 'Asia/Tokyo', butFrom: 'critical' } as const
  const hours = Array.from({ length: 24 }, (_, hour) => isQuiet({ quiet }, 'low', hour * 3_600_000))
  // Tokyo is nine hours ahead: from 13:00 to 22:00 by UTC it is night there.
  expect(hours.flatMap((isNight, hour) => (isNight ? [hour] : []))).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21])
  expect(made.mock.calls).toHaveLength(1)
})
