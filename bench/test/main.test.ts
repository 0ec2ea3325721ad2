// A tiny real run: the report has the promised form, and the exit code is 0 whatever the figures say.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const aNumber: unknown = expect.any(Number)
const root = join(import.meta.dirname, '..', '..')

const OPTIONS = ['--conditions=reprise-source', '--expose-gc', '--no-warnings', 'bench/src/main.ts']

function bench(...words: string[]) {
  return spawnSync(process.execPath, [...OPTIONS, ...words], { cwd: root, encoding: 'utf8' })
}

test('prints a table, and the report as the last line', () => {
  const { status, stdout, stderr } = bench('--tasks', '500', '--only', 'process', '--quick', '--no-peers', '--json')
  expect(stderr).toContain('measuring without the peer')
  expect(status).toBe(0)
  expect(stdout).toContain('process, ours / limit')
  const report: unknown = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  expect(report).toEqual({
    engine: 'sqlite',
    mode: 'fast',
    tasks: 500,
    ours: { submit: aNumber, process: aNumber },
    peers: {},
    limit: { submit: aNumber, process: aNumber },
    ratios: {
      process: null,
      submit: null,
      limit: aNumber,
      limitSubmit: aNumber,
      backlog: null,
      processDurable: null,
      submitDurable: null,
      limitDurable: null,
      job: null,
      redrive: null,
      avalanche: null,
    },
  })
})

test('every scenario of ours runs', () => {
  const only = ['--only', 'backlog,mixed,latency']
  const { status, stdout, stderr } = bench(
    '--tasks',
    '300',
    '--mode',
    'fast',
    ...only,
    '--quick',
    '--no-peers',
    '--json',
  )
  expect({ status, stderr }).toMatchObject({ status: 0 })
  const { ours } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { ours: Record<string, number> }
  expect(Object.keys(ours).toSorted()).toEqual([
    'backlogLarge',
    'backlogSmall',
    'latencyAcrossProcessesP50Ms',
    'latencyAcrossProcessesP99Ms',
    'latencyInProcessP50Ms',
    'latencyInProcessP99Ms',
    'memoryMb',
    'memorySmallMb',
    'mixed',
  ])
}, 300_000)

test('the report on Redis has the same form', () => {
  const only = ['--only', 'submit,memory']
  const { status, stdout, stderr } = bench(
    '--engine',
    'redis',
    ...only,
    '--tasks',
    '300',
    '--quick',
    '--no-peers',
    '--json',
  )
  expect({ status, stderr }).toMatchObject({ status: 0 })
  const report: unknown = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  expect(report).toEqual({
    engine: 'redis',
    mode: 'fast',
    tasks: 300,
    ours: { submit: aNumber, memoryPerTaskBytes: aNumber },
    peers: {},
    limit: { submit: aNumber, memoryPerTaskBytes: aNumber },
    ratios: {
      process: null,
      submit: null,
      memory: null,
      latencyP50: null,
      latencyP99: null,
      lateness: null,
      latenessCluster: null,
      limit: null,
      backlog: null,
      processes: null,
      redrive: null,
      avalanche: null,
    },
  })
})

test('says what is missing where there is no redis-server', () => {
  const words = ['--engine', 'redis', '--quick', '--no-peers']
  const { status, stderr } = spawnSync(process.execPath, [...OPTIONS, ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: '' },
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^There is nothing to measure on: redis-server is missing/)
})

test('help is given, and a wrong word is refused with exit code 2', () => {
  const help = bench('--help')
  expect(help.status).toBe(0)
  expect(help.stdout).toContain('Usage: npm run bench')
  const refused = bench('--engine', 'none')
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain("not 'none'")
})
