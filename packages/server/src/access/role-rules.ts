// Says what somebody may do, once it is known who they are: an ordered list of rules, and the first that fits counts. Nobody
// has any right that no rule gives: to be known to an issuer is not enough. A rule belongs to an issuer: another one could
// vouch for the same address, domain or group.

import { InvalidError, RequestError, refuseUnknownKeys, type TenantId, tenantId } from '@reprise/core'
import { actorOf, type Caller, type Identity, personOf, ROLE_NAMES, ROLES, type Role } from '@reprise/operations'
import { GOOGLE_ISSUERS } from './google-tokens.ts'
import { domainOf, lowerCase, readEmail } from './identity.ts'

interface Gives {
  readonly role: Role
  /** The only tenants they may see or touch; all if missing. */
  readonly tenants?: readonly string[]
  /**
   * Whose people it is about: `google`, `oidc` (the only issuer beside Google), or the address of an issuer. May be missing
   * if there is only one.
   */
  readonly issuer?: string
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

  /**
   * `admins` are email addresses, with `google:` or `oidc:` before them if there are several issuers; they come before all
   * rules. `issuers` are the addresses of all that are trusted. Throws `InvalidError` for a rule that can not be meant.
   */
  constructor(rules: readonly RoleRule[], admins: readonly string[] = [], issuers: readonly string[] = []) {
    if (rules.length > RULES_MAX) {
      throw new InvalidError(`The role rules must be a list of at most ${RULES_MAX}.`)
    }
    const known = [...new Set(issuers)]
    this.#rules = [
      ...admins.map((admin) => checkedRule(adminRule(admin), `admin '${admin.slice(0, 100)}'`, known)),
      ...rules.map((rule, index) => checkedRule(rule, `role rule ${index + 1}`, known)),
    ]
  }

  /** Throws 403 if no rule fits. */
  principalOf(identity: Identity): Caller {
    const actor = actorOf(identity)
    const known = { kind: 'user', id: `user:${personOf(identity)}`, actor, name: identity.name } as const
    // The owner of the one-time link started the server, or was shown its log.
    if (identity.source === 'local') return { ...known, scopes: new Set(ROLES.admin), tenants: null }
    const rule = this.#rules.find(({ fits }) => fits(identity))
    if (rule !== undefined) return { ...known, scopes: new Set(ROLES[rule.role]), tenants: rule.tenants }
    const why = identity.isEmailTheirs
      ? 'but no rule gives that address a role here'
      : 'but Google can not say that the address is yours now: the account belongs to no organisation that has its domain. No other rule gives you a role here'
    throw new RequestError(
      'REPRISE_FORBIDDEN',
      `You are known as ${identity.email}, ${why}. Ask an administrator of this server to add one (docs/sign-in.md).`,
    )
  }
}

/** `ann@example.com`, or `google:ann@example.com`. */
function adminRule(admin: string): RoleRule {
  const [, issuer, email = admin] = /^(google|oidc):(.*)$/.exec(admin) ?? []
  return { email, role: 'admin', ...(issuer === undefined ? {} : { issuer }) }
}

function checkedRule(rule: RoleRule, where: string, issuers: readonly string[]): CheckedRule {
  refuseUnknownKeys(rule, [...SUBJECTS, 'role', 'tenants', 'issuer'], `setting of ${where}`)
  const { role, tenants }: Gives = rule
  if (!ROLE_NAMES.includes(role)) {
    throw new InvalidError(`The role of ${where} must be one of ${ROLE_NAMES.join(', ')}.`)
  }
  if (tenants !== undefined && tenants.length === 0) {
    throw new InvalidError(`The tenants of ${where} must be a list with at least one. Leave them out to mean all.`)
  }
  const isAbout = checkedSubject(rule, where)
  const issuer = checkedIssuer(rule.issuer, where, issuers)
  return {
    fits: (identity) => (issuer === null || identity.issuer === issuer) && isAbout(identity),
    role,
    tenants: tenants?.map((tenant) => tenantId(tenant)) ?? null,
  }
}

/** Null if there is no issuer that it could be confused with. */
function checkedIssuer(given: string | undefined, where: string, issuers: readonly string[]): string | null {
  const [google] = GOOGLE_ISSUERS
  if (given === undefined) {
    if (issuers.length < 2) return null
    throw new InvalidError(
      `The ${where} does not say whose people it is about, and there are several issuers: ${issuers.join(', ')}. Write google: or oidc: before it, or set 'issuer'.`,
    )
  }
  const others = issuers.filter((issuer) => issuer !== google)
  const named = given === 'google' ? [google] : given === 'oidc' ? others : [given]
  const [issuer] = named
  if (named.length === 1 && issuer !== undefined && issuers.includes(issuer)) return issuer
  throw new InvalidError(`The issuer '${given.slice(0, 100)}' of ${where} is not configured, or means several.`)
}

function checkedSubject(rule: RoleRule, where: string): CheckedRule['fits'] {
  if (SUBJECTS.filter((subject) => Reflect.has(rule, subject)).length !== 1) {
    throw new InvalidError(`The ${where} must say exactly one of ${SUBJECTS.join(', ')}.`)
  }
  if ('email' in rule) {
    const email = readEmail(rule.email)
    if (email === null) throw new InvalidError(`The email of ${where} is no email address.`)
    return (identity) => identity.isEmailTheirs && identity.email === email
  }
  if ('domain' in rule) {
    // A mistake such as '@example.com' or '*.example.com' would never fit; better to say so than to let nobody in.
    if (typeof rule.domain !== 'string' || !/^[^\s@*/]+$/.test(rule.domain)) {
      throw new InvalidError(`The domain of ${where} must be what stands after the @, such as example.com.`)
    }
    const domain = lowerCase(rule.domain)
    return (identity) => identity.isEmailTheirs && domainOf(identity.email) === domain
  }
  if ('group' in rule) {
    const { group } = rule
    if (typeof group !== 'string' || group === '') throw new InvalidError(`The group of ${where} must be a text.`)
    return (identity) => identity.groups.includes(group)
  }
  if (rule.anyone !== true) throw new InvalidError(`'anyone' of ${where} can only be true.`)
  return () => true
}
