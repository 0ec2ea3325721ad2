// Says what somebody may do, once it is known who they are: an ordered list of rules, and the first that fits counts. Nobody
// has any right that no rule gives: to be known to an issuer is not enough.

import { InvalidError, RequestError, refuseUnknownKeys, type TenantId, tenantId } from '@reprise/core'
import { type Caller, ROLE_NAMES, ROLES, type Role } from '@reprise/operations'
import { actorOf, domainOf, type Identity, lowerCase, readEmail } from './identity.ts'

interface Gives {
  readonly role: Role
  /** The only tenants they may see or touch; all if missing. */
  readonly tenants?: readonly string[]
}

/** Says exactly one of: an email address, a domain (what stands after the last `@`), a group, or anyone the issuers vouch for. */
export type RoleRule = Gives &
  ({ readonly email: string } | { readonly domain: string } | { readonly group: string } | { readonly anyone: true })

interface CheckedRule {
  readonly fits: (identity: Identity) => boolean
  readonly role: Role
  readonly tenants: readonly TenantId[] | null
}

const RULES_MAX = 1_000
const SUBJECTS = ['email', 'domain', 'group', 'anyone'] as const

export class RoleRules {
  readonly #rules: readonly CheckedRule[]

  /** `admins` are email addresses; they come before all rules. Throws `InvalidError` for a rule that can not be meant. */
  constructor(rules: readonly RoleRule[], admins: readonly string[] = []) {
    if (rules.length > RULES_MAX) {
      throw new InvalidError(`The role rules must be a list of at most ${RULES_MAX}.`)
    }
    const first: readonly RoleRule[] = admins.map((email) => ({ email, role: 'admin' }))
    this.#rules = [...first, ...rules].map(checkedRule)
  }

  /** Throws 403 if no rule fits. */
  principalOf(identity: Identity): Caller {
    const actor = actorOf(identity)
    const known = { kind: 'user', actor, name: identity.name } as const
    // The owner of the one-time link started the server, or was shown its log.
    if (identity.source === 'local') return { ...known, scopes: new Set(ROLES.admin), tenants: null }
    const rule = this.#rules.find(({ fits }) => fits(identity))
    if (rule !== undefined) return { ...known, scopes: new Set(ROLES[rule.role]), tenants: rule.tenants }
    throw new RequestError(
      'REPRISE_FORBIDDEN',
      `You are known as ${identity.email}, but no rule gives that address a role here. Ask an administrator of this server to add one (docs/sign-in.md).`,
    )
  }
}

function checkedRule(rule: RoleRule, index: number): CheckedRule {
  const where = `role rule ${index + 1}`
  refuseUnknownKeys(rule, [...SUBJECTS, 'role', 'tenants'], `setting of ${where}`)
  const { role, tenants }: Gives = rule
  if (!ROLE_NAMES.includes(role)) {
    throw new InvalidError(`The role of ${where} must be one of ${ROLE_NAMES.join(', ')}.`)
  }
  if (tenants !== undefined && tenants.length === 0) {
    throw new InvalidError(`The tenants of ${where} must be a list with at least one. Leave them out to mean all.`)
  }
  return { fits: checkedSubject(rule, where), role, tenants: tenants?.map((tenant) => tenantId(tenant)) ?? null }
}

function checkedSubject(rule: RoleRule, where: string): CheckedRule['fits'] {
  if (SUBJECTS.filter((subject) => Reflect.has(rule, subject)).length !== 1) {
    throw new InvalidError(`The ${where} must say exactly one of ${SUBJECTS.join(', ')}.`)
  }
  if ('email' in rule) {
    const email = readEmail(rule.email)
    if (email === null) throw new InvalidError(`The email of ${where} is no email address.`)
    return (identity) => identity.email === email
  }
  if ('domain' in rule) {
    // A mistake such as '@example.com' or '*.example.com' would never fit; better to say so than to let nobody in.
    if (typeof rule.domain !== 'string' || !/^[^\s@*/]+$/.test(rule.domain)) {
      throw new InvalidError(`The domain of ${where} must be what stands after the @, such as example.com.`)
    }
    const domain = lowerCase(rule.domain)
    return (identity) => domainOf(identity.email) === domain
  }
  if ('group' in rule) {
    const { group } = rule
    if (typeof group !== 'string' || group === '') throw new InvalidError(`The group of ${where} must be a text.`)
    return (identity) => identity.groups.includes(group)
  }
  if (rule.anyone !== true) throw new InvalidError(`'anyone' of ${where} can only be true.`)
  return () => true
}
