// The command line: defaults, and a clear refusal of everything that is not known.

import { expect, test } from 'vitest'
import { parseArguments, SCENARIOS, UsageError } from '../src/arguments.ts'
import { planOf } from '../src/plan.ts'

test('without options everything is measured, with the peer', () => {
  expect(parseArguments([])).toEqual({
    engine: 'sqlite',
    mode: null,
    scenarios: new Set(SCENARIOS.sqlite),
    tasks: null,
    quick: false,
    peers: true,
    json: false,
    help: false,
  })
})

test('every option is understood', () => {
  const words = '--engine sqlite --mode durable --only process,backlog --tasks 1_000 --quick --no-peers --json --help'
  expect(parseArguments(words.split(' '))).toEqual({
    engine: 'sqlite',
    mode: 'durable',
    scenarios: new Set(['process', 'backlog']),
    tasks: 1_000,
    quick: true,
    peers: false,
    json: true,
    help: true,
  })
})

test('a run in one mode leaves out the comparison in the other', () => {
  expect(parseArguments(['--mode', 'fast']).scenarios.has('durable')).toBe(false)
  expect(() => parseArguments(['--mode', 'fast', '--only', 'durable'])).toThrow(UsageError)
})

test('each engine has scenarios of its own', () => {
  expect(parseArguments(['--engine', 'redis']).scenarios).toEqual(new Set(SCENARIOS.redis))
  expect(parseArguments(['--engine', 'redis', '--only', 'memory']).scenarios).toEqual(new Set(['memory']))
  expect(() => parseArguments(['--only', 'memory'])).toThrow(UsageError)
})

test.each([
  [['--engine', 'oracle'], /--engine knows sqlite, redis, not 'oracle'/],
  [['--mode', 'safe'], /--mode knows fast, durable, not 'safe'/],
  [['--only', 'process,everything'], /--only knows .*not 'everything'/],
  [['--tasks', '0'], /--tasks is a whole number/],
  [['--tasks', 'many'], /--tasks is a whole number/],
  [['--fast'], /--fast/],
  [['fast'], /fast/],
])('refuses %j', (words, message) => {
  expect(() => parseArguments(words)).toThrow(UsageError)
  expect(() => parseArguments(words)).toThrow(message)
})

test.each(['sqlite', 'redis'] as const)('--tasks bounds what is worked off on %s', (engine) => {
  const plan = planOf({ engine, quick: false, tasks: 100 })
  expect(plan.tasks).toEqual({ fast: 100, durable: 100 })
  const { warmupTasks, mixedTasks, memoryTasks, latencySamples, deadLetters } = plan
  expect(new Set([warmupTasks, mixedTasks, memoryTasks, latencySamples, deadLetters])).toEqual(new Set([100]))
  expect([plan.backlog.processed, plan.delayed.tasks]).toEqual([100, 100])
})
