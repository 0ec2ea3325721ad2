// Delivers for one receiver, a webhook or a channel, while this server holds its lease. Loops side by side: one writes down a delivery
// for each event of the journal and then moves the cursor, one sends what is due, one keeps the lease, and one does what an outlet has
// to do beside that, if it has anything. An event is written down before
// the cursor passes it and stays pending until an answer was recorded, so a crash between any two steps repeats and loses
// nothing. A failing event holds up no other: each has its own next time. Only when very many are pending does the cursor wait.

import { type Clock, type Engine, type JournalEntry, type Random, type Stored, sleep, turnsOf } from '@reprise/core'
import type { EventFeed } from './feed.ts'
import type { Outlet, Receiver, Wanted } from './outlet.ts'
import type { Delivery, WebhookDeliveries } from './webhook-deliveries.ts'
import type { WebhookLease } from './webhook-lease.ts'
import type { SendResult } from './webhook-target.ts'

export interface RunnerPorts<R extends Receiver> {
  readonly engine: Pick<Engine, 'journal'>
  readonly feed: EventFeed
  readonly outlet: Outlet<R>
  readonly deliveries: WebhookDeliveries
  readonly clock: Clock
  readonly random: Random
  readonly onError: (error: unknown) => void
}

const JITTER = 0.1
/** Deliveries that may be pending before the cursor stands still. */
export const PENDING_MAX = 500
const LOOK_MS = 1_000
const STORE_REST_MS = 5_000
/** Entries of this actor are about deliveries; to deliver them would never end. */
const WEBHOOKS_ACTOR = 'webhooks'

interface Pending {
  nextAt: number
  isBusy: boolean
}

export class WebhookRunner<R extends Receiver> {
  readonly #ports: RunnerPorts<R>
  readonly #receiver: R
  readonly #lease: WebhookLease
  readonly #pending = new Map<string, Pending>()
  readonly #sending = new Set<Promise<void>>()
  readonly #over = new AbortController()
  #change = Promise.withResolvers<void>()
  #ended = 0
  /** Nothing is sent before: the receiver asked for a rest. */
  #restUntil = 0

  constructor(ports: RunnerPorts<R>, receiver: R, lease: WebhookLease) {
    this.#ports = ports
    this.#receiver = receiver
    this.#lease = lease
  }

  /** Until the signal fires, the receiver is gone, or something fails: the lease lost, the store in trouble. */
  async run(signal: AbortSignal): Promise<void> {
    const over = AbortSignal.any([signal, this.#over.signal])
    const { deliveries } = this.#ports
    this.#ended = await deliveries.trim(this.#receiver.id, await deliveries.countEnded(this.#receiver.id))
    await this.#load()
    const loops = [this.#writeDown(over), this.#send(over), this.#keepLease(over), this.#tend(over)]
    try {
      await Promise.all(loops)
    } finally {
      this.#over.abort()
      await Promise.allSettled(loops)
      await Promise.allSettled(this.#sending)
    }
  }

  async #load(): Promise<void> {
    for await (const { document } of this.#ports.deliveries.pending(this.#receiver.id)) {
      const known = this.#pending.get(document.id)
      if (known?.isBusy !== true) this.#pending.set(document.id, { nextAt: document.nextAt ?? 0, isBusy: false })
    }
    this.#changed()
  }

  async #writeDown(over: AbortSignal): Promise<void> {
    const { feed, clock } = this.#ports
    const turns = turnsOf(clock)
    while (!over.aborted) {
      if (this.#pending.size >= PENDING_MAX) {
        await this.#untilChange(over, LOOK_MS)
        continue
      }
      const page = await feed.next(this.#lease.cursor, over)
      if (page === null) return
      let written = 0
      for (const entry of page.entries) {
        if (turns.isSpent) await turns.wait()
        if (await this.#writeEntry(entry)) written++
      }
      await this.#lease.moveTo(page.cursor, written > 0)
      if (written > 0) this.#changed()
    }
  }

  async #writeEntry(entry: JournalEntry): Promise<boolean> {
    if (entry.actor === WEBHOOKS_ACTOR) return false
    const wanted = await this.#ports.outlet.eventFor(this.#receiver, entry)
    if (wanted === null) return false
    await this.#write(wanted)
    return true
  }

  async #write({ event, tenant }: Wanted): Promise<void> {
    const { deliveries, clock } = this.#ports
    const now = clock.now()
    const deliveryId = await deliveries.write(this.#receiver.id, event, tenant, now)
    if (!this.#pending.has(deliveryId)) this.#pending.set(deliveryId, { nextAt: now, isBusy: false })
  }

  async #tend(over: AbortSignal): Promise<void> {
    const { tend } = this.#ports.outlet
    while (tend !== undefined && !over.aborted) {
      const wanted = await tend.run(this.#receiver, over)
      for (const one of wanted) if (this.#pending.size < PENDING_MAX) await this.#write(one)
      if (wanted.length > 0) this.#changed()
      await sleep(this.#ports.clock, tend.everyMs, over)
    }
  }

  async #send(over: AbortSignal): Promise<void> {
    const { clock } = this.#ports
    while (!over.aborted) {
      const now = clock.now()
      let wakeAt = now + LOOK_MS
      for (const [id, pending] of this.#pending) {
        if (this.#sending.size >= this.#ports.outlet.sendsAtOnce) break
        if (pending.isBusy) continue
        const dueAt = Math.max(pending.nextAt, this.#restUntil)
        if (dueAt <= now) this.#start(id, pending, over)
        else wakeAt = Math.min(wakeAt, dueAt)
      }
      await this.#untilChange(over, wakeAt - now)
    }
  }

  #start(id: string, pending: Pending, over: AbortSignal): void {
    pending.isBusy = true
    const sent = this.#deliver(id, pending, over)
      .catch((error: unknown) => {
        // The store is in trouble: what was sent is sent again, under the same id.
        this.#ports.onError(error)
        pending.nextAt = this.#ports.clock.now() + STORE_REST_MS
      })
      .finally(() => {
        pending.isBusy = false
        this.#sending.delete(sent)
        this.#changed()
      })
    this.#sending.add(sent)
  }

  async #deliver(id: string, pending: Pending, over: AbortSignal): Promise<void> {
    const { deliveries, outlet } = this.#ports
    const stored = await deliveries.get(id)
    if (stored === null || stored.document.status !== 'pending') return void this.#pending.delete(id)
    if (!(await deliveries.isOf(this.#receiver, stored.document))) {
      // Written down while the receiver was about more than it is now.
      this.#pending.delete(id)
      return deliveries.remove(id)
    }
    const result = await outlet.send(this.#receiver, stored.document, over)
    // Given up by us, not by the receiver: the next server sends it again.
    if (over.aborted && result.log.status === null) return
    const next = await this.#consequence(stored, result)
    const recorded = await deliveries.record(stored, next, result.log)
    const current = recorded ?? (await deliveries.get(id))?.document
    if (current?.status === 'pending') {
      pending.nextAt = current.nextAt ?? 0
    } else {
      this.#pending.delete(id)
      this.#ended = await deliveries.trim(this.#receiver.id, this.#ended + 1)
    }
    if (result.verdict === 'gone') await this.#gone()
  }

  async #consequence(
    { document }: Stored<Delivery>,
    { verdict, retryAfterMs, log }: SendResult,
  ): Promise<Pick<Delivery, 'status' | 'tries' | 'nextAt'>> {
    const { clock, random, outlet } = this.#ports
    const tries = document.tries + 1
    if (verdict === 'delivered') return { status: 'delivered', tries, nextAt: null }
    const delayMs = outlet.retryDelaysMs[tries - 1]
    if (verdict === 'gone' || delayMs === undefined) {
      // What a connection says of itself may name addresses inside, and the note is the tenant's.
      const isTold = log.status !== null || this.#receiver.tenant === null
      await this.#noteGivenUp(document, tries, isTold ? (log.error ?? '') : '')
      return { status: 'given_up', tries, nextAt: null }
    }
    const now = clock.now()
    if (retryAfterMs !== null) this.#restUntil = Math.max(this.#restUntil, now + retryAfterMs)
    const jittered = delayMs * (1 + JITTER * (random.next() * 2 - 1))
    return { status: 'pending', tries, nextAt: now + Math.round(Math.max(jittered, retryAfterMs ?? 0)) }
  }

  /** Told before it is recorded: told twice after a crash rather than never. */
  #noteGivenUp({ eventId, taskId }: Delivery, tries: number, error: string): Promise<void> {
    const { id, tenant } = this.#receiver
    const { outlet } = this.#ports
    const reason = `Event ${eventId} could not be delivered to ${outlet.nameOf(this.#receiver)} in ${tries} tries and is given up. ${error}`
    return this.#ports.engine.journal.append([
      {
        type: 'note',
        taskId: null,
        attempt: null,
        actor: WEBHOOKS_ACTOR,
        reason: reason.slice(0, 1_000).trim(),
        data: { [outlet.kind]: id, event: eventId, task: taskId, ...(tenant === null ? {} : { tenant }) },
      },
    ])
  }

  async #gone(): Promise<void> {
    await this.#ports.outlet.disable(this.#receiver.id, 'Its receiver answered 410.')
    this.#over.abort()
  }

  async #keepLease(over: AbortSignal): Promise<void> {
    let { nudges } = this.#lease
    while (!over.aborted) {
      await sleep(this.#ports.clock, LOOK_MS, over)
      if (over.aborted) return
      await this.#lease.keep()
      if (this.#lease.nudges === nudges) continue
      nudges = this.#lease.nudges
      await this.#load()
    }
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers<void>()
  }

  async #untilChange(over: AbortSignal, atMostMs: number): Promise<void> {
    const done = new AbortController()
    const rest = sleep(this.#ports.clock, atMostMs, AbortSignal.any([over, done.signal]))
    await Promise.race([this.#change.promise, rest])
    done.abort()
  }
}
