// retry-policies.yaml: the policies in their order, and the rules of classification for all. Reads the text into a book;
// whoever keeps books and follows changes is in open-policies.ts.

import { checkedPolicy, POLICIES_MAX, type Policy, type PolicyBook, RULES_STAMP } from '@reprise/core'
import { type Place, readYaml } from './place.ts'
import { NAMES_MAX, POLICY_FIELDS, readPolicySettings, readRules, withoutUndefined } from './policy-fields.ts'
import type { ProblemList } from './problems.ts'

/** The book that the text describes; `ConfigurationError` with everything that is wrong with it. */
export function parsePolicies(text: string, options: { readonly file: string; readonly version: number }): PolicyBook {
  const { root, problems } = readYaml(text, options.file)
  const fields = root.fields(['policies', 'rules'], 'a file of policies')
  const rules = fields?.get('rules', readRules) ?? []
  const names = new Set<string>()
  const policies =
    fields?.get('policies', (place) => place.list(POLICIES_MAX, (item) => readPolicy(item, names, problems))) ?? []
  problems.throwIfAny()
  return { version: options.version, policies, rules }
}

function readPolicy(place: Place, names: Set<string>, problems: ProblemList): Policy | undefined {
  const before = problems.length
  const fields = place.fields(['name', 'match', ...POLICY_FIELDS], 'a policy')
  if (fields === undefined) return undefined
  const name = fields.required('name', (at) => {
    const text = at.text()
    if (text === undefined) return undefined
    if (text === RULES_STAMP)
      return at.problem(`No policy can be named '${RULES_STAMP}': it stands for the rules of the file.`)
    if (names.has(text)) return at.problem(`Another policy is named '${text}' already.`)
    names.add(text)
    return text
  })
  const match = fields.has('match') ? fields.get('match', readMatch) : {}
  const settings = readPolicySettings(fields, name ?? '-')
  if (match?.codes !== undefined && fields.has('sla')) {
    fields.get('sla', (at) =>
      at.problem(
        'A policy that matches by code can not set an SLA: before an attempt fails there is no code. Set it in a policy without codes.',
      ),
    )
  }
  // What the fields say together is looked at once each of them is right.
  if (name === undefined || match === undefined || problems.length > before) return undefined
  return place.checked(() => checkedPolicy({ name, match, ...settings }))
}

function readMatch(place: Place): Policy['match'] | undefined {
  const fields = place.fields(['actions', 'packs', 'tenants', 'codes'], 'a match')
  if (fields === undefined) return undefined
  return withoutUndefined({
    actions: fields.get('actions', (at) => at.texts(NAMES_MAX)),
    packs: fields.get('packs', (at) => at.texts(NAMES_MAX)),
    tenants: fields.get('tenants', (at) => at.texts(NAMES_MAX)),
    codes: fields.get('codes', (at) => at.texts(NAMES_MAX)),
  })
}
