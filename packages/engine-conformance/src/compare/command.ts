// What the random sequences are made of: commands as plain data, so that a failing sequence can be shrunk and printed.
// Tasks, leases and workers are named by small numbers; the run turns them into real ids, tokens and epochs. Fields that
// are left out have a plain default, which keeps a shrunk sequence short.

import type { ChangeKind, Priority, Rank } from '@reprise/core'

/** A task out of a small pool of ids, in one of 2 pools × 2 actions × 2 tenants. */
export interface TaskDraft {
  readonly id: number
  readonly pool?: number | undefined
  readonly action?: number | undefined
  readonly tenant?: number | undefined
  readonly priority?: Priority | undefined
  readonly delayMs?: number | undefined
  readonly dueInMs?: number | undefined
  readonly queueTtlMs?: number | undefined
  readonly deadlineMs?: number | undefined
  readonly dedupe?: number | undefined
  readonly dedupeMs?: number | undefined
  /** Asks for another payload than the others with its id or key. */
  readonly isOther?: boolean | undefined
  readonly maxRetries?: number | undefined
  readonly maxLosses?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly notify?: boolean | undefined
  /** Which of the pasts it comes with; see draft-past.ts. */
  readonly past?: number | undefined
}

export interface ScopeDraft {
  readonly pool?: number | undefined
  readonly action?: number | undefined
  readonly tenant?: number | undefined
}

/** The so-manieth lease from the newest: of those still held as far as the caller knows, or of all ever given out. */
export interface LeasePick {
  readonly back: number
  readonly held: boolean
}

export interface SettleDraft {
  readonly lease: LeasePick
  readonly kind: 'succeeded' | 'failed' | 'lost' | 'released'
  /** Which of the failures; see draft.ts. */
  readonly failure: number
  /** If it failed: the outage that it looks like, and the quota that its retry asks. */
  readonly outage?: number | undefined
  readonly quota?: number | undefined
  /** If it is released: when it is to be tried again. */
  readonly deferMs?: number | undefined
}

export interface ClaimDraft {
  readonly worker: number
  readonly limit: number
  readonly leaseMs: number
  readonly pool?: number | undefined
  readonly action?: number | undefined
  /** With the epoch before the current one. */
  readonly outdated?: boolean | undefined
  readonly stage?: 'run' | 'dispatch' | 'launch' | undefined
  readonly regardless?: true | undefined
}

export interface AssignDraft {
  /** Among the leases that were claimed for dispatch, if there are any. */
  readonly lease: LeasePick
  readonly worker: number
  readonly ttlMs: number
  readonly regardless?: true | undefined
}

export interface BeatDraft {
  readonly worker: number
  readonly queueDepth: number
  readonly inFlight?: number | undefined
  readonly loopLagMs?: number | undefined
  readonly maxQuietMs?: number | undefined
  readonly outlook?: boolean | undefined
  readonly draining?: boolean | undefined
  readonly policyVersion?: number | undefined
  readonly outdated?: boolean | undefined
}

export type SelectDraft =
  /** With a generation, only tasks in it. */
  | { readonly ids: readonly number[]; readonly generation?: number | undefined }
  | { readonly scope: ScopeDraft }
  /** The failure group of this failure of this action. */
  | { readonly failure: number; readonly action: number }

export type Command =
  | { readonly do: 'submit'; readonly tasks: readonly TaskDraft[] }
  | { readonly do: 'claim'; readonly claim: ClaimDraft }
  | { readonly do: 'settle'; readonly settlements: readonly SettleDraft[] }
  | { readonly do: 'settleAndClaim'; readonly settlements: readonly SettleDraft[]; readonly claim: ClaimDraft }
  | {
      readonly do: 'renew'
      readonly leases: readonly LeasePick[]
      readonly leaseMs: number
      readonly percent: number | null
      readonly handle?: number | undefined
      readonly lines?: number | undefined
    }
  | { readonly do: 'assign'; readonly assignments: readonly AssignDraft[] }
  /** Looks for what is past its time and settles this number of them: none, to let it get stale. */
  | {
      readonly do: 'sweep'
      readonly maxSettle: number
      readonly timeoutsAs: 'failed' | 'lost'
      readonly quota?: number | undefined
    }
  /** Settles launches as lost, as their launch service would: those whose leases have ended, or all, if their workers are gone. */
  | { readonly do: 'reconcile'; readonly pool: number; readonly gone?: boolean | undefined }
  /** Settles entries that some sweep saw earlier. */
  | { readonly do: 'expire'; readonly back: number }
  | { readonly do: 'bulk'; readonly verb: ChangeKind; readonly select: SelectDraft; readonly limit: number }
  | { readonly do: 'retry'; readonly id: number; readonly maxRetries: number; readonly named?: string | undefined }
  | {
      readonly do: 'reserve'
      readonly task: TaskDraft
      readonly attempt: number
      readonly maxRetries: number
      readonly worker: number
      readonly stage?: 'launch' | undefined
    }
  | { readonly do: 'pause' | 'resume'; readonly scope: ScopeDraft; readonly rank?: Rank | undefined }
  | {
      readonly do: 'limit'
      readonly scope: ScopeDraft
      readonly concurrency: number | null
      readonly rank?: Rank | undefined
    }
  | { readonly do: 'resetBreaker'; readonly breaker: number; readonly of: 'everyone' | 'n0' | 'all tenants' }
  | {
      readonly do: 'register'
      readonly worker: number
      readonly pool?: number | undefined
      /** Hosts and versions: 0 if not given. */
      readonly host?: number | undefined
      readonly version?: number | undefined
    }
  | { readonly do: 'deregister'; readonly worker: number; readonly outdated?: boolean | undefined }
  | ({ readonly do: 'beat' } & BeatDraft)
  | {
      readonly do: 'vouch'
      readonly worker: number
      readonly leaseMs: number
      readonly outlook?: boolean | undefined
      readonly outdated?: boolean | undefined
    }
  | {
      readonly do: 'probed'
      readonly worker: number
      readonly ok: boolean
      readonly outdated?: boolean | undefined
    }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'retain'; readonly afterMs: number; readonly journal: boolean }
  | { readonly do: 'look' }
  /** Asked at the same moment, without waiting for each other: an engine may do them in one step, in this order. */
  | { readonly do: 'together'; readonly commands: readonly Command[] }

/** One line of a printed sequence. */
export function commandText(command: Command): string {
  const { do: verb, ...rest } = command
  return `${verb} ${JSON.stringify(rest)}`
}
