// A small stream of tasks for the demo: a few each second, most of which work. It waits while much is unfinished, so that a
// paused lane or an outage does not pile up without end.

import { type Clock, createService, type Random, type Service, sleep } from '@reprise/core'
import type { DemoPayload } from './actions.ts'

/** What the stream needs of a client. */
export interface DemoClient {
  submit(action: string, payload: DemoPayload, options: { readonly tenant: string }): Promise<unknown>
  counts(): Promise<{ readonly queued: number; readonly waiting: number; readonly running: number }>
}

const PAUSE_MS = 400
const UNFINISHED_MAX = 200
const TENANTS = ['acme', 'globex', 'initech'] as const

interface Kind {
  readonly action: string
  /** How often, next to the others. */
  readonly weight: number
  /** Which share of them goes wrong. */
  readonly faulty: number
}

const KINDS: readonly Kind[] = [
  { action: 'email.send', weight: 5, faulty: 0.4 },
  { action: 'payment.charge', weight: 5, faulty: 0.15 },
  { action: 'report.build', weight: 2, faulty: 0.2 },
  { action: 'contact.import', weight: 3, faulty: 0.2 },
  { action: 'invoice.render', weight: 3, faulty: 0.1 },
]
const WEIGHTS = KINDS.reduce((sum, { weight }) => sum + weight, 0)

export function createDemoStream(
  client: DemoClient,
  clock: Clock,
  random: Random,
  onError: (error: unknown) => void,
): Service {
  return createService(
    'demo',
    async (signal) => {
      // One of each that goes wrong, so that there is something to look at from the start.
      const opening = KINDS.map((kind) => ({ kind, isFaulty: true }))
      while (!signal.aborted) {
        try {
          await submitOne(client, random, opening.shift())
        } catch (error) {
          // The store may be away for a while; the stream goes on when it is back.
          onError(error)
        }
        await sleep(clock, PAUSE_MS, signal)
      }
    },
    onError,
  )
}

interface Drawn {
  readonly kind: Kind
  readonly isFaulty: boolean
}

function drawn(random: Random): Drawn {
  const kind = kindFor(random.next())
  return { kind, isFaulty: random.next() < kind.faulty }
}

async function submitOne(client: DemoClient, random: Random, wanted: Drawn | undefined): Promise<void> {
  const { queued, waiting, running } = await client.counts()
  if (queued + waiting + running >= UNFINISHED_MAX) return
  const { kind, isFaulty } = wanted ?? drawn(random)
  const person = `person${Math.floor(random.next() * 1_000)}`
  await client.submit(
    kind.action,
    {
      workMs: Math.round(50 + random.next() * 400),
      faultyAttempts: isFaulty ? 1 + Math.floor(random.next() * 2) : 0,
      to: isFaulty ? person : `${person}@example.com`,
    },
    { tenant: TENANTS[Math.floor(random.next() * TENANTS.length)] ?? TENANTS[0] },
  )
}

function kindFor(roll: number): Kind {
  let rest = roll * WEIGHTS
  for (const kind of KINDS) {
    rest -= kind.weight
    if (rest < 0) return kind
  }
  return { action: 'hello', weight: 0, faulty: 0 }
}
