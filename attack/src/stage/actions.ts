// What the platform's own worker runs, for every tenant: the payload says how long it takes and how it ends, as payloads of
// real actions do by what they ask for.

import { setTimeout as sleep } from 'node:timers/promises'
import { defineAction } from '@reprise/worker'

interface Order {
  readonly ms?: number
  /** The message that it fails with. */
  readonly fail?: string
  readonly code?: string
  /** What it answers, and how often. */
  readonly reply?: string
  readonly repeat?: number
}

async function work(order: Order | null, { signal }: { readonly signal: AbortSignal }): Promise<unknown> {
  const { ms = 0, fail, code, reply, repeat = 1 } = order ?? {}
  if (ms > 0) await sleep(ms, undefined, { signal })
  if (fail !== undefined) throw Object.assign(new Error(fail), code === undefined ? {} : { code })
  return reply === undefined ? 'done' : Array.from({ length: repeat }, () => reply)
}

/** Only what a rule knows is retried: the attacks look at dead letters. */
const RETRIES = { retry: { max: 2, unknown: false } } as const

export const shared = defineAction({ name: 'shared.work', ...RETRIES, run: work })
/** It depends on something that may be out of order. */
export const dependent = defineAction({ name: 'shared.dependent', ...RETRIES, uses: ['bank'], run: work })
