// Scopes and gates in words: what a hold, a limit or a breaker is about.

import type { Scope } from '@reprise/core'
import { formatDuration } from '@reprise/core'

type Parts = { readonly [Part in keyof Scope]?: string | undefined }

export function scopeText(scope: Parts): string {
  const parts = Object.entries(scope).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
  return parts.length === 0 ? 'everything' : parts.join(', ')
}

/** A gate as the API shows it: its kind decides which other fields it has. */
export interface GateRecord {
  readonly kind: string
  readonly scope?: Parts | undefined
  readonly [field: string]: unknown
}

export function gateText(gate: GateRecord, now: number): string {
  const { kind, scope = {} } = gate
  switch (kind) {
    case 'paused':
      return `paused${rankText(gate.rank)}: ${scopeText(scope)}${byText(gate.by)}`
    case 'concurrency':
      return typeof gate.running !== 'number'
        ? `limit${rankText(gate.rank)}: as many run as may, ${scopeText(scope)}`
        : `limit${rankText(gate.rank)}: ${gate.running} of ${String(gate.concurrency)} run, ${scopeText(scope)}`
    case 'breaker':
      return `breaker ${String(gate.name)}${ofText(gate.tenant)} is ${String(gate.status)}${inText(gate.until, now)}`
    case 'not_due':
      return `not due${inText(gate.dueAt, now)}: ${String(gate.reason)}`
    case 'retry_quota':
      return `over the retry quota ${String(gate.name)}${inText(gate.dueAt, now)}`
    case 'no_worker':
      return 'no worker can take it'
    default:
      return kind
  }
}

const ofText = (tenant: unknown): string => (typeof tenant === 'string' ? ` of tenant ${tenant}` : '')

/** A server of an earlier version does not say whose it is. */
const rankText = (rank: unknown): string => (typeof rank === 'string' ? ` (${rank})` : '')

function byText(by: unknown): string {
  if (typeof by !== 'object' || by === null || !('actor' in by)) return ''
  const reason = 'reason' in by ? ` (${String(by.reason)})` : ''
  return `, by ${String(by.actor)}${reason}`
}

const inText = (at: unknown, now: number): string =>
  typeof at === 'number' && at > now ? ` for ${formatDuration(at - now)}` : ''
