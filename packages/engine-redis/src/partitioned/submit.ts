// Acceptance over several partitions: each task in its own, all at once. The backlog is looked at before: submitters who
// look at the same time can together exceed it by what they have under way. A call is refused whole or goes on whole; if a
// partition can't be reached on the way, the call fails and is simply repeated: what was accepted is a duplicate of itself.

import { BacklogFullError, StoreBusyError, type SubmitResult, type TaskId, type TaskSpec } from '@reprise/core'
import { BARRED, repeatOf, submit } from '../submit.ts'
import type { Backlogs } from './backlogs.ts'
import { type Hold, isKeyed, type KeyedSpec, type Keys, keyName, NO_TICKET } from './keys.ts'
import type { Partitions } from './partitions.ts'

/** How often a batch is begun again because of dedupe keys. */
const ROUNDS_MAX = 50

export class Submitting {
  readonly #store: Partitions
  readonly #backlogs: Backlogs
  readonly #keys: Keys
  readonly #maxBacklog: number

  constructor(store: Partitions, backlogs: Backlogs, keys: Keys, maxBacklog: number) {
    this.#store = store
    this.#backlogs = backlogs
    this.#keys = keys
    this.#maxBacklog = maxBacklog
  }

  /** Several calls; a refused one answers with its error. */
  async submit(
    calls: readonly (readonly TaskSpec[])[],
  ): Promise<readonly (readonly SubmitResult[] | BacklogFullError)[]> {
    const refusals = await this.#refusals(calls)
    const results = await this.#acceptAll(calls.filter((_, index) => refusals[index] === null).flat())
    let at = 0
    return calls.map((specs, index) => {
      const refusal = refusals[index] ?? null
      if (refusal !== null) return refusal
      at += specs.length
      return results.slice(at - specs.length, at)
    })
  }

  async #refusals(calls: readonly (readonly TaskSpec[])[]): Promise<readonly (BacklogFullError | null)[]> {
    let backlog = await this.#backlogs.total()
    const refusals: (BacklogFullError | null)[] = []
    for (const specs of calls) {
      let added = specs.length
      if (backlog + added > this.#maxBacklog) added = await this.#countNew(specs)
      const isRefused = added > 0 && backlog + added > this.#maxBacklog
      refusals.push(isRefused ? new BacklogFullError(backlog, added, this.#maxBacklog) : null)
      if (!isRefused) backlog += added
    }
    return refusals
  }

  async #countNew(specs: readonly TaskSpec[]): Promise<number> {
    const keyed = specs.filter(isKeyed)
    const [known, holders] = await Promise.all([this.#existing(specs), this.#keys.holders(keyed.map(keyName))])
    const taken = new Set(keyed.flatMap((spec, index) => (holders[index] === null ? [] : [keyName(spec)])))
    const ids = new Set<string>()
    for (const [index, spec] of specs.entries()) {
      const name = isKeyed(spec) ? keyName(spec) : null
      if (known[index] === true || ids.has(spec.id) || (name !== null && taken.has(name))) continue
      ids.add(spec.id)
      if (name !== null) taken.add(name)
    }
    return ids.size
  }

  #existing(specs: readonly TaskSpec[]): Promise<readonly boolean[]> {
    return this.#store.inOrder(
      specs,
      ({ id }) => id,
      async ({ partition, items }) => {
        const replies = await partition.pipeline(items.map(({ id }) => ['EXISTS', partition.taskKey(id)]))
        return replies.map((reply) => Number(reply) === 1)
      },
    )
  }

  async #acceptAll(specs: readonly TaskSpec[]): Promise<readonly SubmitResult[]> {
    const results: SubmitResult[] = []
    let left = specs.map((spec, position): Entry => ({ spec, position }))
    for (let round = 0; left.length > 0; round++) {
      if (round === ROUNDS_MAX) throw new StoreBusyError('Others want the same dedupe keys at the same time.')
      const outcomes = await this.#acceptRound(left)
      for (const [{ position }, outcome] of outcomes) results[position] = outcome
      left = left.filter((entry) => !outcomes.has(entry))
    }
    return results
  }

  /** Who has no outcome is tried again. Of tasks with one key, the first goes; the others hear what became of it. */
  async #acceptRound(entries: readonly Entry[]): Promise<ReadonlyMap<Entry, SubmitResult>> {
    const firsts = new Map<string, Entry & { readonly spec: KeyedSpec }>()
    for (const entry of entries) {
      if (hasKey(entry) && !firsts.has(keyName(entry.spec))) firsts.set(keyName(entry.spec), entry)
    }
    const taken = await this.#keys.hold([...firsts.values()].map(({ spec }) => spec))
    const holds = new Map<TaskSpec, Hold>()
    const going = new Set(entries.filter(({ spec }) => !isKeyed(spec)))
    /** By the name of the key: the task that has it. */
    const holders = new Map<string, TaskId>()
    for (const [index, [name, entry]] of [...firsts].entries()) {
      const result = taken[index]
      if (result === undefined) continue
      if ('hold' in result) {
        holds.set(entry.spec, result.hold)
        going.add(entry)
      } else holders.set(name, result.holder)
    }
    const outcomes = new Map<Entry, SubmitResult>()
    const useless: Hold[] = []
    const inOrder = entries.filter((entry) => going.has(entry))
    const accepted = await this.#accept(inOrder, ({ spec }) => holds.get(spec)?.argument ?? null)
    for (const [index, entry] of inOrder.entries()) {
      const outcome = accepted[index]
      if (outcome === undefined || outcome.id === BARRED) continue
      outcomes.set(entry, outcome)
      const hold = holds.get(entry.spec)
      if (hold === undefined) continue
      if (outcome.outcome === 'accepted') holders.set(hold.name, entry.spec.id)
      else useless.push(hold)
    }
    await this.#keys.giveUp(useless)
    await this.#refuseOthers(
      entries.filter((entry) => !outcomes.has(entry)),
      holders,
      outcomes,
    )
    return outcomes
  }

  /** Those whose key another task has. One whose own id is taken too hears of that. */
  async #refuseOthers(
    entries: readonly Entry[],
    holders: ReadonlyMap<string, TaskId>,
    outcomes: Map<Entry, SubmitResult>,
  ): Promise<void> {
    const losers = entries.flatMap((entry) => {
      const holder = hasKey(entry) ? holders.get(keyName(entry.spec)) : undefined
      return holder === undefined ? [] : [{ entry, spec: entry.spec, holder }]
    })
    if (losers.length === 0) return
    const [byId, differs] = await Promise.all([
      this.#accept(
        losers.map(({ entry }) => entry),
        () => NO_TICKET,
      ),
      this.#keys.differences(losers),
    ])
    for (const [index, { entry, holder }] of losers.entries()) {
      const own = byId[index]
      if (own !== undefined && own.id !== BARRED) outcomes.set(entry, own)
      else outcomes.set(entry, repeatOf(holder, differs[index] ?? []))
    }
  }

  #accept(entries: readonly Entry[], keyOf: (entry: Entry) => string | null): Promise<readonly SubmitResult[]> {
    return this.#store.inOrder(
      entries,
      ({ spec }) => spec.id,
      async ({ partition, items }) => {
        const keys = new Map(items.map((entry) => [entry.spec, keyOf(entry)]))
        const specs = items.map(({ spec }) => spec)
        const [results] = await submit(partition, [specs], Number.MAX_SAFE_INTEGER, (spec) => keys.get(spec) ?? null)
        if (results instanceof BacklogFullError) throw results
        return results ?? []
      },
    )
  }
}

/** One task of a batch. The same specification may be in it twice. */
interface Entry {
  readonly spec: TaskSpec
  readonly position: number
}

const hasKey = (entry: Entry): entry is Entry & { readonly spec: KeyedSpec } => isKeyed(entry.spec)
