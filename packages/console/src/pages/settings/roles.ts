// What each scope allows, in words, and which scopes a role has.

import type { Scope } from '../../api/me.ts'

export const SCOPES: Readonly<Record<Scope, string>> = {
  read: 'See tasks, causes, lanes, workers, policies, the journal and figures',
  submit: 'Submit tasks and jobs, and report failures of tasks that run elsewhere',
  operate: 'Retry, redrive, cancel, discard, promote, pause, limit, drain; take and close work orders',
  configure: 'Change policies, flags and webhooks; repair',
  tokens: 'Make and revoke tokens, end sessions, rotate keys',
  work: 'Be a worker: claim and settle tasks',
}

/** A test keeps them equal to what the server knows. */
export const ROLES: Readonly<Record<string, readonly Scope[]>> = {
  viewer: ['read'],
  operator: ['read', 'submit', 'operate'],
  admin: ['read', 'submit', 'operate', 'configure', 'tokens'],
  worker: ['work'],
}
