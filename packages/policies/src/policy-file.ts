// retry-policies.yaml: the policies in their order, the rules of classification for all, and who owns dead letters. Reads the text into a book;
// keeping books and following changes is in open-policies.ts.

import {
  checkedPolicy,
  checkedReminders,
  currentPolicies,
  OWNER_RULES_MAX,
  POLICIES_MAX,
  type PolicyBook,
  REMINDERS_MAX,
} from '@reprise/core'
import { duration, fields, list, made, optional, text, withoutNamesakes } from './fields.ts'
import { names, policy, rules, settingsOf } from './policy-fields.ts'
import { tenantRules } from './tenant-fields.ts'
import { parseYaml } from './yaml-file.ts'

const completePolicy = policy
  .refine(({ match, sla }) => match.codes === undefined || sla === undefined, {
    path: ['sla'],
    error:
      'A policy that matches by code can not set an SLA: before an attempt fails there is no code. Set it in a policy without codes.',
  })
  .refine(
    ({ match, healthAware }) => healthAware === undefined || (match.codes === undefined && match.tenants === undefined),
    {
      path: ['health_aware'],
      error:
        'A policy that matches by tenant or code can not switch this: a worker that asks for tasks names actions. Set it in a policy without them.',
    },
  )
  .transform(made(({ name, match, ...given }) => checkedPolicy({ name, match, ...settingsOf(given, name) })))

const MINUTE_MS = 60_000
const reminders = list(REMINDERS_MAX, duration(MINUTE_MS)).transform(made(checkedReminders))

const ownerRule = fields('an owner', {
  owner: text(),
  match: fields('a match', optional({ actions: names, tenants: names, codes: names })).default({}),
  ...optional({ remind: reminders }),
}).transform(({ remind, ...rule }) => ({ ...rule, ...(remind === undefined ? {} : { remindMs: remind }) }))

const policyFile = fields('a file of policies', {
  policies: withoutNamesakes('policy')(list(POLICIES_MAX, completePolicy)).default([]),
  rules: rules.default([]),
  ...optional({ tenants: tenantRules, owners: list(OWNER_RULES_MAX, ownerRule), remind: reminders }),
}).transform(({ remind, ...book }) => ({ ...book, ...(remind === undefined ? {} : { remindMs: remind }) }))

/** The book that the text describes. A version of the store (0 for a text that is in none) may use old names. `ConfigurationError` with everything that is wrong with it. */
export function parsePolicies(text: string, options: { readonly file: string; readonly version: number }): PolicyBook {
  const ifEmpty = "It is empty. Write 'policies: []' if there are to be none."
  const current = options.version > 0 ? currentPolicies(text) : text
  return { version: options.version, ...parseYaml(current, options.file, policyFile, ifEmpty) }
}
