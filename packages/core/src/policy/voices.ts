// What tenants say to the breaker of all tenants: each has one voice, however many of its tasks fail. A tenant speaks against
// the dependency if its own outcomes in the window do; its failures count for no more than half of what opens the breaker. So
// one tenant alone never opens it, and neither hides an outage of the others by its successes. Pure.

import type { TenantId } from '../model/ids.ts'

/** How many attempts ended well, and how many with an outage. */
export interface Outcomes {
  readonly ok: number
  readonly failed: number
}

/** One tenant's outcomes, from the first in the window on. When the window has passed it begins anew. */
export interface Voice extends Outcomes {
  readonly tenant: TenantId
  readonly since: number
}

/** So many tenants are listened to at once. When there are more, one that fails takes the place of one that does not. */
export const VOICES_MAX = 20

/** What opens a breaker: so many failures, and such a share of all. */
interface Threshold {
  readonly windowMs: number
  readonly minFailures: number
  readonly failureRate: number
}

export function heard(
  voices: readonly Voice[],
  tenant: TenantId,
  { ok, failed }: Outcomes,
  windowMs: number,
  now: number,
): readonly Voice[] {
  const live = voices.filter(({ since }) => since + windowMs > now)
  const at = live.findIndex((voice) => voice.tenant === tenant)
  const known = live[at]
  const { failed: failedBefore = 0, ok: okBefore = 0, since = now } = known ?? {}
  const voice: Voice = { tenant, since, ok: okBefore + ok, failed: failedBefore + failed }
  if (known !== undefined) return live.with(at, voice)
  if (live.length < VOICES_MAX) return [...live, voice]
  const quiet = live.findIndex((voice) => voice.failed === 0)
  return failed === 0 || quiet === -1 ? live : [...live.toSpliced(quiet, 1), voice]
}

/** Whether several tenants fail, enough of them and often enough. */
export function agree(voices: readonly Voice[], { minFailures, failureRate }: Threshold): boolean {
  const most = Math.ceil(minFailures / 2)
  let tenants = 0
  let against = 0
  let all = 0
  for (const { ok, failed } of voices) {
    const isAgainst = failed > 0 && failed >= failureRate * (ok + failed)
    const weight = Math.min(isAgainst ? failed : ok, most)
    all += weight
    if (!isAgainst) continue
    tenants++
    against += weight
  }
  return tenants >= 2 && against >= minFailures && against >= failureRate * all
}
