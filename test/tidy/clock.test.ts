// Nothing in the workspace reads the host's clock or dice behind our back, and the check sees each way of doing so.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clockAllowList, clockProblems } from './checks/clock.ts'
import { readFiles, root } from './checks/source.ts'

const steered = ['core', 'engine-*', 'orchestrator', 'worker', 'client'].map((name) => `packages/${name}/src/**/*.ts`)

test('time and chance are injected everywhere', () => {
  const files = readFiles(...steered)
  expect(files.length).toBeGreaterThan(0)
  expect(clockProblems(files)).toEqual([])
})

test('every file on the allow-list exists', () => {
  expect(Object.keys(clockAllowList).filter((path) => !existsSync(join(root, path)))).toEqual([])
})

const path = 'packages/worker/src/loop.ts'

test.each([
  'Date.now()',
  'const now = Date.now',
  "Date['now']()",
  'globalThis.Date.now()',
  'new Date()',
  'new Date',
  'Date()',
  'Math.random()',
  'performance.now()',
  'setTimeout(run, 5)',
  'setInterval(run, 5)',
  'setImmediate(run)',
  'globalThis.setTimeout(run, 5)',
  'const sleep = promisify(setTimeout)',
  'start({ setTimeout })',
  "import { setTimeout as sleep } from 'node:timers/promises'",
])('refuses %s', (text) => {
  expect(clockProblems([{ path, text }]).length).toBeGreaterThan(0)
})

test.each([
  '// Date.now() would be wrong here',
  "const text = 'Math.random()'",
  'new Date(clock.now())',
  'clock.setTimeout(run, 5)',
  'const clock = { setTimeout: run }',
  'type Timer = ReturnType<typeof setTimeout>',
  'interface Clock { setTimeout(run: () => void, delayMs: number): void }',
])('lets through %s', (text) => {
  expect(clockProblems([{ path, text }])).toEqual([])
})

test('lets through what is on the allow-list', () => {
  expect(clockProblems([{ path, text: 'Date.now()' }], { [path]: 'a reason' })).toEqual([])
})
