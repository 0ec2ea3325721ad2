// Packs: actions declared in YAML, what they have in common, and how each is run.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_BREAKER, DEFAULT_SETTINGS } from '@reprise/core'
import { ConfigurationError, loadPacks, parsePack, TEMPLATES } from '@reprise/policies'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const FILE = 'billing.yaml'
const parse = (text: string) => parsePack(text, FILE)

function problemsOf(text: string): readonly string[] {
  try {
    parse(text)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
  }
  return []
}

describe('C2: a pack', () => {
  test('declares actions; the defaults are 5 minutes, no retries, no queue TTL', () => {
    const pack = parse(`
pack: billing
actions:
  - { name: send-invoice, runtime: node, entrypoint: ./send-invoice.js }
`)
    expect(pack).toMatchObject({ name: 'billing', file: FILE })
    expect(pack.actions).toMatchObject([
      {
        action: {
          name: 'send-invoice',
          pool: 'default',
          settings: { ...DEFAULT_SETTINGS, pack: 'billing' },
          input: null,
          output: null,
          run: null,
          leftOpen: ['timeoutMs', 'queueTtlMs', 'backoff'],
          reconcile: null,
        },
        runtime: 'node',
        entrypoint: { runtime: 'node', module: './send-invoice.js' },
        folder: '.',
      },
    ])
    expect(pack.actions[0]?.action.settings).toMatchObject({ timeoutMs: 300_000, maxRetries: null, queueTtlMs: null })
  })

  test('everything can be set, and the action’s own word counts before the pack’s', () => {
    const { actions } = parse(`
pack: billing
defaults:
  runtime: process
  timeout_seconds: 60
  pool: slow
  max_retries: 2
policy:
  template: patient
  max_losses: 7
  on_lost: hold
  sla: 2h
  quota: { limit: 10, window: 1m }
actions:
  - name: render
    entrypoint: [/usr/bin/render, --page, '1; rm -rf /']
    timeout_seconds: 0.5
    max_retries: 9
    queue_ttl_seconds: 30
    pool: gpu
    uses: [stripe, postgres]
  - name: convert
    entrypoint: /usr/bin/convert
  - name: notify
    runtime: http
    entrypoint: https://plugins.example.com/notify
`)
    const common = {
      maxLosses: 7,
      backoff: TEMPLATES.patient.backoff,
      onLost: 'hold',
      slaMs: 7_200_000,
      pack: 'billing',
      quota: { name: 'billing', windowMs: 60_000, limit: 10, share: null },
    }
    expect(actions.map(({ action }) => [action.name, action.pool])).toEqual([
      ['render', 'gpu'],
      ['convert', 'slow'],
      ['notify', 'slow'],
    ])
    expect(actions[0]?.action.settings).toMatchObject({
      ...common,
      timeoutMs: 500,
      maxRetries: 9,
      queueTtlMs: 30_000,
      breakers: [
        { name: 'dependency:stripe', settings: DEFAULT_BREAKER },
        { name: 'dependency:postgres', settings: DEFAULT_BREAKER },
      ],
    })
    expect(actions[1]?.action.settings).toMatchObject({
      ...common,
      timeoutMs: 60_000,
      maxRetries: 2,
      breakers: [{ name: 'action:convert' }],
    })
    expect(actions.map(({ entrypoint }) => entrypoint)).toEqual([
      { runtime: 'process', argv: ['/usr/bin/render', '--page', '1; rm -rf /'] },
      { runtime: 'process', argv: ['/usr/bin/convert'] },
      { runtime: 'http', url: 'https://plugins.example.com/notify' },
    ])
  })

  test('the retries of its policy count where neither action nor defaults say how many', () => {
    const { actions } = parse(
      'pack: p\npolicy: { retries: 4 }\nactions: [{ name: a, runtime: node, entrypoint: a.js }]',
    )
    expect(actions[0]?.action.settings.maxRetries).toBe(4)
  })
})

describe('C2: what is wrong is told with its place', () => {
  test('several at once', () => {
    expect(
      problemsOf(`pack: billing
defaults: { runtime: ./python }
actions:
  - name: a
    entrypoint: a.js
  - name: a
    runtime: node
    entrypoint: b.js
    max_retries: -1
  - { name: b, runtime: http, entrypoint: 'file:///etc/passwd' }
`),
    ).toEqual([
      "2:22 defaults.runtime: This must be the name of a runtime, not './python'.",
      "6:11 actions[1].name: Another action is named 'a' already.",
      '9:18 actions[1].max_retries: This must be a whole number from 0 to 1000, not -1.',
      '10:43 actions[2].entrypoint: This must be an http or https address.',
    ])
  })

  test.each<[string, string]>([
    ['actions: []', "The field 'pack' is missing"],
    ['pack: p', "The field 'actions' is missing"],
    ['pack: ../p\nactions: []', 'a path that climbs'],
    ['pack: p\npolicy: { rules: [] }\nactions: []', 'There is no such field in the policy of a pack'],
    ['pack: p\nactions: [{ name: a, runtime: node }]', "The field 'entrypoint' is missing"],
    ['pack: p\nactions: [{ name: a, runtime: process, entrypoint: [] }]', 'This list is empty'],
    ['pack: p\nactions: [{ name: a, runtime: http, entrypoint: "http://u:p@h/" }]', 'must not hold a user name'],
    ['pack: p\nactions: [{ name: a, runtime: node, entrypoint: a, timeout_seconds: 0 }]', 'a number from 0.001'],
    [
      'pack: p\nactions: [{ name: a, runtime: node, entrypoint: a, timeout: 5 }]',
      'There is no such field in an action',
    ],
  ])('%s', (text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message)
  })
})

describe('loadPacks', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reprise-packs-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const write = (name: string, text: string | Uint8Array) => writeFile(join(folder, name), text)
  const packOf = (pack: string, action: string) =>
    `pack: ${pack}\nactions: [{ name: ${action}, runtime: node, entrypoint: a.js }]`

  test('reads one file, or all of a folder in the order of their names', async () => {
    await write('b.yml', packOf('b', 'two'))
    await write('a.yaml', packOf('a', 'one'))
    await write('notes.txt', 'not a pack')
    expect((await loadPacks(folder)).map(({ name }) => name)).toEqual(['a', 'b'])
    expect((await loadPacks(join(folder, 'b.yml'))).map(({ name }) => name)).toEqual(['b'])
  })

  test('C11: reads a folder for each pack, with a file for each action', async () => {
    await mkdir(join(folder, 'billing', 'actions'), { recursive: true })
    await mkdir(join(folder, 'empty'))
    await write('billing/pack.yaml', 'defaults: { runtime: python3, timeout_seconds: 60 }\npolicy: { retries: 2 }')
    await write('billing/actions/send-invoice.yaml', 'entrypoint: [send.py, --quiet]\npool: reports')
    await write('billing/actions/sync.yml', 'name: ledger.sync\nruntime: bash\nentrypoint: sync.sh')
    await write('single.yaml', packOf('single', 'one'))
    const [billing, single] = await loadPacks(folder)
    expect([billing?.name, single?.name]).toEqual(['billing', 'single'])
    const inside = join(folder, 'billing', 'actions')
    expect(billing?.actions).toMatchObject([
      {
        action: {
          name: 'send-invoice',
          pool: 'reports',
          settings: { pack: 'billing', timeoutMs: 60_000, maxRetries: 2 },
        },
        runtime: 'python3',
        entrypoint: { runtime: 'process', argv: ['python3', 'send.py', '--quiet'] },
        folder: inside,
      },
      { action: { name: 'ledger.sync' }, runtime: 'bash', entrypoint: { argv: ['bash', 'sync.sh'] }, folder: inside },
    ])
    // A worker of a directed pool must have it (C6).
    expect(billing?.actions[0]?.action.settings.runtime).toBe('python3')
    expect(await loadPacks(join(folder, 'billing'))).toEqual([billing])
    await write('billing/actions/sync.yml', 'entrypoint: 5')
    await write('billing/actions/send-invoice.yaml', 'entrypont: a.py')
    await expect(loadPacks(folder)).rejects.toThrow(/send-invoice\.yaml.*sync\.yml/s)
  })

  test('tells the problems of all files at once', async () => {
    await write('a.yaml', 'pack: a\nactions: 5')
    await write('b.yaml', Uint8Array.of(0xff, 0xfe))
    const refused = loadPacks(folder)
    await expect(refused).rejects.toThrow('has 2 problems')
    await expect(refused).rejects.toThrow('It is not a text in UTF-8')
  })

  test('refuses two actions of one name, and what it can’t read', async () => {
    await write('a.yaml', packOf('a', 'same'))
    await write('b.yaml', packOf('b', 'same'))
    await expect(loadPacks(folder)).rejects.toThrow("The action 'same' of pack 'b' is declared in")
    await expect(loadPacks(join(folder, 'none'))).rejects.toThrow("can't be read")
    await write('large.yaml', `# ${'x'.repeat(300_000)}`)
    await expect(loadPacks(join(folder, 'large.yaml'))).rejects.toThrow('at most 262144 are allowed')
  })
})
