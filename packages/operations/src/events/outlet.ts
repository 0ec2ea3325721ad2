// What deliveries go to: webhooks, channels of alerts, or outside systems of work orders. All are served by the same runner, with leases, retries and a log; an
// outlet says what is different: which entries of the journal each receiver is to hear of, and how it is spoken to.

import type { JournalEntry, Stored, TenantId } from '@reprise/core'
import type { SentEvent } from './event.ts'
import type { Delivery, DeliveryOwner } from './webhook-deliveries.ts'
import type { SendResult } from './webhook-target.ts'

export type Receiver = DeliveryOwner

/** An event, and whose it is. */
export interface Wanted {
  readonly event: SentEvent
  readonly tenant: TenantId | null
}

export interface Outlet<R extends Receiver> {
  /** As the journal names a receiver of this kind. */
  readonly kind: 'webhook' | 'channel'
  /** Those that are to be served now. */
  enabled(): Promise<readonly Stored<R>[]>
  /** What a receiver is to get for an entry, and whose that is; null if nothing. The same entry gives the same event. */
  eventFor(receiver: R, entry: JournalEntry): Promise<Wanted | null>
  send(receiver: R, delivery: Delivery, signal: AbortSignal): Promise<SendResult>
  /** Its receiver has said that it is gone. */
  disable(id: string, because: string): Promise<void>
  /** For the journal: without secrets. */
  nameOf(receiver: R): string
  /** How long to wait after each failed try; then it is given up. */
  readonly retryDelaysMs: readonly number[]
  /** Requests to one receiver at a time. */
  readonly sendsAtOnce: number
  /** What there is to do every so often, beside deliveries. Answers events that are to be delivered as well. */
  readonly tend?: { readonly everyMs: number; run(receiver: R, signal: AbortSignal): Promise<readonly Wanted[]> }
}
