// The actions of the demo: six kinds of work, each with a fault of its own. A handler is plain code that returns or
// throws. What becomes of a failure (retry when, or dead letter) follows from what it throws and from these settings.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Backoff, defineAction, PermanentError, RetryAfterError, TransientError } from '@reprise/worker'

/** How long the pretended work takes, and how many of the first attempts meet the action's fault. */
export interface Rehearsal {
  readonly workMs: number
  readonly faultyAttempts: number
}

/** Short, so that the demo ends soon. The default starts at one second and doubles up to five minutes. */
const SHORT_BACKOFF: Backoff = { kind: 'exponential', baseMs: 250, multiplier: 2, maxMs: 1_000, jitter: 0.2 }

/** Asked for too much, and told when to come back: RetryAfterError waits exactly that long. */
export const sendEmail = defineAction({
  name: 'email.send',
  retry: { max: 3, backoff: SHORT_BACKOFF },
  async run(input: Rehearsal & { readonly to: string }, { attempt, signal }) {
    if (attempt <= input.faultyAttempts) {
      throw new RetryAfterError('800ms', 'Too many requests: the mail provider takes more in 800 ms.')
    }
    await sleep(input.workMs, undefined, { signal })
    return { deliveredTo: input.to }
  },
})

/** Throws what a socket throws. Reprise knows ECONNRESET for a passing fault; the handler need not say so. */
export const chargePayment = defineAction({
  name: 'payment.charge',
  retry: { max: 3, backoff: SHORT_BACKOFF },
  async run(input: Rehearsal & { readonly cents: number }, { attempt, retryToken, signal }) {
    await sleep(input.workMs, undefined, { signal })
    if (attempt <= input.faultyAttempts) {
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    }
    // The same at every attempt: a payment provider that gets it never charges twice.
    return { charged: input.cents, idempotencyKey: retryToken }
  },
})

/** Knows more than any rule can: TransientError says that trying again is worth it. */
export const syncStock = defineAction({
  name: 'stock.sync',
  retry: { max: 3, backoff: SHORT_BACKOFF },
  async run(input: Rehearsal & { readonly warehouse: string }, { attempt, signal }) {
    await sleep(input.workMs, undefined, { signal })
    if (attempt <= input.faultyAttempts) {
      throw new TransientError(`Warehouse '${input.warehouse}' is in the middle of its own stocktaking.`)
    }
    return { warehouse: input.warehouse }
  },
})

/** Hangs at first. The timeout ends the attempt, and the signal tells the handler to stop. */
export const buildReport = defineAction({
  name: 'report.build',
  retry: { max: 2, backoff: SHORT_BACKOFF },
  timeout: '700ms',
  async run(input: Rehearsal & { readonly month: string }, { attempt, progress, signal }) {
    progress(0, 'reading the ledger')
    if (attempt <= input.faultyAttempts) await sleep(60_000, undefined, { signal })
    await sleep(input.workMs / 2, undefined, { signal })
    progress(0.5, 'drawing the pages')
    await sleep(input.workMs / 2, undefined, { signal })
    return { month: input.month, pages: 12 }
  },
})

/** Fails for good where retrying can't help: by the handler's own word, or by an HTTP status that means so. */
export const importContact = defineAction({
  name: 'contact.import',
  retry: { max: 3, backoff: SHORT_BACKOFF },
  async run(input: { readonly workMs: number; readonly email: string; readonly book: string }, { signal }) {
    await sleep(input.workMs, undefined, { signal })
    if (!input.email.includes('@')) {
      throw new PermanentError(`Validation failed: '${input.email}' is not an e-mail address.`)
    }
    if (input.book === 'archive') {
      throw Object.assign(new Error(`There is no address book '${input.book}'.`), { status: 404 })
    }
    return { email: input.email, book: input.book }
  },
})

/** Takes its whole worker process down. Such losses have a budget of their own: the fourth makes it a dead letter. */
export const transcodeVideo = defineAction({
  name: 'video.transcode',
  retry: { max: 3, backoff: SHORT_BACKOFF },
  maxLosses: 3,
  async run(input: Rehearsal & { readonly title: string }, { attempt, signal }) {
    await sleep(input.workMs, undefined, { signal })
    if (attempt <= input.faultyAttempts) process.exit(OUT_OF_MEMORY)
    return { title: input.title }
  },
})

/** What a shell shows for a process that the kernel ended because memory ran out. */
const OUT_OF_MEMORY = 137

export const ACTIONS = [sendEmail, chargePayment, syncStock, buildReport, importContact, transcodeVideo]
