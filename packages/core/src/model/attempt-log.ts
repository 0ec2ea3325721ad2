// What a handler wrote down while an attempt ran. The worker keeps the latest lines, within bounds, and hands the log over as a
// whole with a renewal: to hand it over twice does no harm, and a store has nothing to add up.

import { InvalidError } from './errors.ts'
import { utf8Length } from './json.ts'

export interface LogLine {
  /** The store's time. */
  readonly at: number
  readonly level: 'info' | 'warn' | 'error'
  /** In one line. */
  readonly text: string
}

export interface AttemptLog {
  /** Oldest first. */
  readonly lines: readonly LogLine[]
  /** Earlier lines that there was no room for. */
  readonly dropped: number
}

/** The log of one attempt among those of its task. */
export interface TaskLog extends AttemptLog {
  readonly attempt: number
}

export const LOG_LINES_MAX = 100
/** Of one attempt's log, as JSON. */
export const LOG_BYTES_MAX = 16_384
/** A task keeps the logs of its last attempts: of as many. */
export const LOG_ATTEMPTS_MAX = 10

/** As stores keep it. `InvalidError` for one that goes beyond the bounds. */
export function attemptLogText({ lines, dropped }: AttemptLog): string {
  if (lines.length > LOG_LINES_MAX) {
    throw new InvalidError(`The log of an attempt has at most ${LOG_LINES_MAX} lines, not ${lines.length}.`)
  }
  const text = JSON.stringify({
    lines: lines.map(({ at, level, text: words }) => ({ at, level, text: words })),
    dropped,
  })
  const bytes = utf8Length(text)
  if (bytes > LOG_BYTES_MAX) {
    throw new InvalidError(`The log of an attempt takes at most ${LOG_BYTES_MAX} bytes, not ${bytes}.`)
  }
  return text
}

/** What stands around the lines. */
const FRAME_BYTES = 100

/** The latest of these lines that fit. */
export function fittingLog(lines: readonly LogLine[], dropped: number): AttemptLog {
  let first = lines.length
  let bytes = FRAME_BYTES
  for (let index = lines.length - 1; index >= Math.max(lines.length - LOG_LINES_MAX, 0); index--) {
    bytes += utf8Length(JSON.stringify(lines[index])) + 1
    if (bytes > LOG_BYTES_MAX) break
    first = index
  }
  return { lines: lines.slice(first), dropped: dropped + first }
}

export const parseAttemptLog = (text: string): AttemptLog => JSON.parse(text) as AttemptLog
