// What the editor of policies knows without a server: the names that it completes are those that the reader of policies knows, a
// difference is told line by line, and roles are those of the server.

import { ROLES as SERVER_ROLES } from '@reprise/operations'
import { parsePolicies, TEMPLATE_NAMES } from '@reprise/policies'
import { describe, expect, test } from 'vitest'
import { completePolicy } from '../src/pages/policies/complete.ts'
import { problemsIn } from '../src/pages/policies/problems.ts'
import { type Fields, POLICY_FILE } from '../src/pages/policies/vocabulary.ts'
import { ROLES } from '../src/pages/settings/roles.ts'
import { lineDiff } from '../src/parts/line-diff.ts'

const refusal = (text: string): string => {
  try {
    parsePolicies(text, { file: 'policies', version: 0 })
    return ''
  } catch (error) {
    return String(error)
  }
}

/** The fields that the reader names when it meets one that it does not know. */
const knownBy = (text: string): string[] => (/Known are: (.*)\.$/m.exec(refusal(text))?.[1] ?? '').split(', ').sort()

const fieldsOf = (fields: Fields | undefined, ...path: string[]): string[] => {
  let at = fields
  for (const step of path) at = at?.[step]?.fields
  return Object.keys(at ?? {}).sort()
}

describe('the vocabulary of policies', () => {
  const inPolicy = (field: string): string => `policies: [{ name: p, ${field} }]`

  test('has the fields that the reader knows, everywhere', () => {
    expect(fieldsOf(POLICY_FILE)).toEqual(knownBy('x: 1'))
    expect(fieldsOf(POLICY_FILE, 'policies')).toEqual(knownBy(inPolicy('x: 1')))
    for (const map of ['match', 'breaker', 'retry_after', 'escalation'])
      expect([map, fieldsOf(POLICY_FILE, 'policies', map)]).toEqual([map, knownBy(inPolicy(`${map}: { x: 1 }`))])
    expect(fieldsOf(POLICY_FILE, 'policies', 'quota')).toEqual(knownBy(inPolicy('quota: { window: 1m, x: 1 }')))
    const rule = (rest: string): string => `rules: [{ when: { code: A }, then: { reason: timeout }, ${rest} }]`
    expect(fieldsOf(POLICY_FILE, 'rules')).toEqual(knownBy(rule('x: 1')))
    expect(fieldsOf(POLICY_FILE, 'rules', 'when')).toEqual(
      knownBy('rules: [{ when: { x: 1 }, then: { reason: timeout } }]'),
    )
    expect(fieldsOf(POLICY_FILE, 'rules', 'then')).toEqual(
      knownBy('rules: [{ when: { code: A }, then: { reason: timeout, x: 1 } }]'),
    )
    expect(fieldsOf(POLICY_FILE, 'owners')).toEqual(knownBy('owners: [{ owner: a, x: 1 }]'))
    expect(fieldsOf(POLICY_FILE, 'owners', 'match')).toEqual(knownBy('owners: [{ owner: a, match: { x: 1 } }]'))
    expect(fieldsOf(POLICY_FILE, 'tenants', '*')).toEqual(knownBy('tenants: { acme: { x: 1 } }'))
    const backoffs = ['fixed', 'linear', 'exponential', 'decorrelated', 'schedule'].flatMap((kind) =>
      knownBy(inPolicy(`backoff: { kind: ${kind}, x: 1 }`)),
    )
    expect(fieldsOf(POLICY_FILE, 'policies', 'backoff')).toEqual([...new Set(backoffs)].sort())
  })

  test('offers values that the reader takes', () => {
    const { template, on_lost, breaker, escalation } = POLICY_FILE.policies?.fields ?? {}
    expect(template?.values).toEqual(TEMPLATE_NAMES)
    for (const [field, values] of Object.entries({ on_lost: on_lost?.values, breaker: breaker?.values }))
      for (const value of values ?? []) expect([field, refusal(inPolicy(`${field}: ${value}`))]).toEqual([field, ''])
    for (const value of escalation?.fields?.severity?.values ?? [])
      expect(refusal(inPolicy(`escalation: { severity: ${value} }`))).toBe('')
  })
})

describe('completion', () => {
  const offered = (before: string): string[] => completePolicy(before)?.options.map(({ text }) => text) ?? []

  test('knows where it is: by indentation, in list items, in braces', () => {
    expect(offered('pol')).toEqual(['policies: '])
    expect(offered('policies:\n  - name: a\n    ret')).toEqual([
      'retries: ',
      'retries_enabled: ',
      'retry_unknown: ',
      'retry_after: ',
    ])
    expect(offered('policies:\n  - name: a\n    template: ur')).toEqual(['urgent'])
    expect(offered('policies:\n  - name: a\n    backoff:\n      kind: ')).toContain('schedule')
    expect(offered('policies:\n  - name: a\n    escalation: { severity: cr')).toEqual(['critical'])
    expect(offered('policies:\n  - name: a\n    escalation: { severity: high, ow')).toEqual(['owner: '])
    expect(offered('tenants:\n  acme:\n    back')).toEqual(['backlog: '])
    expect(offered('rules:\n  - when: { code: A }\n    then: { reason: tim')).toEqual(['timeout'])
  })

  test('offers nothing in comments and free text', () => {
    expect(offered('# pol')).toEqual([])
    expect(offered('policies:\n  - name: some words')).toEqual([])
  })
})

test('the problems of a refusal are found with their places', () => {
  const message = refusal('policies:\n  - name: a\n    retries: many\n    colour: red\n')
  expect(problemsIn(message)).toMatchObject([
    { line: 3, column: 14 },
    { line: 4, column: 5, message: expect.stringContaining('There is no such field in a policy') as string },
  ])
})

test('a difference is told by the fewest lines', () => {
  const signs = (before: string, after: string): string =>
    lineDiff(before, after)
      .map(({ kind, text }) => `${{ same: ' ', gone: '-', new: '+' }[kind]}${text}`)
      .join('|')
  expect(signs('a\nb\nc', 'a\nc')).toBe(' a|-b| c')
  expect(signs('a\nb', 'a\nx\nb')).toBe(' a|+x| b')
  expect(signs('a\nb\nc\nd', 'a\nd\nc')).toBe(' a|-b|-c| d|+c')
  expect(signs('a', 'a')).toBe(' a')
  expect(signs('', 'a')).toBe('-|+a')
})

test('roles mean here what they mean to the server', () => {
  expect(ROLES).toEqual(SERVER_ROLES)
})
