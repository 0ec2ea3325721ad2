// What a check of `reprise doctor` finds: how it stands, in one sentence, and what to do about it.

import type { Inspected } from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import type { Target } from '../session.ts'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly says: string
  /** What to do; null if there is nothing. */
  readonly advice: string | null
}

/** What checks have to go by. */
interface Circumstances {
  readonly resolved: Inspected
  readonly host: Host
  /** Where commands go; null if nowhere. */
  readonly target: Target | null
  /** Why they go nowhere; null if they go somewhere. */
  readonly nowhereBecause: string | null
}

export type Check = (circumstances: Circumstances) => Promise<readonly Finding[]>

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says, advice: null })
export const warn = (check: string, says: string, advice: string): Finding => ({ check, state: 'warn', says, advice })
export const fail = (check: string, says: string, advice: string): Finding => ({ check, state: 'fail', says, advice })
