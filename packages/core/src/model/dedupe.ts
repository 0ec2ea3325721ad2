// Dedupe keys: what a submitter says of one, and until when its task holds it. A key belongs to a tenant and an action; engines
// see to it that one task at a time holds it (docs/engine-port.md).

import { type Duration, durationMs } from './duration.ts'
import { InvalidError } from './errors.ts'
import { checkedName } from './ids.ts'
import { refuseUnknownKeys } from './options.ts'
import type { TaskSpec } from './task.ts'

/** As `dedupeMs` of a task: the key is never free again. */
export const KEY_FOREVER_MS: number = Number.MAX_SAFE_INTEGER

/** A dedupe key and its life: until its task has ended or died, for ever, or for a while from the task's acceptance on. */
export interface DedupeRequest {
  readonly key: string
  /** 'ended' (if not given), 'forever', or a duration such as '24h'. */
  readonly until?: Duration | undefined
}

/** Until when a task that is accepted now holds its key; null: until it has ended or died. */
export function keyUntil(
  { dedupeKey, dedupeMs }: Pick<TaskSpec, 'dedupeKey' | 'dedupeMs'>,
  now: number,
): number | null {
  return dedupeKey === null || dedupeMs === undefined ? null : Math.min(now + dedupeMs, KEY_FOREVER_MS)
}

/** `dedupeKey` is the short form: held until the task has ended or died. */
export function dedupeOf({
  dedupeKey,
  dedupe,
}: {
  readonly dedupeKey?: string | undefined
  readonly dedupe?: DedupeRequest | undefined
}): Pick<TaskSpec, 'dedupeKey' | 'dedupeMs'> {
  if (dedupe === undefined) {
    return { dedupeKey: dedupeKey === undefined ? null : checkedName('dedupeKey', dedupeKey) }
  }
  if (dedupeKey !== undefined) {
    throw new InvalidError("dedupeKey is the short form of dedupe: { key, until: 'ended' }. Give one of them.")
  }
  if (typeof dedupe !== 'object' || dedupe === null) {
    throw new InvalidError(
      "dedupe is an object such as { key: 'order-17', until: '24h' }. For a key alone there is dedupeKey.",
    )
  }
  refuseUnknownKeys(dedupe, ['key', 'until'], 'option of dedupe')
  const key = { dedupeKey: checkedName('dedupe.key', dedupe.key) }
  const { until = 'ended' } = dedupe
  return until === 'ended' ? key : { ...key, dedupeMs: keyLifeMs(until) }
}

function keyLifeMs(until: Duration): number {
  if (until === 'forever') return KEY_FOREVER_MS
  if (typeof until === 'string' && /^[a-z]+$/i.test(until)) {
    throw new InvalidError(
      `dedupe.until is 'ended', 'forever' or a duration such as '24h', not '${until.slice(0, 40)}'.`,
    )
  }
  const ms = durationMs(until, 'dedupe.until')
  if (ms <= 0) throw new InvalidError('dedupe.until must be longer than nothing. To hold no key, give none.')
  return ms
}
