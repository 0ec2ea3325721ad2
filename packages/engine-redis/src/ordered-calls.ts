// The calls of one opened engine in the order in which they were made: submissions and settlements gather in groups, and
// everything else is sent after them. Once it is closed, everything is refused.

import {
  checkPast,
  type Settlement,
  type SettleResult,
  StoreClosedError,
  type SubmitResult,
  type TaskSpec,
} from '@reprise/core'
import { checkBatch, checkSettlements } from '@reprise/core/engine'
import { Grouping, type SendCalls } from './grouping.ts'

export class OrderedCalls<Store> {
  readonly #store: Store
  readonly #submissions: Grouping<TaskSpec, SubmitResult>
  readonly #settlements: Grouping<Settlement, SettleResult>
  #closing: Promise<void> | null = null

  constructor(store: Store, submit: SendCalls<TaskSpec, SubmitResult>, settle: SendCalls<Settlement, SettleResult>) {
    this.#store = store
    this.#submissions = new Grouping(submit, () => this.#settlements.flush())
    this.#settlements = new Grouping(settle, () => this.#submissions.flush())
  }

  /** The store, after everything that was asked before has been sent. */
  inOrder(): Store {
    if (this.#closing !== null) throw new StoreClosedError()
    this.#flush()
    return this.#store
  }

  async submit(tasks: readonly TaskSpec[]): Promise<readonly SubmitResult[]> {
    for (const { id, past } of tasks) checkPast(id, past)
    return this.#grouped(this.#submissions, tasks)
  }

  async settle(settlements: readonly Settlement[]): Promise<readonly SettleResult[]> {
    checkSettlements(settlements)
    return this.#grouped(this.#settlements, settlements)
  }

  /** Sends what has gathered, then ends. A second call waits for the same end. */
  close(end: () => Promise<void>): Promise<void> {
    if (this.#closing === null) {
      this.#flush()
      this.#closing = end()
    }
    return this.#closing
  }

  #grouped<Item, Answer>(
    grouping: Grouping<Item, Answer>,
    items: readonly Item[],
  ): readonly Answer[] | Promise<readonly Answer[]> {
    if (this.#closing !== null) throw new StoreClosedError()
    checkBatch(items.length)
    return items.length === 0 ? [] : grouping.add(items)
  }

  #flush(): void {
    this.#submissions.flush()
    this.#settlements.flush()
  }
}
