// Calls into code that somebody else plugged in: a logger, a meter, an OpenTelemetry SDK. What it throws must not end or lose
// what Reprise does.

import type { Logger } from '../model/action.ts'

/** What the step gives; undefined if it throws, which `onError` hears of. */
export function quietly<T>(step: () => T, onError?: (error: unknown) => void): T | undefined {
  try {
    return step()
  } catch (error) {
    onError?.(error)
    return undefined
  }
}

/** The same logger, for code that must go on even if a line can't be written. */
export function guardedLogger(log: Logger): Logger {
  const guarded =
    (level: keyof Logger): Logger['info'] =>
    (message, fields) =>
      quietly(() => log[level](message, fields))
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}
