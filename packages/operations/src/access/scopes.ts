// Who may do what, as one small set of scopes. Every route names the one scope it needs; a role is a name for a set of them.
// API tokens carry scopes, people have roles, workers have a scope of their own. Checking them is the server's business.

export const SCOPES = [
  /** See tasks, attempts, lanes, workers, breakers, failure groups, policies, the journal, figures and live events. */
  'read',
  /** Submit tasks, and report failures of tasks that run elsewhere. */
  'submit',
  /** Change what is under way: retry, cancel, redrive, discard, promote, pause, resume, limit, drain, reset. */
  'operate',
  /** Change how things are decided: policies, flags, webhooks, repairs. */
  'configure',
  /** Make and revoke API tokens, see who has which; see and end sessions; rotate keys. */
  'tokens',
  /** Be a worker: register, claim, renew, settle. */
  'work',
] as const

export type Scope = (typeof SCOPES)[number]

export const ROLES = {
  viewer: ['read'],
  operator: ['read', 'submit', 'operate'],
  admin: ['read', 'submit', 'operate', 'configure', 'tokens'],
  worker: ['work'],
} as const satisfies Record<string, readonly Scope[]>

export type Role = keyof typeof ROLES
export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[]

/** What a route asks for: nothing, any caller who is known, or a scope. */
export type Access = 'public' | 'known' | Scope
