// Role rules, and what the environment says about access.

import type { Identity } from '@reprise/operations'
import { expect, test } from 'vitest'
import type { RoleRule } from '../../src/access/index.ts'
import { RoleRules } from '../../src/access/role-rules.ts'

const GOOGLE = 'https://accounts.google.com'
const OTHER = 'https://login.example.com'

const person = (email: string, groups: readonly string[] = []): Identity => ({
  source: 'google',
  issuer: GOOGLE,
  subject: email,
  email,
  isEmailTheirs: true,
  name: email,
  groups,
})
const role = (rules: RoleRules, identity: Identity) => {
  const { scopes, tenants } = rules.principalOf(identity)
  return { scopes: [...scopes], tenants }
}

test('A12: the first rule that fits counts, and admins come before all', () => {
  const rules = new RoleRules(
    [
      { email: 'Bob@Example.com', role: 'operator', tenants: ['acme'] },
      { group: 'ops', role: 'operator' },
      { domain: 'EXAMPLE.com', role: 'viewer' },
      { anyone: true, role: 'viewer', tenants: ['public'] },
    ],
    ['ann@example.com'],
  )
  expect(role(rules, person('ann@example.com')).scopes).toContain('configure')
  expect(role(rules, person('bob@example.com', ['ops']))).toEqual({
    scopes: ['read', 'submit', 'operate'],
    tenants: ['acme'],
  })
  expect(role(rules, person('cat@example.com', ['ops']))).toEqual({
    scopes: ['read', 'submit', 'operate'],
    tenants: null,
  })
  expect(role(rules, person('dan@example.com'))).toEqual({ scopes: ['read'], tenants: null })
  expect(role(rules, person('eve@evil.com'))).toEqual({ scopes: ['read'], tenants: ['public'] })
})

test('A12: nobody has a role that no rule gives', () => {
  expect(() => new RoleRules([]).principalOf(person('ann@example.com'))).toThrow(
    expect.objectContaining({ status: 403, message: expect.stringContaining('ann@example.com') as unknown }),
  )
})

const wrong: readonly [title: string, rule: unknown, message: RegExp][] = [
  ['two subjects', { email: 'a@b.c', domain: 'b.c', role: 'viewer' }, /exactly one of/],
  ['no subject', { role: 'viewer' }, /exactly one of/],
  ['an unknown role', { domain: 'b.c', role: 'root' }, /must be one of viewer/],
  ['an @ in the domain', { domain: '@b.c', role: 'viewer' }, /after the @/],
  ['a pattern in the domain', { domain: '*.b.c', role: 'viewer' }, /after the @/],
  ['an email without a domain', { email: 'ann', role: 'viewer' }, /no email address/],
  ['no tenant', { domain: 'b.c', role: 'viewer', tenants: [] }, /at least one/],
  ['anyone as false', { anyone: false, role: 'viewer' }, /can only be true/],
  ['a misspelt setting', { domian: 'b.c', role: 'viewer' }, /no setting of role rule 1 'domian'/],
]

test.each(wrong)('A12: a rule with %s is refused', (_, rule, message) => {
  expect(() => new RoleRules([rule as RoleRule])).toThrow(message)
})

test('A12: a rule is about the people of its issuer, which may be left out if there is one', () => {
  const both = [GOOGLE, OTHER]
  const rules = new RoleRules(
    [
      { domain: 'example.com', role: 'viewer', issuer: 'oidc' },
      { anyone: true, role: 'operator', issuer: GOOGLE },
    ],
    ['google:ann@example.com'],
    both,
  )
  const elsewhere = (identity: Identity): Identity => ({ ...identity, source: 'oidc', issuer: OTHER })
  expect(role(rules, person('ann@example.com')).scopes).toContain('configure')
  expect(role(rules, elsewhere(person('ann@example.com'))).scopes).toEqual(['read'])
  expect(role(rules, person('bob@example.com')).scopes).toContain('operate')
  expect(() => rules.principalOf(elsewhere(person('bob@elsewhere.com')))).toThrow(/no rule/)
  expect(() => new RoleRules([{ anyone: true, role: 'viewer' }], [], both)).toThrow(/several issuers/)
  expect(() => new RoleRules([], ['ann@example.com'], both)).toThrow(/several issuers/)
  expect(() => new RoleRules([{ anyone: true, role: 'viewer', issuer: 'https://x' }], [], both)).toThrow(
    /not configured/,
  )
  expect(() => new RoleRules([], ['oidc:a@b.c'], [GOOGLE, OTHER, 'https://third.example'])).toThrow(/means several/)
  expect(role(new RoleRules([], ['a@b.c'], [OTHER]), elsewhere(person('a@b.c'))).scopes).toContain('configure')
})
