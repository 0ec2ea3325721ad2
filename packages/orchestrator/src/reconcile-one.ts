// What is to be done about one launch, from what the store and the launcher say of it. Pure. The process that launched it comes
// first: others look only when its lease is not renewed, and at one that was never noted only when its lease has ended,
// because until then it may be just about to start.

import { type Launch, type LaunchSighting, type LossCause, TIMEOUT_GRACE_MS } from '@reprise/core'

export interface Sighted {
  readonly key: string
  readonly launch: Launch
  /** This process launched it or took it over. */
  readonly isOwn: boolean
  /** The store knows its handle. */
  readonly isNoted: boolean
  readonly sighting: LaunchSighting
}

export type Verdict =
  | { readonly kind: 'leave' }
  /** It lives: its lease goes on, and its handle is noted if it was not. */
  | { readonly kind: 'renew'; readonly handle: string | null }
  | { readonly kind: 'settle'; readonly sighting: LaunchSighting & { readonly status: 'ended' } }
  /** It has run for too long. */
  | { readonly kind: 'end'; readonly handle: string | null }
  /** Gone without a report. `gone` if it was seen to be: then its lease may still run. */
  | { readonly kind: 'lost'; readonly cause: LossCause | null; readonly gone: boolean }
  /** Nothing was ever started. */
  | { readonly kind: 'release' }

const LEAVE: Verdict = { kind: 'leave' }

/** Own leases are renewed when a third is gone; those of others are taken over when half is. */
const OWN_SHARE_MIN = 2 / 3
const OTHERS_SHARE_MIN = 1 / 2

export function toLookAt(
  { launch, isOwn }: Omit<Sighted, 'sighting'>,
  context: { readonly now: number; readonly leaseMs: number; readonly isLaunching: boolean },
): boolean {
  const { now, leaseMs, isLaunching } = context
  if (launch.leaseUntil <= now) return true
  if (isLaunching) return false
  return isOwn || (launch.handle !== null && launch.leaseUntil - now < leaseMs * OTHERS_SHARE_MIN)
}

export function verdictOn(
  { launch, isOwn, isNoted, sighting }: Sighted,
  context: { readonly now: number; readonly leaseMs: number; readonly mayTakeAway: boolean },
): Verdict {
  const { now, mayTakeAway } = context
  const isLapsed = launch.leaseUntil <= now && mayTakeAway
  switch (sighting.status) {
    case 'ended':
      return { kind: 'settle', sighting }
    case 'running': {
      if (now >= launch.timeoutAt) return { kind: 'end', handle: sighting.handle }
      const renewed: Verdict = { kind: 'renew', handle: isNoted ? null : sighting.handle }
      return !isNoted || isRenewalDue(launch, isOwn, context) ? renewed : LEAVE
    }
    case 'vanished': {
      const { cause = null } = sighting
      // Others, or without a handle, may only know nothing of it, unless its platform says how it ended.
      const gone = cause !== null || (isOwn && launch.handle !== null)
      return gone || isLapsed ? { kind: 'lost', cause, gone } : LEAVE
    }
    case 'never':
      return isLapsed ? { kind: 'release' } : LEAVE
    case 'unknown':
      if (isOwn) {
        if (now >= launch.timeoutAt) return { kind: 'end', handle: launch.handle }
        return isRenewalDue(launch, isOwn, context) ? { kind: 'renew', handle: null } : LEAVE
      }
      // Nobody who could tell is left, and its time is over.
      return isLapsed && now >= launch.timeoutAt + TIMEOUT_GRACE_MS ? { kind: 'lost', cause: null, gone: false } : LEAVE
  }
}

function isRenewalDue(
  { leaseUntil, timeoutAt }: Launch,
  isOwn: boolean,
  { now, leaseMs }: { readonly now: number; readonly leaseMs: number },
): boolean {
  // A lease never reaches further than this, however often it is renewed.
  if (leaseUntil >= timeoutAt + TIMEOUT_GRACE_MS) return false
  return leaseUntil - now < leaseMs * (isOwn ? OWN_SHARE_MIN : OTHERS_SHARE_MIN)
}
