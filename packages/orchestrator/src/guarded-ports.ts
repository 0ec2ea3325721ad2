// What the services tell of themselves goes through somebody else's code. If that throws, it must not end what they do.

import type { Logger, Meter } from '@reprise/core'

export function guardedLog(log: Logger): Logger {
  const guarded =
    (level: keyof Logger): Logger['info'] =>
    (message, fields) =>
      quietly(() => log[level](message, fields))
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}

/** `onError` is told of what it throws. */
export function guardedMeter(meter: Meter, onError: (error: unknown) => void): Meter {
  return {
    count: (...input) => quietly(() => meter.count(...input), onError),
    observe: (...input) => quietly(() => meter.observe(...input), onError),
  }
}

function quietly(tell: () => void, onError?: (error: unknown) => void): void {
  try {
    tell()
  } catch (error) {
    onError?.(error)
  }
}
