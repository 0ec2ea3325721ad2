// A logger for people: one line per event, fields after the message. Line ends, control characters and terminal
// escapes inside values are shown as text, so that a payload can't forge a line or paint the terminal.

import { type Clock, cut, type Logger, systemClock } from '@reprise/core'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface ConsoleLoggerOptions {
  /** The least severe level that is shown; 'info' if not given. */
  readonly level?: LogLevel
  /** Takes one line without its line end; standard error if not given. */
  readonly write?: (line: string) => void
  readonly clock?: Clock
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
const VALUE_LENGTH_MAX = 1_000
// Everything a terminal or a log reader takes for more than text; C1 codes and the two Unicode line ends included.
const UNSAFE = /[\p{Cc}\u2028\u2029]/gu

export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const clock = options.clock ?? systemClock
  // The console outlives a reader that has gone, and a full disk.
  const write = options.write ?? ((line: string): void => console.error(line))
  const shown = LEVELS.slice(LEVELS.indexOf(options.level ?? 'info'))
  const at =
    (level: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      if (!shown.includes(level)) return
      write(`${new Date(clock.now()).toISOString()} ${level.toUpperCase()} ${lineText(message, fields)}`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A message and its fields in one line. */
export function lineText(message: string, fields: Readonly<Record<string, unknown>> = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${safe(name)}=${safe(valueText(value))}`)
  return [safe(String(message)), ...pairs].join(' ')
}

function valueText(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'string') return /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value)
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return '[can not be shown]'
  }
}

function safe(text: string): string {
  return cut(text, VALUE_LENGTH_MAX).replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
