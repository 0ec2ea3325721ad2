// How much each partition has queued and waiting, asked for in one short look, so that claims visit only those that have
// something; and where something lies in a worker's inbox. A partition that could not be reached is left out until it answers again: it holds up nobody else.

import type { WorkerId } from '@reprise/core'
import type { Partitions } from './partitions.ts'

export class Backlogs {
  readonly #store: Partitions
  readonly #sizes: number[]
  /** Asked again and again, but not waited for. */
  readonly #unreachable = new Set<number>()
  readonly #asked = new Set<number>()
  /** Where something lay in the inboxes of workers that claim here, at the last look. */
  readonly #inboxes = new Map<WorkerId, Set<number>>()

  constructor(store: Partitions) {
    this.#store = store
    this.#sizes = store.all.map(() => 0)
  }

  /** The places that had something at the last look, and were not found empty since. */
  get stocked(): readonly number[] {
    return this.#sizes.flatMap((size, place) => (size > 0 && !this.#unreachable.has(place) ? [place] : []))
  }

  /** The places where something lay in this worker's inbox at the last look, and was not collected since. */
  inboxes(worker: WorkerId): readonly number[] {
    return [...(this.#inboxes.get(worker) ?? [])].filter((place) => !this.#unreachable.has(place))
  }

  /** Looks; also at the inbox of a worker, if one is given. Refused only if no partition answers. */
  async look(worker?: WorkerId): Promise<readonly number[]> {
    const places = this.#store.all.map((_, place) => place)
    for (const place of this.#unreachable) if (!this.#asked.has(place)) this.#read(place, worker).catch(() => undefined)
    const outcomes = await Promise.allSettled(
      places.filter((place) => !this.#unreachable.has(place)).map((place) => this.#read(place, worker)),
    )
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    if (refused !== undefined && outcomes.every(({ status }) => status === 'rejected')) throw refused.reason
    return this.stocked
  }

  /** All of them together; of one that can't be reached, what it had. */
  async total(): Promise<number> {
    await this.look()
    return this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  /** A claim found nothing more there. */
  emptied(place: number): void {
    this.#sizes[place] = 0
  }

  /** A claim found nothing more in the inbox there. */
  collected(worker: WorkerId, place: number): void {
    this.#noteInbox(worker, place, false)
  }

  /** A call could not be made there. If it is so with all, each is asked as ever: then somebody must hear why. */
  failed(place: number): void {
    this.#unreachable.add(place)
    if (this.#unreachable.size === this.#store.size) this.#unreachable.clear()
  }

  async #read(place: number, worker: WorkerId | undefined): Promise<void> {
    const partition = this.#store.at(place)
    this.#asked.add(place)
    try {
      const size = ['HGET', partition.key('numbers'), 'backlog']
      const [backlog, inbox] = await partition.pipeline(
        worker === undefined ? [size] : [size, ['EXISTS', partition.key(`inbox:${worker}`)]],
      )
      this.#sizes[place] = Number(backlog ?? 0)
      if (worker !== undefined) this.#noteInbox(worker, place, Number(inbox) === 1)
      this.#unreachable.delete(place)
    } catch (error) {
      this.failed(place)
      throw error
    } finally {
      this.#asked.delete(place)
    }
  }

  #noteInbox(worker: WorkerId, place: number, isThere: boolean): void {
    const places = this.#inboxes.get(worker) ?? new Set()
    if (isThere) places.add(place)
    else places.delete(place)
    if (places.size > 0) this.#inboxes.set(worker, places)
    else this.#inboxes.delete(worker)
  }
}
