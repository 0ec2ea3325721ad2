// What the benchmark asks of a contestant, whoever it is: Reprise, a peer, or the limit of a store. Every measurement is
// written against this, so that all contestants go through the same.

import type { Input } from './payload.ts'
import type { Store } from './store.ts'

/** How many handlers may run at once, for every contestant that has handlers. */
export const CONCURRENCY = 100
/** How long a failed attempt waits for the next one, in measurements with failures. */
export const RETRY_DELAY_MS = 10

export interface QueueUnderTest {
  /** Comes back when the store has accepted them all. */
  submit(inputs: readonly Input[]): Promise<void>
  /** Starts working, and comes back when this many attempts have ended in the store. Called once. */
  process(attempts: number, handler?: Handler): Promise<void>
  counts(): Promise<EndedCounts>
  close(): Promise<void>
}

/** What only a queue with failures, delays and dead letters can do. */
export interface FullQueue extends QueueUnderTest {
  submitOne(input: Input): Promise<void>
  /** Each is due at the moment (epoch milliseconds) at the same place. */
  submitDelayed(inputs: readonly Input[], dueAt: readonly number[]): Promise<void>
  /** Sends all dead letters back to work. */
  redrive(): Promise<void>
}

/** How many tasks the store says have ended so. */
export interface EndedCounts {
  readonly succeeded: number
  readonly dead: number
}

export type Outcome = 'succeeds' | 'fails' | 'dies'

/** Decides how an attempt ends. The contestant's own handler calls it, and is async whatever it says. */
export type Handler = (input: Input, attempt: number) => Outcome

export const succeedAlways: Handler = () => 'succeeds'

export interface OpenOptions {
  /** One retry for each task, after RETRY_DELAY_MS. Otherwise a contestant's own default. */
  readonly retrying?: boolean
}

export type OpenQueue = (store: Store, options?: OpenOptions) => Promise<QueueUnderTest>
export type OpenFullQueue = (store: Store, options?: OpenOptions) => Promise<FullQueue>

/** The rate at which the work does `count` of something. Garbage of earlier work is not held against it. */
export async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  globalThis.gc?.()
  const startedAt = performance.now()
  await work()
  return (count / (performance.now() - startedAt)) * 1_000
}

/** A contestant that lost a task has no figure. */
export async function checkCounts(queue: QueueUnderTest, expected: EndedCounts): Promise<void> {
  const { succeeded, dead } = await queue.counts()
  if (succeeded === expected.succeeded && dead === expected.dead) return
  throw new Error(
    `${succeeded} tasks have succeeded and ${dead} are dead; it should be ${expected.succeeded} and ${expected.dead}.`,
  )
}
