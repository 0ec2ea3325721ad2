// The way in from an outside queue (A2, A3, A6, A7): receives messages for as many slots as are free, sends each through the
// funnel of its launch pool, and removes it from the queue once its reservation stands. A delivery ends in one of three ways:
//
//   removed   its attempt runs, ran before (a duplicate), is above the ceiling, or the message is kept aside for a person
//   hidden    for a while, and then delivered again: no slot, the launch failed, the attempt before still runs, trouble
//   left      this process died: the queue delivers it again by itself, and the reservation says what is left to do
//
// While a delivery is in hand, it is kept hidden from others. Messages of one group are taken in their order: after one that
// must come again, those behind it come again too. How often a message comes is the queue's to limit, with its dead letters.

import {
  type Backoff,
  backoffMs,
  CompletionWishes,
  type Engine,
  isRepriseError,
  type KnownActions,
  type Meter,
  messageOf,
  type OutsideQueue,
  QUEUE_DEPTH,
  QUEUE_MESSAGES_TOTAL,
  type QueueDelivery,
  type QueueProblem,
  type Service,
  silentMeter,
  sleep,
  type WakeUp,
} from '@reprise/core'
import { KEPT_MAX, keepMessage, keptCount } from './kept-messages.ts'
import type { LaunchMessage, LaunchService } from './launch.ts'
import type { LaunchLedger } from './launch-ledger.ts'
import { readMessage } from './queue-message.ts'
import { createLoop, type Run, type ServiceOptions, type Surroundings, surroundings } from './service.ts'

/** Between two steps, for tests that crash the process. */
export type IntakePoint = 'received' | 'taken' | 'removed'

export interface QueueIntakeOptions extends ServiceOptions {
  readonly engine: Engine
  readonly queue: OutsideQueue
  readonly pools: ReadonlyMap<string, { readonly launch: LaunchService; readonly ledger: LaunchLedger }>
  readonly catalogue: KnownActions
  readonly meter?: Meter | undefined
  /** How long a delivery is hidden from others at a time; 30 s if not given. */
  readonly visibilityMs?: number
  /** How long one question to the queue waits for a message; 20 s if not given. */
  readonly waitMs?: number
  /** How long a message is hidden that must come again, by how often it came. */
  readonly backoff?: Backoff
  readonly at?: (point: IntakePoint) => void
}

type Outcome =
  | 'launched'
  | 'duplicate'
  | 'dropped'
  | 'kept'
  | 'launch_failed'
  | 'no_slot'
  | 'not_yet'
  | 'no_pool'
  | 'error'
  | 'put_back'

const REMOVED: ReadonlySet<Outcome> = new Set<Outcome>(['launched', 'duplicate', 'dropped', 'kept'])

interface Handled {
  readonly delivery: QueueDelivery
  readonly outcome: Outcome
}

const RECEIVE_MAX = 10
/** In hand at once: what one process holds in memory. */
const HAND_MAX = 100
/** How long a round waits for a slot before it looks again. */
const FULL_MS = 1_000
/** A queue that answers at once that it is empty is not asked more often than this. */
const EMPTY_MS = 100
/** While nothing that comes can be launched, the queue is asked less often. */
const HELD_BACKOFF: Backoff = { kind: 'exponential', baseMs: 200, multiplier: 2, maxMs: 10_000, jitter: 0.2 }
const AGAIN_BACKOFF: Backoff = { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 300_000, jitter: 0.2 }
/** After the message should have come again, the store waits for this much more. */
const PUT_OFF_MS = 60_000
const FACTS_EVERY_MS = 15_000
const KEPT_FRESH_MS = 60_000

export function createQueueIntake(options: QueueIntakeOptions): Service {
  const around = surroundings('queue intake', options)
  return createLoop('queue intake', around, () => new IntakeRun(options, around))
}

class IntakeRun implements Run {
  readonly #options: QueueIntakeOptions
  readonly #around: Surroundings
  readonly #meter: Meter
  readonly #wishes: CompletionWishes
  readonly #visibilityMs: number
  readonly #ledgers: readonly LaunchLedger[]
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #told = new Set<string>()
  #inHand = 0
  /** Rounds in a row of which nothing could be launched. */
  #heldInRow = 0
  /** The store failed since it was last asked. */
  #isStoreDoubtful = false
  #isStopping = false
  #factsAt = Number.NEGATIVE_INFINITY
  #kept: { readonly count: number; readonly at: number } | null = null

  constructor(options: QueueIntakeOptions, around: Surroundings) {
    this.#options = options
    this.#around = around
    this.#meter = options.meter ?? silentMeter
    this.#wishes = new CompletionWishes(options.engine, around.clock)
    this.#visibilityMs = options.visibilityMs ?? 30_000
    this.#ledgers = [...options.pools.values()].map(({ ledger }) => ledger)
  }

  async round(signal: AbortSignal): Promise<number> {
    const { engine, queue, waitMs = 20_000, at } = this.#options
    const { clock, random } = this.#around
    // Without the store each delivery would only be used up.
    if (this.#isStoreDoubtful) await engine.now()
    this.#isStoreDoubtful = false
    this.#lookAtQueue()
    const free = this.#ledgers.reduce((sum, ledger) => sum + ledger.freeAt(clock.monotonic()), 0)
    const limit = Math.min(free - this.#inHand, HAND_MAX - this.#inHand, RECEIVE_MAX)
    if (limit <= 0) {
      await this.#room.waitFor(clock, FULL_MS, signal)
      return 0
    }
    const askedAt = clock.monotonic()
    const deliveries = await queue.receive({ limit, waitMs, visibilityMs: this.#visibilityMs }, signal)
    if (deliveries.length === 0) return Math.max(EMPTY_MS - (clock.monotonic() - askedAt), 0)
    at?.('received')
    this.#watch(this.#take(deliveries), deliveries.length)
    return this.#heldInRow === 0 ? 0 : backoffMs(HELD_BACKOFF, this.#heldInRow - 1, random.next())
  }

  async leave(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#underWay)
  }

  /** Several pools share the first one's: the others are looked at by the clock. */
  get #room(): WakeUp {
    const [first] = this.#ledgers
    if (first === undefined) throw new Error('A queue needs a launch pool.')
    return first.freedForMessages
  }

  #watch(work: Promise<void>, count: number): void {
    this.#inHand += count
    const watched = work
      .catch((error: unknown) => this.#trouble('Messages of the queue were left to it', error))
      .finally(() => {
        this.#inHand -= count
        this.#underWay.delete(watched)
        for (const ledger of this.#ledgers) ledger.freedForMessages.call()
      })
    this.#underWay.add(watched)
  }

  async #take(deliveries: readonly QueueDelivery[]): Promise<void> {
    const { queue, at } = this.#options
    const done = new AbortController()
    const hiding = this.#keepHidden(deliveries, done.signal)
    const handled = (await Promise.all(inGroups(deliveries).map((group) => this.#takeInOrder(group)))).flat()
    done.abort()
    await hiding
    at?.('taken')
    for (const { outcome } of handled) this.#meter.count(QUEUE_MESSAGES_TOTAL, { queue: queue.name, outcome })
    const [removed, again] = [true, false].map((is) => handled.filter(({ outcome }) => REMOVED.has(outcome) === is))
    await Promise.all([this.#remove(removed ?? []), this.#hide(again ?? [])])
    at?.('removed')
    const isHeld = handled.every(({ outcome }) => outcome === 'no_slot' || outcome === 'no_pool' || outcome === 'error')
    this.#heldInRow = isHeld ? this.#heldInRow + 1 : 0
  }

  async #takeInOrder(deliveries: readonly QueueDelivery[]): Promise<Handled[]> {
    const handled: Handled[] = []
    for (const delivery of deliveries) {
      const isBehind = handled.some(({ outcome }) => !REMOVED.has(outcome))
      handled.push({ delivery, outcome: isBehind || this.#isStopping ? 'put_back' : await this.#takeOne(delivery) })
    }
    return handled
  }

  async #takeOne(delivery: QueueDelivery): Promise<Outcome> {
    const { queue, catalogue, pools } = this.#options
    try {
      const context = { queue: queue.name, catalogue, wishes: this.#wishes }
      const message: LaunchMessage = await readMessage(delivery, context)
      const pool = pools.get(message.task.pool)
      if (pool === undefined) {
        this.#tellOnce(
          `'${message.task.pool}' is no launch pool here, and ${message.task.action} came by the queue for it.`,
        )
        return 'no_pool'
      }
      const putOffMs = againMs(this.#options, delivery, 1) + this.#visibilityMs + PUT_OFF_MS
      return await pool.launch.receive({ ...message, putOffMs })
    } catch (error) {
      return this.#refused(delivery, error)
    }
  }

  async #refused(delivery: QueueDelivery, error: unknown): Promise<Outcome> {
    if (isRepriseError(error, 'REPRISE_NO_AVAILABLE_SLOT')) return 'no_slot'
    const isOtherTask = isRepriseError(error, 'REPRISE_CONFLICT') && 'differs' in error
    const isUnreadable = isRepriseError(error, 'REPRISE_INVALID') || isRepriseError(error, 'REPRISE_TOO_LARGE')
    if (isOtherTask || isUnreadable) return this.#keep(delivery, error)
    // The attempt before it still runs, or has not come yet.
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return 'not_yet'
    this.#trouble('A message of the queue could not be taken in', error)
    return 'error'
  }

  async #keep(delivery: QueueDelivery, error: Error): Promise<Outcome> {
    const { engine, queue } = this.#options
    const { clock, log } = this.#around
    try {
      if (this.#kept === null || clock.monotonic() - this.#kept.at > KEPT_FRESH_MS) {
        this.#kept = { count: await keptCount(engine, queue.name), at: clock.monotonic() }
      }
      if (this.#kept.count >= KEPT_MAX) {
        this.#tellOnce(
          `${KEPT_MAX} messages of '${queue.name}' are kept aside. Look at them: others stay in the queue.`,
        )
        return 'error'
      }
      await keepMessage(engine, queue.name, delivery, { reason: messageOf(error), now: await engine.now() })
      this.#kept = { ...this.#kept, count: this.#kept.count + 1 }
      log.warn(`A message of the queue was kept aside: ${messageOf(error)}`, { message: delivery.messageId })
      return 'kept'
    } catch (keepError) {
      this.#trouble('A message of the queue could not be kept aside', keepError)
      return 'error'
    }
  }

  async #remove(handled: readonly Handled[]): Promise<void> {
    if (handled.length === 0) return
    const problems = await this.#options.queue.remove(handled.map(({ delivery }) => delivery.receipt))
    this.#report('could not be removed from the queue and will come again', handled, problems)
  }

  async #hide(handled: readonly Handled[]): Promise<void> {
    if (handled.length === 0) return
    const { random } = this.#around
    const problems = await this.#options.queue.hide(
      handled.map(({ delivery, outcome }) => {
        const forMs = outcome === 'put_back' ? 0 : againMs(this.#options, delivery, random.next())
        return { receipt: delivery.receipt, forMs }
      }),
    )
    this.#report('could not be put off and will come again sooner', handled, problems)
  }

  async #keepHidden(deliveries: readonly QueueDelivery[], done: AbortSignal): Promise<void> {
    const { clock } = this.#around
    for (;;) {
      await sleep(clock, this.#visibilityMs / 3, done)
      if (done.aborted) return
      try {
        await this.#options.queue.hide(deliveries.map(({ receipt }) => ({ receipt, forMs: this.#visibilityMs })))
      } catch (error) {
        this.#around.onError(error)
      }
    }
  }

  #report(words: string, handled: readonly Handled[], problems: readonly QueueProblem[]): void {
    const { log, onError } = this.#around
    for (const [index, { delivery }] of handled.entries()) {
      const error = problems[index] ?? null
      if (error === null) continue
      log.warn(`A message ${words}: ${messageOf(error)}`, { message: delivery.messageId })
      onError(error)
    }
  }

  #trouble(words: string, error: unknown): void {
    this.#isStoreDoubtful = true
    this.#around.log.warn(`${words}: ${messageOf(error)}`, { error })
    this.#around.onError(error)
  }

  #tellOnce(words: string): void {
    if (this.#told.has(words) || this.#told.size >= KEPT_MAX) return
    this.#told.add(words)
    this.#around.log.warn(words)
    this.#around.onError(new Error(words))
  }

  /** Beside the rounds: a figure that comes late hurts nobody. */
  #lookAtQueue(): void {
    const { clock } = this.#around
    if (clock.monotonic() - this.#factsAt < FACTS_EVERY_MS) return
    this.#factsAt = clock.monotonic()
    const { queue } = this.#options
    const show = async (): Promise<void> => {
      const { visible, inFlight, delayed } = await queue.facts()
      const dead = await (await queue.deadLetters())?.facts()
      const states = { visible, in_flight: inFlight, delayed, dead_letters: dead?.visible ?? 0 }
      for (const [state, count] of Object.entries(states)) {
        this.#meter.observe(QUEUE_DEPTH, { queue: queue.name, state }, count)
      }
    }
    show().catch((error: unknown) => this.#around.onError(error))
  }
}

const againMs = ({ backoff = AGAIN_BACKOFF }: QueueIntakeOptions, { receives }: QueueDelivery, roll: number): number =>
  backoffMs(backoff, Math.max(receives - 1, 0), roll)

/** Those without a group are on their own. */
function inGroups(deliveries: readonly QueueDelivery[]): readonly (readonly QueueDelivery[])[] {
  const groups = new Map<string, QueueDelivery[]>()
  for (const delivery of deliveries) {
    const key = delivery.group === null ? `alone ${delivery.receipt}` : `group ${delivery.group}`
    groups.set(key, [...(groups.get(key) ?? []), delivery])
  }
  return [...groups.values()]
}
