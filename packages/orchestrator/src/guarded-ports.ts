// What the services tell of themselves goes through somebody else's code. If that throws, it must not end what they do.

import { type Meter, quietly } from '@reprise/core'

/** `onError` is told of what it throws. */
export function guardedMeter(meter: Meter, onError: (error: unknown) => void): Meter {
  return {
    count: (...input) => quietly(() => meter.count(...input), onError),
    observe: (...input) => quietly(() => meter.observe(...input), onError),
  }
}
