// Dedupe keys over all partitions: one task at a time for a tenant, an action and a key in the whole store, though the key and the task may live in
// different partitions. A key is held, in the partition that its own name gives, by '<ticket> <task id>'. A ticket is drawn
// for one attempt to accept the task, and never again.
//
//   1. hold    the key's partition notes the ticket, if nobody holds the key
//   2. accept  the task's partition accepts the task with the ticket, unless the ticket is barred there
//
// Who finds the key held asks the holder's partition whether there is a task with that ticket that holds its key. If not, its
// submitter may have died, or may still be on its way, or the task has ended: the ticket is barred and taken from the task in the
// same step (find-tickets), and only then is the key passed on (a compare-and-set). So the holder of a key changes only after
// its ticket became useless for ever: because it was barred, or because its task was removed, which bars it too (a call that was
// repeated late must not accept the task again). Hence a task that holds its key with any but the present ticket of it neither
// exists nor ever will. A process that dies between two steps leaves a
// key that the next one takes over; a late one finds its ticket barred and begins again. Bars go after a day; a ticket
// is refused ten minutes after it took its key, by the times of the two partitions.
//
// A removed task's partition notes the key to be freed ('freeing') until it was: the notes are worked off by retention.

import { StoreBusyError, type TaskDifference, type TaskId, type TaskSpec } from '@reprise/core'
import { asTexts } from '../partition.ts'
import { parseText } from '../records.ts'
import { findTicketsScript, holdKeysScript } from '../scripts.generated.ts'
import type { Partitions } from './partitions.ts'

/** A key that was taken for a task. */
export interface Hold {
  readonly name: string
  readonly id: string
  readonly ticket: string
  /** What the task is accepted with, in place of its key. */
  readonly argument: string
}

/** Taken, or the task that has it. */
export type HoldResult = { readonly hold: Hold } | { readonly holder: TaskId }

/** A task may be about to be accepted: others look so often before they bar its ticket. */
const LOOKS = 3
const ROUNDS_MAX = 50
const FREED_MAX = 1_000

/** Not a ticket: no task is accepted with it. One that is known already can be reserved, and a repetition hears of its task. */
export const NO_TICKET = '\n'

export type KeyedSpec = TaskSpec & { readonly dedupeKey: string }

export const isKeyed = (spec: TaskSpec): spec is KeyedSpec => spec.dedupeKey !== null

/** As the store spells it. */
export const keyName = ({ tenant, action, dedupeKey }: Pick<KeyedSpec, 'tenant' | 'action' | 'dedupeKey'>): string =>
  `${tenant}\n${action}\n${dedupeKey}`

interface Attempt {
  readonly name: string
  readonly id: string
  readonly ticket: string
  readonly position: number
  /** A holder whose ticket is barred. */
  from: string
  looks: number
}

export class Keys {
  readonly #store: Partitions

  constructor(store: Partitions) {
    this.#store = store
  }

  /** Takes the keys of these tasks, which must all be different. */
  async hold(specs: readonly KeyedSpec[]): Promise<readonly HoldResult[]> {
    const results: HoldResult[] = []
    let left = specs.map((spec, position): Attempt => {
      return {
        name: keyName(spec),
        id: spec.id,
        ticket: this.#store.home.drawRequestId(),
        position,
        from: '',
        looks: 0,
      }
    })
    for (let round = 0; left.length > 0; round++) {
      if (round === ROUNDS_MAX) throw new StoreBusyError('Others want the same dedupe key at the same time.')
      const answers = await this.#change(left.map(({ name, from, ticket, id }) => [name, from, `${ticket} ${id}`]))
      const lost = left.flatMap((attempt, index) => {
        const { takenAt = '', holder = '' } = answers[index] ?? {}
        const { name, id, ticket, position } = attempt
        if (holder !== '') return [{ attempt, holder, ...parseHolder(holder) }]
        results[position] = { hold: { name, id, ticket, argument: `\n${takenAt} ${ticket}` } }
        return []
      })
      const isLooking = lost.filter(({ attempt }) => attempt.looks++ < LOOKS)
      const isBarring = lost.filter((item) => !isLooking.includes(item))
      const found = await Promise.all([this.#find(isLooking, false), this.#find(isBarring, true)])
      left = [isLooking, isBarring].flatMap((list, kind) =>
        list.flatMap(({ attempt, holder, id }, index) => {
          const sight = found[kind]?.[index]
          // The task of this very id, whether it holds the key or not: its acceptance tells.
          if (sight === 'held' || (sight === 'left' && id === attempt.id)) {
            results[attempt.position] = { holder: id as TaskId }
            return []
          }
          if (sight === 'left') attempt.looks = LOOKS
          if (kind === 1) attempt.from = holder
          return [attempt]
        }),
      )
    }
    return results
  }

  /** The tasks that have these keys now; null where none has. */
  async holders(names: readonly string[]): Promise<readonly (TaskId | null)[]> {
    const texts = await this.#store.inOrder(
      names,
      (name) => name,
      async ({ partition, items }) => asTexts(await partition.command('HMGET', partition.key('dedupe'), ...items)),
    )
    const holders = texts.map(parseHolder)
    const found = await this.#find(
      holders.filter(({ id }) => id !== ''),
      false,
    )
    let at = 0
    return holders.map(({ id }) => (id !== '' && found[at++] === 'held' ? (id as TaskId) : null))
  }

  /** Gives up keys under whose tickets no task was accepted; where one was after all, its key stays. */
  async giveUp(holds: readonly Hold[]): Promise<void> {
    if (holds.length === 0) return
    const found = await this.#find(holds, true)
    await this.#free(
      holds.filter((_, index) => found[index] === 'none').map(({ name, ticket, id }) => [name, `${ticket} ${id}`]),
    )
  }

  /** Frees keys of tasks that were removed from this partition. */
  async freeRemoved(place: number): Promise<void> {
    const partition = this.#store.at(place)
    const noted = asTexts(
      await partition.command('HRANDFIELD', partition.key('freeing'), String(FREED_MAX), 'WITHVALUES'),
    )
    if (noted.length === 0) return
    const names = noted.filter((_, index) => index % 2 === 0)
    await this.#free(names.map((name, index) => [name, noted[index * 2 + 1] ?? '']))
    await partition.command('HDEL', partition.key('freeing'), ...names)
  }

  async #free(keys: readonly (readonly [string, string])[]): Promise<void> {
    await this.#change(keys.map(([name, holder]) => [name, holder, '']))
  }

  /** Each: name, the holder to replace, the new one. Answers when it was looked at, and the holder that stands in the way. */
  #change(
    keys: readonly (readonly [string, string, string])[],
  ): Promise<readonly { readonly takenAt: string; readonly holder: string }[]> {
    return this.#store.inOrder(
      keys,
      ([name]) => name,
      async ({ partition, items }) => {
        const [takenAt = '', ...holders] = asTexts(await partition.run(holdKeysScript, items.flat()))
        return holders.map((holder) => ({ takenAt, holder }))
      },
    )
  }

  /** In what these ask for something else than the tasks that hold their keys, which are named. A task that is gone asks for nothing. */
  async differences(
    asked: readonly { readonly spec: TaskSpec; readonly holder: TaskId }[],
  ): Promise<readonly (readonly TaskDifference[])[]> {
    return this.#store.inOrder(
      asked,
      ({ holder }) => holder,
      async ({ partition, items }) => {
        const texts = await partition.pipeline(items.map(({ holder }) => ['HGET', partition.taskKey(holder), 'task']))
        // Tenant and action are those of the key.
        return items.map(({ spec }, index) => {
          const text = texts[index]
          return typeof text === 'string' && parseText(text).payload !== spec.payload ? ['payload'] : []
        })
      },
    )
  }

  /** Whether there are tasks with these tickets, and hold their keys. */
  #find(
    tickets: readonly { readonly id: string; readonly ticket: string }[],
    isBarring: boolean,
  ): Promise<readonly Sight[]> {
    return this.#store.inOrder(
      tickets,
      ({ id }) => id,
      async ({ partition, items }) => {
        const args = items.flatMap(({ id, ticket }) => [id, ticket])
        const answers = asTexts(await partition.run(findTicketsScript, [isBarring ? '1' : '0', ...args]))
        return answers.map((answer) => SIGHTS[answer] ?? 'none')
      },
    )
  }
}

/** A task that holds its key, one that has left it to others, or none. */
type Sight = 'held' | 'left' | 'none'
const SIGHTS: Readonly<Record<string, Sight>> = { '1': 'held', '2': 'left' }

/** Tickets contain no blank; ids may. */
export function parseHolder(text: string): { readonly ticket: string; readonly id: string } {
  const blank = text.indexOf(' ')
  return blank === -1 ? { ticket: '', id: '' } : { ticket: text.slice(0, blank), id: text.slice(blank + 1) }
}
