// The command line: defaults, and a clear refusal of everything that is not known.

import { expect, test } from 'vitest'
import { parseArguments, SCENARIOS, UsageError } from '../src/arguments.ts'
import { planOf } from '../src/plan.ts'

test('without options everything is measured, with the peer', () => {
  expect(parseArguments([])).toEqual({
    engine: 'sqlite',
    mode: null,
    scenarios: new Set(SCENARIOS),
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

test.each([
  [['--engine', 'oracle'], /--engine knows sqlite, not 'oracle'/],
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

test('--tasks bounds every part of the plan', () => {
  const plan = planOf({ quick: false, tasks: 500 })
  expect(plan.tasks).toEqual({ fast: 500, durable: 500 })
  expect(Math.max(plan.warmupTasks, plan.mixedTasks, plan.backlog.processed)).toBe(500)
})
