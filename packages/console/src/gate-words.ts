// What holds a lane, in a sentence: whose it is, since when, why, and what lifts it.

import type { OperationOutput } from './api/client.ts'
import { count, span } from './format.ts'
import { shellWord } from './parts/texts.tsx'

export type Gate = OperationOutput<'listLanes'>['items'][number]['gates'][number]
export type Scope = { readonly [Part in 'pool' | 'action' | 'tenant']?: string | undefined }

const PARTS = ['pool', 'action', 'tenant'] as const

/** 'pool gpu, tenant acme', or 'everything'. */
export function scopeWords(scope: Scope): string {
  const parts = PARTS.flatMap((part) => (scope[part] === undefined ? [] : [`${part} ${scope[part]}`]))
  return parts.length === 0 ? 'everything' : parts.join(', ')
}

/** The options of the command line that mean it. */
export function scopeOptions(scope: Scope): string {
  const parts = PARTS.flatMap((part) => (scope[part] === undefined ? [] : [`--${part} ${shellWord(scope[part])}`]))
  return parts.length === 0 ? '--all' : parts.join(' ')
}

/** A scope without parts means everything, which is said. */
export const statedScope = (scope: Scope): Scope & { readonly all?: true } =>
  PARTS.every((part) => scope[part] === undefined) ? { all: true } : scope

const RANKS: Readonly<Record<string, string>> = { platform: 'the platform', tenant: 'the tenant' }

export function gateSentence(gate: Gate, now: number): string {
  switch (gate.kind) {
    case 'paused':
      return `Paused by ${gate.by.actor}: ${gate.by.reason}`
    case 'concurrency':
      return typeof gate.running === 'number'
        ? `${count(gate.running)} of at most ${count(gate.concurrency)} run, a limit of ${RANKS[gate.rank] ?? gate.rank}`
        : 'As many run as may'
    case 'breaker':
      return gate.until !== null && gate.until > now
        ? `Breaker ${gate.name} is open, tried again in ${span(gate.until - now)}`
        : `Breaker ${gate.name} lets a few through to try`
    case 'not_due':
      return `Not due before ${span(gate.dueAt - now)}: ${gate.reason}`
    case 'retry_quota':
      return `Over the retry quota ${gate.name}, for ${span(gate.dueAt - now)}`
    case 'no_worker':
      return 'No worker can take it'
  }
}

/** Two gates of one hold are the same. */
export function gateKey(gate: Gate): string {
  if (gate.kind === 'breaker') return `breaker ${gate.name} ${gate.tenant ?? ''}`
  if (gate.kind === 'paused' || gate.kind === 'concurrency')
    return `${gate.kind} ${gate.rank} ${JSON.stringify(PARTS.map((part) => gate.scope[part] ?? null))}`
  return gate.kind
}
