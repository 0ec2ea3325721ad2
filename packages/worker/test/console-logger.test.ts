// The console logger: one line per event, whatever is in it.

import { VirtualClock } from '@reprise/core'
import { consoleLogger } from '@reprise/worker'
import { expect, test } from 'vitest'

function logged(use: (log: ReturnType<typeof consoleLogger>) => void, level: 'debug' | 'warn' = 'debug'): string[] {
  const lines: string[] = []
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  use(consoleLogger({ clock, level, write: (line) => lines.push(line) }))
  return lines
}

test('a line has a time, a level, the message and its fields', () => {
  expect(logged((log) => log.info('It runs.', { worker: 'w1', tasks: 5, note: 'two words', none: null }))).toEqual([
    '2030-01-01T00:00:00.000Z INFO It runs. worker=w1 tasks=5 note="two words" none=null',
  ])
})

test('line ends and terminal escapes are shown, not obeyed', () => {
  const nasty = 'a\r\nFORGED \u001b[31mred\u009b1m\u2028end'
  const [line = '', ...more] = logged((log) => log.error(nasty, { [nasty]: nasty, error: new Error(nasty) }))
  expect(more).toEqual([])
  expect(line).not.toMatch(/[\p{Cc}\u2028]/u)
  expect(line).toContain('\\u001b[31mred')
  expect(line).toContain('Error: a')
})

test('what has no JSON form does not break it, and long values are cut', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const [line = ''] = logged((log) =>
    log.warn('odd', { circular, big: 1n, nothing: undefined, long: 'x'.repeat(5_000) }),
  )
  expect(line).toContain('circular=[can not be shown] big=[can not be shown] nothing=undefined')
  expect(line.length).toBeLessThan(1_500)
})

test('levels below the chosen one are left out', () => {
  const lines = logged((log) => {
    log.debug('1')
    log.info('2')
    log.warn('3')
    log.error('4')
  }, 'warn')
  expect(lines.map((line) => line.at(-1))).toEqual(['3', '4'])
})
