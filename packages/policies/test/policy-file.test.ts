// retry-policies.yaml: what it says becomes a book; what is wrong with it is told with its place, all at once.

import { DEFAULT_BACKOFF, DEFAULT_BREAKER, isRepriseError, NO_POLICIES } from '@reprise/core'
import { ConfigurationError, parsePolicies, TEMPLATES } from '@reprise/policies'
import { describe, expect, test } from 'vitest'

const FILE = 'retry-policies.yaml'
const parse = (text: string) => parsePolicies(text, { file: FILE, version: 3 })
const only = (fields: string) => parse(`policies:\n  - name: p\n${fields.replaceAll(/^/gm, '    ')}`).policies[0]

function problemsOf(text: string): readonly string[] {
  try {
    parse(text)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)
  }
  return []
}

test('C11: automatic retries can be switched off, and the number stays in the file', () => {
  expect(only('retries: 5\nretries_enabled: false')).toMatchObject({ retries: 0 })
  expect(only('template: patient\nretries_enabled: false')).toMatchObject({ retries: 0 })
  expect(only('retries: 5\nretries_enabled: true')).toMatchObject({ retries: 5 })
})

describe('B7: a file of policies', () => {
  test('everything can be set', () => {
    expect(
      parse(`
rules:
  - name: declined
    when: { code: 'card_*', status: [402, 5xx, 520-524], message: '(?i)declined', name: StripeError, reason: [timeout] }
    then: { reason: permanent, retriable: false }
policies:
  - name: payments
    match:
      actions: ['charge-*', refund]
      packs: billing
      tenants: [acme]
    retries: 8
    max_losses: 1
    backoff: { kind: exponential, base: 2s, multiplier: 3, max: 10m, jitter: 0.5 }
    retry_unknown: true
    rules:
      - when: { message: 'try again' }
        then: { reason: transient }
    sla: 1h30m
    quota: { limit: 100, share: 0.2, window: 1m }
    breaker: { window: 1m, min_failures: 3, failure_rate: 0.8, open: 10s, max_open: 2m, probes: 2, max_ramp: 50 }
    on_lost: reconcile
    retry_after: { min: 1s, max: 5m }
    escalation: { severity: critical, owner: team-payments, runbook: refund-by-hand }
`),
    ).toEqual({
      version: 3,
      rules: [
        {
          name: 'declined',
          when: {
            code: ['card_*'],
            status: ['402', '5xx', '520-524'],
            message: '(?i)declined',
            name: ['StripeError'],
            reason: ['timeout'],
          },
          verdict: { reason: 'permanent', retriable: false },
        },
      ],
      policies: [
        {
          name: 'payments',
          match: { actions: ['charge-*', 'refund'], packs: ['billing'], tenants: ['acme'] },
          retries: 8,
          maxLosses: 1,
          backoff: { kind: 'exponential', baseMs: 2_000, multiplier: 3, maxMs: 600_000, jitter: 0.5 },
          retryUnknown: true,
          rules: [{ when: { message: 'try again' }, verdict: { reason: 'transient' } }],
          slaMs: 5_400_000,
          quota: { name: 'payments', windowMs: 60_000, limit: 100, share: 0.2 },
          breaker: {
            windowMs: 60_000,
            minFailures: 3,
            failureRate: 0.8,
            openMs: 10_000,
            maxOpenMs: 120_000,
            probes: 2,
            maxRamp: 50,
          },
          onLost: 'reconcile',
          retryAfter: { minMs: 1_000, maxMs: 300_000 },
          escalation: { severity: 'critical', owner: 'team-payments', runbook: 'refund-by-hand' },
        },
      ],
    })
  })

  test('what is not said is not set: it is left to the action', () => {
    expect(only('')).toEqual({ name: 'p', match: {} })
  })

  test('no policies are no policies, but an empty file is a mistake', () => {
    expect(parse('policies: []')).toEqual({ ...NO_POLICIES, version: 3 })
    expect(problemsOf('')).toEqual(["1:1 : It is empty. Write 'policies: []' if there are to be none."])
    expect(problemsOf('# nothing\n')).toHaveLength(1)
  })

  test('the order of policies is kept', () => {
    expect(parse('policies: [{ name: b }, { name: a }, { name: c }]').policies.map(({ name }) => name)).toEqual([
      'b',
      'a',
      'c',
    ])
  })

  test.each<[string, object]>([
    ['backoff: { kind: fixed, delay: 5s }', { kind: 'fixed', delayMs: 5_000, jitter: 0.2 }],
    ['backoff: { kind: linear, step: 5s, jitter: 0 }', { kind: 'linear', stepMs: 5_000, maxMs: 300_000, jitter: 0 }],
    ['backoff: {}', DEFAULT_BACKOFF],
    ['backoff: { kind: decorrelated, max: 1m }', { kind: 'decorrelated', baseMs: 1_000, maxMs: 60_000 }],
    ['backoff: { kind: schedule, delays: [1s, 1m] }', { kind: 'schedule', delaysMs: [1_000, 60_000], jitter: 0.2 }],
  ])('C4: %s', (field, backoff) => {
    expect(only(field)?.backoff).toEqual(backoff)
  })

  test('a breaker is on with its usual settings, off, or as it is set', () => {
    expect(only('breaker: on')?.breaker).toEqual(DEFAULT_BREAKER)
    expect(only('breaker: off')?.breaker).toBe('off')
    expect(only('breaker: { probes: 9 }')?.breaker).toEqual({ ...DEFAULT_BREAKER, probes: 9 })
  })

  test.each(Object.entries(TEMPLATES))('the template %s stands for what it sets', (name, settings) => {
    expect(only(`template: ${name}`)).toEqual({ name: 'p', match: {}, ...settings })
  })

  test('a policy overrides its template', () => {
    expect(only('template: never\nretries: 2\non_lost: retry')).toEqual({
      name: 'p',
      match: {},
      ...TEMPLATES.never,
      retries: 2,
      onLost: 'retry',
    })
  })
})

describe('B7: what is wrong is told with file, line, column, field and what is allowed', () => {
  test('several at once, in the order of the file', () => {
    const text = `policies:
  - name: first
    retries: many
    backof: { kind: fixed }
  - name: first
    template: pateint
    backoff:
      kind: expo
  - retries: 5000
    sla: 30
  - name: odd
    retries: .nan
`
    expect(problemsOf(text)).toEqual([
      "3:14 policies[0].retries: This must be a whole number from 0 to 1000, not 'many'.",
      "4:5 policies[0].backof: There is no such field in a policy. Did you mean 'backoff'? Known are: name, match, template, retries, retries_enabled, max_losses, backoff, retry_unknown, rules, sla, quota, breaker, on_lost, health_aware, retry_after, escalation.",
      "5:11 policies[1].name: Another policy is named 'first' already.",
      "6:15 policies[1].template: This must be one of default, patient, urgent, never, not 'pateint'. Did you mean 'patient'?",
      "8:13 policies[1].backoff.kind: This must be one of fixed, linear, exponential, decorrelated, schedule, not 'expo'.",
      "9:5 policies[2]: The field 'name' is missing.",
      '9:14 policies[2].retries: This must be a whole number from 0 to 1000, not 5000.',
      '10:10 policies[2].sla: This must be a duration with its unit, such as 500ms, 30s, 5m or 2h, not 30.',
      '12:14 policies[3].retries: This must be a whole number from 0 to 1000, not .nan.',
    ])
  })

  test('in one message for people', () => {
    expect(() => parse('policies: 5')).toThrow(
      'retry-policies.yaml has 1 problem, so it is not used:\n  retry-policies.yaml:1:11: policies: This must be a list, not 5.',
    )
    expect(() => parse('policies: 5')).toThrow(expect.toSatisfy((error) => isRepriseError(error, 'REPRISE_INVALID')))
  })

  test.each<[string, string]>([
    ['match: { actions: [] }', 'This list is empty'],
    ['match: { action: x }', 'There is no such field in a match'],
    ['match: { codes: [x] }\nsla: 5s', 'policies[0].sla: A policy that matches by code can not set an SLA'],
    [
      'match: { tenants: [x] }\nhealth_aware: false',
      'policies[0].health_aware: A policy that matches by tenant or code can not switch this',
    ],
    [
      'sla: 30 min',
      "policies[0].sla: The duration '30 min' is not understood. Write it with its unit and without a space",
    ],
    ['retries:', 'This field has no value'],
    ['retries: 3\nretries: 4', 'stands here twice'],
    [
      'backoff: { kind: fixed, delay: 5s, base: 1s }',
      'There is no such field in a backoff of kind fixed. Known are: kind, delay, jitter.',
    ],
    ['backoff: { kind: fixed }', "The field 'delay' is missing"],
    ['backoff: { jitter: 2 }', 'a number from 0 to 1'],
    ['backoff: { base: soon }', "'soon' is not understood"],
    ['backoff: { kind: schedule, delays: [] }', 'at least one delay'],
    ['breaker: yes', 'one of on, off'],
    ['breaker: { open: 1m, max_open: 5s }', 'longest open time'],
    ['breaker: { failure_rate: 0 }', 'failureRate is a share above 0'],
    ['quota: { window: 1m }', 'a limit, a share, or both'],
    ['quota: { limit: 5 }', "The field 'window' is missing"],
    ['retry_after: { min: 5m, max: 1m }', "'min' is longer than 'max'"],
    ['retry_after: { max: 2d }', 'a duration from 0 ms to 86400000 ms'],
    ['on_lost: shrug', 'one of retry, hold, reconcile'],
    ['escalation: { severity: odd }', 'one of low, normal, high, critical'],
    ['retry_unknown: maybe', 'true or false'],
    ['rules: [{ when: {}, then: { reason: transient } }]', 'would hold for everything'],
    ['rules: [{ when: { code: x } }]', "The field 'then' is missing"],
    ['rules: [{ when: { code: x }, then: { reason: odd } }]', 'This must be one of timeout, queue_timeout'],
    ['rules: [{ when: { status: 200 }, then: { reason: transient } }]', "'200' is no HTTP status"],
    ["rules: [{ when: { message: '(a)\\1' }, then: { reason: transient } }]", 'refers back to a group'],
    ['name: rules', 'stands here twice'],
  ])('%s', (fields, message) => {
    const [problem = 'none', ...more] = problemsOf(`policies:\n  - name: p\n${fields.replaceAll(/^/gm, '    ')}`)
    expect(problem).toContain(message)
    expect(more).toEqual([])
  })

  test('a name that stands for the rules', () => {
    expect(problemsOf('policies: [{ name: rules }]').join()).toContain("No policy can be named 'rules'")
  })
})

describe('intruder 9: refused before anything is made of it', () => {
  const bomb = Array.from({ length: 30 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`)

  test.each<[string, string, string]>([
    ['a bomb of aliases', ['a0: &a0 [x]', ...bomb].join('\n'), 'is not allowed'],
    ['one alias', 'rules: &r []\npolicies: *r', 'The alias *r is not allowed. Write it out.'],
    ['a duplicate key', 'policies: []\npolicies: []', 'This field stands here twice'],
    ['a tag', 'policies: !!js/function "x"', 'YAML'],
    ['two documents', 'policies: []\n---\npolicies: []', 'A second document begins here'],
    ['no YAML at all', 'policies: [', 'This is not valid YAML'],
    ['a list', '- a', 'This must be a file of policies'],
    ['a merge key', 'policies: [{ <<: { retries: 5 }, name: p }]', 'There is no such field'],
    ['a file too large', `# ${'x'.repeat(262_144)}\npolicies: []`, 'at most 262144 are allowed'],
    ['brackets without end', '['.repeat(100_000), ''],
    ['deep brackets', `policies: ${'['.repeat(5_000)}${']'.repeat(5_000)}`, ''],
  ])('%s', (_, text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message)
    expect(problemsOf(text).length).toBeGreaterThan(0)
  })

  test('a key such as __proto__ changes nothing', () => {
    expect(problemsOf('__proto__: { polluted: 1 }\npolicies: []').join()).toContain('There is no such field')
    expect({}).not.toHaveProperty('polluted')
  })

  test('of very many problems the first are kept', () => {
    const many = Array.from({ length: 900 }, (_, index) => `  - { name: p${index}, retries: x }`).join('\n')
    expect(problemsOf(`policies:\n${many}`)).toHaveLength(200)
    expect(() => parse(`policies:\n${many}`)).toThrow('… and 180 more')
  })
})

describe('limits of tenants', () => {
  test('are read by tenant, with a default for all', () => {
    const text = `
tenants:
  default: { backlog: 1000, bytes: 5MB, submits_per_second: 10, running: 4 }
  acme: { bytes: 12, running: none }
  blue: { running: 50% }
`
    expect(parse(text).tenants).toEqual({
      default: { backlog: 1000, bytes: 5_000_000, submitsPerSecond: 10, running: 4 },
      acme: { bytes: 12, running: null },
      blue: { running: '50%' },
    })
  })

  test('what is wrong is told with its place', () => {
    expect(
      problemsOf(`tenants:
  default: { backlog: -1, bytes: much }
  acme:
    runing: 4
    submits_per_second: 0
`),
    ).toEqual([
      '2:23 tenants.default.backlog: This must be a whole number from 0 to 1000000000, not -1.',
      "2:34 tenants.default.bytes: This must be a size such as 500MB, a whole number of bytes, or none, not 'much'.",
      expect.stringMatching(/^4:5 tenants\.acme\.runing: There is no such field in limits of a tenant\. Did you mean/),
      '5:25 tenants.acme.submits_per_second: This must be a whole number from 1 to 1000000, not 0.',
    ])
    expect(problemsOf('tenants: { "a\\tb": {} }')).toEqual([expect.stringMatching(/control character/)])
  })
})
