// What `npm run demo` runs, as a real process and without a terminal: it ends well, its sums add up, and it prints plain
// text. How it looks on a terminal is for a person to judge.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRedis } from '@reprise/test-servers'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../../examples/demo/src/main.ts', import.meta.url))
const RUN_MS_MAX = 120_000

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

let temporary: string

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'reprise-demo-test-'))
})

afterEach(() => {
  rmSync(temporary, { recursive: true, force: true })
})

/** `until` sees what was printed so far, and may end the process with a signal. */
function demo(words: readonly string[], until?: (stdout: string) => NodeJS.Signals | null): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // FORCE_COLOR, which test runners like to set, must not bring colours into a pipe.
    const { NO_COLOR: _, ...inherited } = process.env
    const env = { ...inherited, TMPDIR: temporary, FORCE_COLOR: '1' }
    const child = spawn(process.execPath, ['--conditions=reprise-source', MAIN, ...words], { env })
    let stdout = ''
    let stderr = ''
    let isSignalled = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const signal = isSignalled ? null : (until?.(stdout) ?? null)
      if (signal !== null) isSignalled = child.kill(signal)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** The two numbers of a row of the closing table; NaN where there is none. */
function row(stdout: string, label: string): readonly [number, number] {
  const line = stdout.split('\n').find((text) => text.trimStart().startsWith(`${label} `)) ?? ''
  const [one = '', other = ''] = line.trim().slice(label.length).trim().split(/\s+/)
  const number = (text: string): number => (text === '' ? Number.NaN : Number(text.replaceAll(',', '')))
  return [number(one), number(other)]
}

test('the demo ends, and its sums add up', { timeout: RUN_MS_MAX }, async () => {
  const { code, stdout, stderr } = await demo(['--tasks', '120', '--seed', '3'])
  expect({ code, stderr }, `It printed:\n${stdout}`).toEqual({ code: 0, stderr: '' })

  const table = stdout.slice(stdout.indexOf('\nTasks '))
  const [accepted, found] = row(table, 'accepted')
  const ends = ['succeeded', 'dead', 'cancelled', 'discarded', 'unfinished'].map((end) => row(table, end))
  const total = (column: 0 | 1): number => ends.reduce((sum, end) => sum + end[column], 0)
  expect([accepted, found, total(0), total(1)]).toEqual([120, 120, 120, 120])
  expect(row(table, 'unfinished')).toEqual([0, 0])

  const [succeeded] = row(table, 'succeeded')
  const [dead] = row(table, 'dead')
  const [made] = row(table, 'made')
  const [failed, failedInJournal] = row(table, 'failed')
  const [lost, lostInJournal] = row(table, 'lost with a worker')
  expect(made).toBe(succeeded + failed + lost)
  expect([failed, lost]).toEqual([failedInJournal, lostInJournal])
  expect(row(table, 'retries')).toEqual([made - 120, made - 120])

  const groups = [...table.matchAll(/^ *([\d,]+) × /gm)].map(([, count = '']) => Number(count.replaceAll(',', '')))
  expect(groups.reduce((sum, count) => sum + count, 0)).toBe(dead)
  expect(stdout).toContain(`Nothing lost: 120 accepted = ${succeeded} succeeded + ${dead} dead.`)
  // Each kind of trouble was really met.
  expect(stdout).toMatch(/worker-\d killed \(SIGKILL\)/)
  expect(table).toContain('crash_loop')
  expect(table).toContain('retries_exhausted')

  // No codes for colours or the cursor: nothing but text and line ends.
  expect(stdout.split('').filter((unit) => unit < ' ' && unit !== '\n')).toEqual([])
  expect(readdirSync(temporary)).toEqual([])
})

test('a run past its time limit says what is left, and fails', { timeout: RUN_MS_MAX }, async () => {
  const { code, stdout } = await demo(['--tasks', '100', '--time-limit', '500ms'])
  expect(code, `It printed:\n${stdout}`).toBe(1)
  expect(stdout).toMatch(/The time limit of 500ms is over\. \d+ tasks have not ended:\n {2}\S+: \S/)
  expect(stdout).not.toContain('Nothing lost')
  expect(readdirSync(temporary)).toEqual([])
})

test('an interrupted run cleans up', { timeout: RUN_MS_MAX }, async () => {
  const { code, stdout } = await demo(['--tasks', '500'], (text) => (/ended, /.test(text) ? 'SIGINT' : null))
  expect(code, `It printed:\n${stdout}`).toBe(130)
  expect(stdout).toContain('Interrupted.')
  expect(readdirSync(temporary)).toEqual([])
})

test.each([
  ['an unknown option', ['--tusks', '5']],
  ['too few tasks', ['--tasks', '1']],
  ['a seed that is no number', ['--seed', 'x']],
])('%s gives the usage, and exit code 2', async (_what, words) => {
  const { code, stdout, stderr } = await demo(words)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('Usage: npm run demo -- [options]')
})

test('--help shows the usage', async () => {
  const { code, stdout } = await demo(['--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('--tasks N')
})

test('it runs on Redis as well, beside what is there, and says so if it can not', { timeout: RUN_MS_MAX }, async () => {
  const server = await startRedis()
  try {
    await server.command('SET', 'reprise/store', 'something of somebody else')
    const { code, stdout } = await demo(['--tasks', '100', '--engine', server.url])
    expect(stdout).toContain('Nothing lost')
    expect(code).toBe(0)
    expect(await server.command('GET', 'reprise/store')).toBe('something of somebody else')
  } finally {
    await server.stop()
  }
  const { code, stderr } = await demo(['--engine', 'postgres://localhost'])
  expect([code, stderr]).toEqual([1, expect.stringContaining("There is no engine 'postgres'")])
})
