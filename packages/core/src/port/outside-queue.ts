// The OutsideQueue port: a queue of somebody else's, such as SQS, by which tasks come in and retries go out. It delivers each
// message at least once: a delivery is hidden from others for a while and comes again unless it is removed. What a message
// means is not its business (orchestrator/src/queue-message.ts); neither is what becomes of it.

import { utf8Length } from '../model/json.ts'

/** One delivery of a message. */
export interface QueueDelivery {
  /** The same for every delivery of one message. */
  readonly messageId: string
  /** Names this delivery, to remove it or to change when it is seen again. */
  readonly receipt: string
  readonly body: string
  /** Those that are texts. */
  readonly attributes: Readonly<Record<string, string>>
  /** Messages of one group come in their order; null where the queue keeps none. */
  readonly group: string | null
  /** How often it was delivered, with this time. */
  readonly receives: number
  readonly sentAt: number | null
}

export interface OutgoingMessage {
  readonly body: string
  readonly attributes: Readonly<Record<string, string>>
  /** For a queue that keeps an order. */
  readonly group: string
  /** A queue that keeps an order takes a second message with the same one as the first, for some minutes. */
  readonly dedupeId: string
}

/** What became of one entry of a batch: null if it went well. */
export type QueueProblem = Error | null

export interface QueueFacts {
  readonly name: string
  /** Whether it keeps the order of each group. */
  readonly isFifo: boolean
  readonly maxMessageBytes: number
  /** About as many, as the queue itself says. */
  readonly visible: number
  readonly inFlight: number
  readonly delayed: number
  /** After how many deliveries the queue gives a message up, and moves it to its dead-letter queue; null if it never does. */
  readonly maxReceives: number | null
}

export interface ReceiveOptions {
  /** At most 10. */
  readonly limit: number
  /** How long to wait for a first one; up to 20 s. */
  readonly waitMs: number
  /** How long what is delivered is hidden from others. */
  readonly visibilityMs: number
}

export interface OutsideQueue {
  readonly name: string
  facts(): Promise<QueueFacts>
  /** Comes back empty when the signal fires. */
  receive(options: ReceiveOptions, signal?: AbortSignal): Promise<readonly QueueDelivery[]>
  /** In their order; each may fail by itself, and comes again then. */
  remove(receipts: readonly string[]): Promise<readonly QueueProblem[]>
  /** Each is seen by others again after its time, from now on. */
  hide(entries: readonly { readonly receipt: string; readonly forMs: number }[]): Promise<readonly QueueProblem[]>
  /** A message that is too large for the queue is a `TooLargeError`, and is not sent. */
  send(messages: readonly OutgoingMessage[]): Promise<readonly QueueProblem[]>
  /** Where the queue puts what it gave up; null if it has no such place. */
  deadLetters(): Promise<OutsideQueue | null>
  close(): void
}

/** What it counts as on its way: the text, and the names, types and values of its attributes. */
export function messageBytes({ body, attributes }: Pick<OutgoingMessage, 'body' | 'attributes'>): number {
  const texts = Object.entries(attributes).flatMap(([name, value]) => [name, STRING_TYPE, value])
  return [body, ...texts].reduce((sum, text) => sum + utf8Length(text), 0)
}

const STRING_TYPE = 'String'
