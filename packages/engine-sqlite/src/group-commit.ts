// Concurrent callers in one process are committed in groups: writes that arrive in the same turn of the event loop share
// one transaction, and so one sync to disk. Each write keeps its own answer. Waiting for another process's
// transaction does not block the thread for long: the group tries again later, until its patience ends.

import { type Clock, isRepriseError, type Random, StoreClosedError, StoreDamagedError } from '@reprise/core'
import { BreakerBook } from './breaker-book.ts'
import type { Checkpoints } from './checkpoints.ts'
import { concernsAll, type Database, isBusy, isDiskFailure, storeError } from './database.ts'
import { InternedTexts, Profiles } from './interned.ts'
import { type Remembered, Transaction } from './transaction.ts'
import type { Wake } from './wake.ts'

interface PendingWrite {
  readonly apply: (transaction: Transaction) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  readonly patienceEndsAt: number
  /** What it writes, if that is much; else 0. */
  readonly bytes: number
}

const PATIENCE_MS = 10_000
const RETRY_MS_MAX = 5
/** A group stops growing after this long, so that other work of the process gets its turn. */
const GROUP_MS_MAX = 15
/** A commit writes all that its group wrote to the disk, and nobody has a turn meanwhile. One write that is more is a group by itself. */
const GROUP_BYTES_MAX = 1_048_576
/** A write of less goes with any group: there is no need to count it. */
const LARGE_BYTES_MIN = 32_768

export class GroupCommit {
  readonly #db: Database
  readonly #clock: Clock
  readonly #random: Random
  readonly #wake: Wake
  /** Null in memory, where there is no log. */
  readonly #checkpoints: Pick<Checkpoints, 'look'> | null
  readonly #remembered: Remembered
  #pending: PendingWrite[] = []
  #scheduled = false
  #retries = 0
  #poison: Error | null = null
  #closed = false

  constructor(db: Database, clock: Clock, random: Random, wake: Wake, checkpoints: Pick<Checkpoints, 'look'> | null) {
    this.#db = db
    this.#clock = clock
    this.#random = random
    this.#wake = wake
    this.#checkpoints = checkpoints
    this.#remembered = {
      profiles: new Profiles(db),
      workerNames: new InternedTexts(db, {
        find: 'findWorkerName',
        insert: 'insertWorkerName',
        load: 'loadWorkerName',
      }),
      breakers: new BreakerBook(db),
    }
  }

  /**
   * Runs the write in the next group, or in a later one if it is large and others are before it: small ones pass by. A write checks
   * everything before it changes anything: if it throws, it changed nothing.
   */
  write<T>(apply: (transaction: Transaction) => T, sizeBytes = 0): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#poison !== null) return reject(this.#poison)
      if (this.#closed) return reject(new StoreClosedError())
      const patienceEndsAt = this.#clock.monotonic() + PATIENCE_MS
      const bytes = sizeBytes < LARGE_BYTES_MIN ? 0 : sizeBytes
      this.#pending.push({ apply, resolve, reject, patienceEndsAt, bytes })
      this.#schedule()
    })
  }

  /** Commits what is pending, then refuses everything. */
  close(): void {
    for (let left = this.#pending.length; left > 0 && this.#poison === null; ) {
      this.#commitGroup()
      // No progress: another process has the lock. Closing does not wait for it.
      if (this.#pending.length >= left) break
      left = this.#pending.length
    }
    this.#closed = true
    this.#rejectAll(this.#pending.splice(0), new StoreClosedError())
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#clock.soon(() => {
      this.#scheduled = false
      if (!this.#closed) this.#commitGroup()
    })
  }

  #commitGroup(): void {
    if (!this.#begin()) return
    const answers: (() => void)[] = []
    const later: PendingWrite[] = []
    let looked = 0
    let bytes = 0
    let transaction: Transaction
    try {
      transaction = new Transaction(this.#db, this.#clock.now(), this.#remembered)
      const startedAt = this.#clock.monotonic()
      for (const pending of this.#pending) {
        looked++
        if (pending.bytes > 0 && bytes > 0 && bytes + pending.bytes > GROUP_BYTES_MAX) {
          later.push(pending)
          continue
        }
        bytes += pending.bytes
        answers.push(this.#applyOne(pending, transaction))
        if (this.#clock.monotonic() - startedAt > GROUP_MS_MAX) break
      }
      transaction.flush()
      this.#db.exec('COMMIT')
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#pending = later.length === 0 ? this.#pending.slice(looked) : [...later, ...this.#pending.slice(looked)]
    if (this.#pending.length > 0) this.#schedule()
    for (const answer of answers) answer()
    this.#wake.notify(transaction.changed)
    this.#checkpoints?.look()
  }

  #applyOne(pending: PendingWrite, transaction: Transaction): () => void {
    try {
      const value = pending.apply(transaction)
      return () => pending.resolve(value as never)
    } catch (error) {
      // A refusal is one caller's own, and wrote nothing.
      if (isRepriseError(error)) return () => pending.reject(error)
      throw new BrokenWrite(pending, error)
    }
  }

  /** False if another process has the lock: the group then waits for its next try, or is given up. */
  #begin(): boolean {
    const file = this.#db.fileOutOfPlace()
    if (file !== null) {
      this.#poison = new StoreDamagedError(
        `The file '${file}' of the store was deleted or replaced under this process.`,
      )
      this.#rejectAll(this.#pending.splice(0), this.#poison)
      return false
    }
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      this.#retries = 0
      return true
    } catch (error) {
      if (!isBusy(error)) {
        this.#fail(error)
        return false
      }
      const now = this.#clock.monotonic()
      const impatient = this.#pending.filter(({ patienceEndsAt }) => patienceEndsAt <= now)
      this.#pending = this.#pending.filter(({ patienceEndsAt }) => patienceEndsAt > now)
      this.#rejectAll(impatient, storeError(error))
      if (this.#pending.length > 0) this.#retryLater()
      return false
    }
  }

  #retryLater(): void {
    const boundMs = Math.min(2 ** this.#retries++, RETRY_MS_MAX)
    this.#scheduled = true
    this.#clock.after(
      boundMs * this.#random.next(),
      () => {
        this.#scheduled = false
        if (!this.#closed) this.#commitGroup()
      },
      { hold: true },
    )
  }

  #fail(thrown: unknown): void {
    this.#rollBack()
    const error = thrown instanceof BrokenWrite ? thrown.cause : thrown
    if (thrown instanceof BrokenWrite && !concernsAll(error)) {
      // Only this write is at fault: its neighbours get another transaction, without it.
      this.#pending = this.#pending.filter((pending) => pending !== thrown.pending)
      thrown.pending.reject(storeError(error))
      if (this.#pending.length > 0) this.#schedule()
      return
    }
    if (isDiskFailure(error)) {
      this.#poison = new StoreDamagedError('Writing to the disk failed, so nobody knows what it holds.', {
        cause: error,
      })
    }
    this.#rejectAll(this.#pending.splice(0), this.#poison ?? storeError(error))
  }

  #rollBack(): void {
    const { profiles, workerNames, breakers } = this.#remembered
    profiles.forget()
    workerNames.forget()
    breakers.forget()
    if (!this.#db.inTransaction) return
    try {
      this.#db.exec('ROLLBACK')
    } catch {
      // The connection is beyond help; the error that led here is the one to tell.
    }
  }

  #rejectAll(writes: readonly PendingWrite[], error: Error): void {
    for (const pending of writes) pending.reject(error)
  }
}

/** A write that failed in a way nobody foresaw. */
class BrokenWrite extends Error {
  readonly pending: PendingWrite

  constructor(pending: PendingWrite, cause: unknown) {
    super('A write broke.', { cause })
    this.pending = pending
  }
}
