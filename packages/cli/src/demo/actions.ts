// The actions of `reprise up --demo`: pretended work that goes wrong in the ways that real work does, so that there is something
// to look at. What a handler throws, and its settings, decide what becomes of a failure; each says what to expect of it.

import { type Clock, defineAction, PermanentError, RetryAfterError, sleep } from '@reprise/core'

/** How one task is to behave. The stream draws it; a task that is submitted by hand just works. */
export interface DemoPayload {
  readonly workMs?: number
  /** How many of the first attempts go wrong. */
  readonly faultyAttempts?: number
  readonly to?: string
  readonly name?: string
}

/** Down for the first part of each period, so that its breaker can be seen to open, probe and close. */
const OUTAGE_PERIOD_MS = 180_000
const OUTAGE_MS = 25_000

const BACKOFF = { kind: 'exponential', base: '1s', max: '15s' } as const

export function demoActions(clock: Clock) {
  const startedAt = clock.monotonic()
  const isStripeDown = (): boolean => {
    const at = clock.monotonic() - startedAt
    return at > OUTAGE_PERIOD_MS && at % OUTAGE_PERIOD_MS < OUTAGE_MS
  }
  const work = (input: DemoPayload | null, signal: AbortSignal): Promise<void> =>
    sleep(clock, input?.workMs ?? 50, signal, { hold: true })
  return [
    /** Always works. */
    defineAction({
      name: 'hello',
      run: (input: DemoPayload | null) => ({ greeting: `Hello, ${input?.name ?? 'world'}.` }),
    }),

    /** The provider asks for patience: the retry waits exactly that long, and works. */
    defineAction({
      name: 'email.send',
      retry: { max: 3, backoff: BACKOFF },
      async run(input: DemoPayload | null, { attempt, signal }) {
        await work(input, signal)
        if (attempt <= (input?.faultyAttempts ?? 0)) throw new RetryAfterError('3s', 'Too many requests: wait 3 s.')
        return { deliveredTo: input?.to ?? 'nobody' }
      },
    }),

    /** Depends on something that is down now and then: a breaker parks its tasks, and no attempt is used up. */
    defineAction({
      name: 'payment.charge',
      retry: { max: 5, backoff: BACKOFF },
      uses: ['stripe'],
      // Quick to open and to close again: so few tasks come that the usual settings would take minutes.
      breaker: { window: '10s', minFailures: 2, failureRate: 0.3, open: '4s', maxOpen: '8s', probes: 2, maxRamp: 4 },
      async run(input: DemoPayload | null, { attempt, retryToken, signal }) {
        await work(input, signal)
        if (isStripeDown() || attempt <= (input?.faultyAttempts ?? 0)) {
          throw Object.assign(new Error('connect ECONNREFUSED 203.0.113.7:443'), { code: 'ECONNREFUSED' })
        }
        return { charged: true, idempotencyKey: retryToken }
      },
    }),

    /** Hangs now and then until its time-out ends the attempt. Reports how far it is. */
    defineAction({
      name: 'report.build',
      retry: { max: 2, backoff: BACKOFF },
      timeout: '4s',
      async run(input: DemoPayload | null, { attempt, progress, signal }) {
        progress(0, 'reading the ledger')
        if (attempt <= (input?.faultyAttempts ?? 0)) await sleep(clock, 60_000, signal)
        signal.throwIfAborted()
        for (let page = 1; page <= 10; page++) {
          await sleep(clock, (input?.workMs ?? 500) / 10, signal, { hold: true })
          progress(page / 10, `page ${page} of 10`)
        }
        return { pages: 10 }
      },
    }),

    /** Some of its input is wrong for good: a dead letter at once, all of one failure group. */
    defineAction({
      name: 'contact.import',
      retry: { max: 3 },
      async run(input: DemoPayload | null, { signal }) {
        await work(input, signal)
        const to = input?.to ?? ''
        if (!to.includes('@')) throw new PermanentError(`Validation failed: '${to}' is not an e-mail address.`)
        return { imported: to }
      },
    }),

    /** Has a bug that nobody foresaw. No rule knows the error, so it is not tried again: it waits for a person. */
    defineAction({
      name: 'invoice.render',
      retry: { max: 3 },
      async run(input: DemoPayload | null, { signal }) {
        await work(input, signal)
        if ((input?.faultyAttempts ?? 0) > 0)
          throw new TypeError("Cannot read properties of undefined (reading 'total')")
        return { rendered: true }
      },
    }),
  ]
}
