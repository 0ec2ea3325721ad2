// Where settings come from, and in which order; what is refused, and how.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Given, inspectConfiguration, problemText, resolveConfiguration } from '../src/configuration/resolve.ts'
import { settingDefaults } from '../src/configuration/setting-defaults.ts'
import type { SettingName } from '../src/configuration/settings.ts'
import { SETTING_NAMES, SETTINGS } from '../src/configuration/settings.ts'
import { shownAddress, storeAddress } from '../src/configuration/store-address.ts'
import { type ShellOptions, shell } from './shell.ts'

function given({ flags = {}, ...options }: ShellOptions & { readonly flags?: Given['flags'] }): Given {
  const { folder } = shell(options)
  return { flags, env: options.env ?? {}, cwd: folder }
}

const file = (text: string) => ({ files: { 'reprise.yaml': text } })

async function problemsOf(from: Given): Promise<string[]> {
  return (await inspectConfiguration(from)).problems.map(problemText)
}

test('a file in another encoding than UTF-8 is refused, rather than read as something that nobody wrote', async () => {
  const from = given({})
  writeFileSync(join(from.cwd, 'reprise.yaml'), Buffer.from('redis: { prefix: "caf\xe9" }', 'latin1'))
  expect((await problemsOf(from)).join()).toContain('not a text in UTF-8')
})

describe('A14: flag before environment before file before default', () => {
  const layers = [
    { flags: {}, env: {}, text: '{}', value: 7440, from: 'default' },
    { flags: {}, env: {}, text: '# a comment\nport: 1', value: 1, from: 'reprise.yaml:2' },
    { flags: {}, env: { REPRISE_PORT: '2' }, text: 'port: 1', value: 2, from: 'environment REPRISE_PORT' },
    { flags: { port: '3' }, env: { REPRISE_PORT: '2' }, text: 'port: 1', value: 3, from: 'flag --port' },
    { flags: {}, env: { REPRISE_PORT: ' ' }, text: 'port: 1', value: 1, from: 'reprise.yaml:1' },
  ]
  test.each(layers)('the port comes from $from', async ({ flags, env, text, value, from }) => {
    const { values, origins } = await resolveConfiguration(given({ flags, env, ...file(text) }))
    expect(values.port).toBe(value)
    expect(origins.port.text).toBe(from)
  })

  test.each([
    [
      'REPRISE_ENGINE',
      { REPRISE_ENGINE: 'redis://a', TASK_TRACKING_REDIS_URL: 'redis://b', REDIS_URL: 'redis://c' },
      'redis://a',
    ],
    ['TASK_TRACKING_REDIS_URL', { TASK_TRACKING_REDIS_URL: 'redis://b', REDIS_URL: 'redis://c' }, 'redis://b'],
    ['REDIS_URL', { REDIS_URL: 'redis://c' }, 'redis://c'],
  ])('the store comes from %s before those after it', async (name, env, address) => {
    const resolved = await resolveConfiguration(given({ env, ...file('engine: sqlite:./x.db') }))
    expect(storeAddress(resolved)).toBe(address)
    expect(resolved.origins.engine.text).toBe(`environment ${name}`)
  })

  const known: readonly (readonly [SettingName, string, string, unknown])[] = [
    ['redisPrefix', 'EXECUTIONS_REDIS_KEY_PREFIX', 'executions', 'executions'],
    ['maxRetries', 'MAX_RETRIES', '3', 3],
    ['maxRetries', 'REPRISE_MAX_RETRIES', '3', 3],
    ['environment', 'ENV', 'local', 'local'],
    ['environment', 'REPRISE_ENV', 'local', 'local'],
    ['googleClientIds', 'TASK_DASHBOARD_GOOGLE_CLIENT_IDS', 'one, two', ['one', 'two']],
  ]
  test.each(known)('A14: the setting %s is read from %s', async (name, variable, text, value) => {
    const { values } = await resolveConfiguration(given({ env: { [variable]: text } }))
    expect(values[name]).toEqual(value)
  })

  test('the address in IMPLEMENTATION_SQS_QUEUE_URL is read and checked', async () => {
    const env = { IMPLEMENTATION_SQS_QUEUE_URL: 'https://sqs.example/q' }
    expect((await resolveConfiguration(given({ env }))).values.sqsQueueUrl).toBe('https://sqs.example/q')
    const problems = await problemsOf(given({ env: { IMPLEMENTATION_SQS_QUEUE_URL: 'q' } }))
    expect(problems).toEqual([expect.stringContaining('IMPLEMENTATION_SQS_QUEUE_URL')])
  })
})

describe('secrets', () => {
  test('come from a file, without the line end, and are never shown', async () => {
    const from = shell({ files: { secret: 'abc-123\n' }, env: { REPRISE_TOKEN_FILE: 'secret' } })
    const { values, origins } = await resolveConfiguration({
      flags: {},
      env: { REPRISE_TOKEN_FILE: 'secret' },
      cwd: from.folder,
    })
    expect(values.token).toBe('abc-123')
    expect(origins.token.text).toBe('environment REPRISE_TOKEN_FILE')
    for (const format of ['table', 'json']) {
      const { stdout } = await from.reprise('config', 'print', '-o', format)
      expect(stdout).toContain('[redacted]')
      expect(stdout).not.toContain('abc-123')
    }
  })

  test('a password in the address of a store is not shown either', async () => {
    const { reprise } = shell({ env: { REDIS_URL: 'redis://user:p%40ss@host:6379' } })
    const { stdout } = await reprise('config', 'print')
    expect(stdout).toContain('redis://[redacted]@host:6379')
    expect(stdout).not.toContain('p%40ss')
    expect(shownAddress('redis://u:p@one,u:p@two')).not.toContain('p@')
  })

  test('nor is what launched commands get in their environment', async () => {
    const command = { argv: ['x'], env: { API_KEY: 'hush' } }
    const launch = [{ pool: 'p', slots: 1, process: { commands: { a: command } } }]
    const { stdout } = await shell(file(JSON.stringify({ pools: { launch } }))).reprise('config', 'print', '--set')
    expect(stdout).toContain('"API_KEY":"[redacted]"')
    expect(stdout).not.toContain('hush')
  })

  test.each([
    [{ REPRISE_TOKEN: 'a', REPRISE_TOKEN_FILE: 'b' }, 'Both REPRISE_TOKEN and REPRISE_TOKEN_FILE are set'],
    [{ REPRISE_TOKEN_FILE: 'nowhere' }, "can't be read"],
    [{ REPRISE_TOKEN_FILE: 'empty' }, 'is empty'],
  ])('%j is refused', async (env, message) => {
    const problems = await problemsOf(given({ env, files: { empty: ' \n' } }))
    expect(problems).toEqual([expect.stringContaining(message)])
  })

  test('do not stand in the configuration file', async () => {
    const problems = await problemsOf(given(file('token: abc\noidc: { client_secret: abc }')))
    expect(problems).toEqual([
      expect.stringContaining('REPRISE_TOKEN_FILE'),
      expect.stringContaining('REPRISE_OIDC_CLIENT_SECRET_FILE'),
    ])
    expect(problems.join()).not.toContain('abc')
  })
})

const POOL = { pool: 'p', slots: 1, process: { commands: { 'send-mail': { argv: 'send' } } } }

describe('the configuration file', () => {
  test.each([
    ['prot: 1', "reprise.yaml:1:1: prot: There is no such setting. Did you mean 'port'?"],
    ['oidc:\n  isuer: x', "reprise.yaml:2:3: oidc.isuer: There is no such setting. Did you mean 'issuer'?"],
    ['oidc: x', 'reprise.yaml:1:7: oidc: This must be a map.'],
    ['port: eighty', "reprise.yaml:1:7: port: This must be a whole number from 0 to 65535, not 'eighty'."],
    [
      'stop_grace: 30',
      'reprise.yaml:1:13: stop_grace: This must be a duration with its unit, such as 500ms, 30s, 5m or 2h, not 30.',
    ],
    ['limits: { body: 10 }', 'reprise.yaml:1:17: limits.body: This must be a size'],
    ['[1]', 'reprise.yaml:1:1: This must be a map of settings.'],
    ['port: 1\nport: 2', 'reprise.yaml:2:1: port: This field stands here twice.'],
    ['a: &x 1\nport: *x', 'reprise.yaml:2:7: port: The alias *x is not allowed. Write it out.'],
    ['access:\n  - { role: admin }', 'reprise.yaml:2:5: access[0]: A rule of access says exactly one of'],
    [
      'access:\n  - { role: boss, anyone: true }',
      'reprise.yaml:2:13: access[0].role: This must be one of viewer, operator, admin',
    ],
    [
      'access:\n  - { role: admin, domain: "@x.org" }',
      'reprise.yaml:2:28: access[0].domain: This must be what stands after',
    ],
    [
      'pools:\n  launch:\n    - pool: a\n      slots: 1',
      'reprise.yaml:3:7: pools.launch[0]: A launch pool has exactly one of',
    ],
    ['pools:\n  launch:\n    - &a { pool: a }', 'reprise.yaml:3:10: pools.launch[0]: The anchor &a is not allowed'],
    [
      JSON.stringify({ pools: { launch: [POOL, POOL] } }),
      "pools.launch[1].pool: Another launch pool is named 'p' already.",
    ],
    [
      'retention: { succeded: 7d }',
      "reprise.yaml:1:14: retention.succeded: There is no such field in retention. Did you mean 'succeeded'?",
    ],
    [
      'retention: { dead: 90d }',
      "reprise.yaml:1:20: retention.dead: This must be the retention of dead letters (after, export_to), not '90d'.",
    ],
    ['retention: { dead: { after: 90d } }', "retention.dead: The field 'export_to' is missing."],
    ['redact: { patterns: ["("] }', 'reprise.yaml:1:22: redact.patterns[0]: '],
  ])('%j is refused with its place', async (text, message) => {
    expect(await problemsOf(given(file(text)))).toContainEqual(expect.stringContaining(message))
  })

  test('all problems are told at once, and config check exits with 2', async () => {
    const { reprise } = shell({ env: { REPRISE_PORT: 'x' }, ...file('prot: 1\nhost: 2') })
    const { exitCode, stdout } = await reprise('config', 'check', '-o', 'json')
    expect(exitCode).toBe(2)
    const { ok, problems } = JSON.parse(stdout) as { ok: boolean; problems: { place: string }[] }
    expect(ok).toBe(false)
    expect(problems.map(({ place }) => place)).toEqual([
      'reprise.yaml:1:1',
      'reprise.yaml:2:7',
      'environment REPRISE_PORT',
    ])
    expect((await reprise('config', 'print')).exitCode).toBe(2)
  })

  test('paths in it are meant from where it stands', async () => {
    const { folder } = shell({ files: { 'etc/reprise.yaml': 'data: ../var\npacks: [packs]' } })
    const { values } = await resolveConfiguration({ flags: { config: 'etc/reprise.yaml' }, env: {}, cwd: folder })
    expect(values.data).toBe(join(folder, 'var'))
    expect(values.packs).toEqual([join(folder, 'etc', 'packs')])
  })

  test('one that is named and is not there is an error, one that is not named is not', async () => {
    const missing = await problemsOf(given({ flags: { config: 'nowhere.yaml' } }))
    expect(missing).toEqual([expect.stringContaining("It can't be read")])
    expect(await problemsOf(given({}))).toEqual([])
  })

  test('a file without text, and one without rights, are told as such', async () => {
    const { folder, reprise } = shell({ files: { 'reprise.yaml': '' } })
    expect((await reprise('config', 'check')).exitCode).toBe(0)
    writeFileSync(join(folder, 'reprise.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
    chmodSync(join(folder, 'reprise.yaml'), 0o600)
    expect((await reprise('config', 'check')).stdout).toContain('not a text in UTF-8')
  })
})

describe('A12: who has which role', () => {
  const rules = [
    { role: 'viewer', domain: 'example.com' },
    { role: 'operator', group: 'ops' },
    { role: 'admin', email: 'ann@example.com' },
    { role: 'viewer', anyone: true, tenants: ['acme', 'blue'] },
  ]
  test('is said in the file, or in a variable', async () => {
    const text = 'example.com=viewer, group:ops=operator, ann@example.com=admin, *=viewer:acme+blue'
    const short = await resolveConfiguration(given({ env: { REPRISE_ROLES: text } }))
    expect(short.values.access).toEqual(rules)
    const long = await resolveConfiguration(given(file(JSON.stringify({ access: rules }))))
    expect(long.values.access).toEqual(rules)
    expect(await problemsOf(given({ env: { REPRISE_ROLES: 'ann@example.com' } }))).toEqual([
      "environment REPRISE_ROLES: This must be who=role, such as example.com=viewer or ann@example.com=admin, not 'ann@example.com'.",
    ])
  })
})

describe('the table of settings', () => {
  test('has no flag, variable or key twice', () => {
    const all = SETTING_NAMES.map((name) => SETTINGS[name])
    for (const names of [
      all.flatMap(({ flag }) => flag ?? []),
      all.flatMap(({ variables }) => variables),
      all.flatMap(({ key }) => key ?? []),
    ]) {
      expect(new Set<string>(names).size).toBe(names.length)
    }
  })

  test('a misspelt variable of ours is pointed out', async () => {
    const { notes } = await inspectConfiguration(given({ env: { REPRISE_PROT: '1', REPRISE_TASK_ID: 'x' } }))
    expect(notes).toEqual(['The variable REPRISE_PROT means nothing here. Did you mean REPRISE_PORT?'])
  })
})

test('C7, C11: what actions leave open is filled in by the file or the environment', async () => {
  const text = 'defaults: { timeout: 30s, queue_ttl: 5m, backoff: { base: 2s, max: 1m } }'
  const { values } = await resolveConfiguration(given({ ...file(text), env: { REPRISE_DEFAULT_TIMEOUT: '1m' } }))
  const backoff = { kind: 'exponential', baseMs: 2_000, multiplier: 2, maxMs: 60_000, jitter: 0.2 }
  expect(settingDefaults(values)).toEqual({ timeout: 60_000, queueTtl: 300_000, backoff })
  expect(settingDefaults((await resolveConfiguration(given({}))).values)).toEqual({})
  const problems = await problemsOf(given(file('defaults: { backoff: { bsae: 2s } }')))
  expect(problems).toEqual([expect.stringContaining('bsae')])
})

test('C10: thresholds of the monitoring are pairs, by figure', async () => {
  const text = 'monitoring: { thresholds: { retry_rate: { warning: 0.1, critical: 0.3 } } }'
  const { values } = await resolveConfiguration(given(file(text)))
  expect(values.monitoringThresholds).toEqual({ retryRate: { warning: 0.1, critical: 0.3 } })
  const odd = 'monitoring: { thresholds: { dead: { warning: 9, critical: 3 } } }'
  expect(await problemsOf(given(file(odd)))).toEqual([
    expect.stringContaining("'warning' must not be above 'critical'"),
  ])
})

test('C5, C11, D1: thresholds of health, and the switch, are read as a whole', async () => {
  const { values } = await resolveConfiguration(given(file('health: { thresholds: { heartbeat_ttl: 15s } }')))
  expect(values.healthThresholds).toMatchObject({ heartbeatStaleMs: 15_000, failuresDegraded: 3, enabled: true })
  const off = await resolveConfiguration(given(file('health: { thresholds: { enabled: false } }')))
  expect(off.values.healthThresholds).toMatchObject({ enabled: false, failuresDegraded: 3 })
  expect(await problemsOf(given(file('health: { thresholds: { heartbeat: 15s } }')))).toEqual([
    expect.stringContaining("no threshold 'heartbeat'"),
  ])
})

describe('the address of the store', () => {
  test.each([
    [{}, 'sqlite:{folder}/.reprise/reprise.db'],
    [{ REPRISE_DATA: 'var' }, 'sqlite:{folder}/var/reprise.db'],
    [{ REPRISE_ENGINE: 'sqlite:x.db?durability=fast' }, 'sqlite:{folder}/x.db?durability=fast'],
    [{ REPRISE_ENGINE: 'sqlite::memory:' }, 'sqlite::memory:'],
    [{ REDIS_URL: 'redis://h', EXECUTIONS_REDIS_KEY_PREFIX: 'p' }, 'redis://h?prefix=p'],
    [{ REDIS_URL: 'redis://h?prefix=q', EXECUTIONS_REDIS_KEY_PREFIX: 'p' }, 'redis://h?prefix=q'],
    [{ REDIS_URL: 'redis://h?partitions=2', EXECUTIONS_REDIS_KEY_PREFIX: 'p' }, 'redis://h?partitions=2&prefix=p'],
    [{ REPRISE_MAX_BACKLOG: '5' }, 'sqlite:{folder}/.reprise/reprise.db?max_backlog=5'],
    [{ REPRISE_ENGINE: 'sqlite::memory:', REPRISE_MAX_BACKLOG: '5' }, 'sqlite::memory:?max_backlog=5'],
    [{ REDIS_URL: 'redis://h?max_backlog=7', REPRISE_MAX_BACKLOG: '5' }, 'redis://h?max_backlog=7'],
  ])('of %j is %s', async (env, expected) => {
    const from = given({ env })
    const address = storeAddress(await resolveConfiguration(from))
    expect(address).toBe(expected.replace('{folder}', from.cwd))
  })

  test('B8: the bound of the backlog stands in the file as well', async () => {
    const resolved = await resolveConfiguration(given(file('engine: redis://h\nlimits: { backlog: 9 }')))
    expect(storeAddress(resolved)).toBe('redis://h?max_backlog=9')
  })
})
