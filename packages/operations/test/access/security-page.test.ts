// docs/security.md says what the sources say about roles and scopes.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROLE_NAMES, ROLES, SCOPES, type Scope } from '../../src/access/scopes.ts'

const page = readFileSync(new URL('../../../../docs/security.md', import.meta.url), 'utf8')
const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))

test('docs/security.md: the table of roles and scopes is that of the sources', () => {
  expect(rows).toContainEqual(['', 'scope', 'allows', ...ROLE_NAMES, ''])
  const table = rows.filter(([, scope = '']) => SCOPES.some((known) => scope === `\`${known}\``))
  const found = table.map(([, scope, , ...roles]) => [scope, ...roles.slice(0, ROLE_NAMES.length)])
  const has = (role: (typeof ROLE_NAMES)[number], scope: Scope): boolean =>
    (ROLES[role] as readonly Scope[]).includes(scope)
  const expected = SCOPES.map((scope) => [
    `\`${scope}\``,
    ...ROLE_NAMES.map((role) => (has(role, scope) ? 'yes' : '–')),
  ])
  expect(found).toEqual(expected)
})
