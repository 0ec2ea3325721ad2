// The log of a process, behind core's Logger port: JSON lines by pino for programs, or plain lines for a person at a terminal.
// One event is one line in both: line ends, terminal escapes and other control characters in values are shown as text. JSON has
// every field; plain lines have those that tell a person something.

import {
  type Clock,
  escapeUnseen,
  escapeUnseenButLines,
  formatDuration,
  InvalidError,
  type Logger,
  systemClock,
} from '@reprise/core'
import { destination, pino } from './commonjs.ts'
import { type Fields, lineReader, type RedactedOptions } from './log-values.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LOG_FORMATS = ['json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

export interface LogOptions extends RedactedOptions {
  /** The least severe level that is written; `info` if not given. */
  readonly level?: LogLevel
  /** `text` at a terminal and `json` elsewhere, if not given. */
  readonly format?: LogFormat
  /** Where lines go; `stdout` if not given. A command whose output is data uses `stderr`. */
  readonly to?: 'stdout' | 'stderr'
  /** Takes one line with its line end, instead of `to`. */
  readonly write?: (line: string) => void
  /** On every line, such as the name of the service. */
  readonly base?: Fields
  readonly clock?: Clock
}

export function createLog(options: LogOptions = {}): Logger {
  const { level = 'info', to = 'stdout', clock = systemClock } = options
  checkOneOf('log level', level, LOG_LEVELS)
  const format = options.format ?? (options.write === undefined && process[to].isTTY ? 'text' : 'json')
  checkOneOf('log format', format, LOG_FORMATS)
  const write = options.write ?? writerTo(to)
  const emit = format === 'json' ? jsonEmitter(level, write, clock) : textEmitter(level, write, clock)
  const read = lineReader(options, options.base ?? {})
  const rank = LOG_LEVELS.indexOf(level)
  const at = (own: keyof Logger): Logger['info'] => {
    if (LOG_LEVELS.indexOf(own) < rank) return () => undefined
    return (message, fields) => {
      const line = read(message, fields)
      emit(own, line.message, line.fields)
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function checkOneOf(what: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return
  throw new InvalidError(`The ${what} is one of ${known.join(', ')}, not '${String(value).slice(0, 40)}'.`)
}

type Emit = (level: keyof Logger, message: string, fields: Fields) => void

function writerTo(to: 'stdout' | 'stderr'): (line: string) => void {
  // Written before the call comes back: the last line before a crash is the one that matters.
  const out = destination({ dest: process[to].fd, sync: true })
  // The reader of the log has gone; the process goes on.
  out.on('error', () => undefined)
  return (line) => void out.write(line)
}

function jsonEmitter(level: LogLevel, write: (line: string) => void, clock: Clock): Emit {
  const log = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    // JSON escapes what is below a space, and nothing else of what a terminal obeys. The rest can only be inside of texts, where
    // such an escape means the same.
    { write: (line: string) => write(escapeUnseenButLines(line)) },
  )
  return (own, message, fields) => log[own]({ ...fields }, message)
}

/** For programs, or said by the message already. */
const NOT_FOR_PEOPLE = new Set(['service', 'event', 'dlq_flag', 'request_id', 'route', 'trace_id', 'span_id'])
const REQUEST = 'http.request'

function textEmitter(level: LogLevel, write: (line: string) => void, clock: Clock): Emit {
  return (given, message, fields) => {
    // A person at a terminal makes many requests: lines about them would hide the others.
    const own = given === 'info' && fields.event === REQUEST ? 'debug' : given
    if (own === 'debug' && level !== 'debug') return
    const now = clock.now()
    const pairs = Object.entries(tellingFields(message, fields, now)).map(
      ([key, value]) => `${valueText(key)}=${valueText(value)}`,
    )
    const time = new Date(now).toISOString().slice(TIME_OF_DAY.from, TIME_OF_DAY.to)
    const line = [`${time}Z`, own.toUpperCase().padEnd(5), message, ...pairs].join(' ')
    write(`${escapeUnseen(line)}\n`)
  }
}

/** Of 2030-01-01T10:20:30.400Z. */
const TIME_OF_DAY = { from: 11, to: 19 }

/** Without what is nothing, what is not so, and what stands there already. */
function tellingFields(message: string, fields: Fields, now: number): Fields {
  const telling = Object.entries(fields).filter(
    ([key, value]) => value !== undefined && value !== null && value !== false && !NOT_FOR_PEOPLE.has(key),
  )
  const { next_retry_at: nextAt, error_code: code, retry_token: token, ...rest } = Object.fromEntries(telling)
  const inMs = typeof nextAt === 'string' ? Date.parse(nextAt) - now : Number.NaN
  const words = inMs > 0 ? `in ${formatDuration(inMs)}` : null
  const isSaid = / in \d/.test(message)
  return {
    ...rest,
    // A task is found by its id.
    ...(token === undefined || rest.task_id !== undefined ? {} : { retry_token: token }),
    ...(code === undefined || code === rest.reason ? {} : { error_code: code }),
    ...(words === null || isSaid ? {} : { next: words }),
  }
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value)
  return JSON.stringify(value) ?? 'undefined'
}
