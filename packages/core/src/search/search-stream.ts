// The tasks that an engine gives for one question, newest first and a few at a time, and the place up to which they were
// taken. An engine's cursor stands between its own pages; a search may stop within one. So a place is the cursor of the page,
// and the task in it that comes next.

import { digest64 } from '../failure/digest.ts'
import type { Task } from '../model/task.ts'
import type { Engine } from '../port/engine.ts'
import type { TaskQuery } from '../port/queries.ts'
import { ENDED, type SearchPlace, type StreamPlace } from './search-cursor.ts'

/** How many tasks are fetched at once when the first few were not enough. */
const SIZE_MAX = 250

export class TaskStream {
  readonly key: string
  readonly #engine: Pick<Engine, 'tasks'>
  readonly #query: TaskQuery
  #size: number
  /** What was taken from this stream or another is not older than this; null if nothing was taken before. */
  readonly #oldestAt: number | null
  /** Where the page in hand begins, and where the next one does; null before all tasks, and after all. */
  #cursor: string | null
  #next: string | null = null
  #isAsked = false
  #tasks: readonly Task[] = []
  #at = 0
  /** What comes before this task was taken before. Null once it was found, or if nothing was. */
  #resume: StreamPlace['head']
  /** Whether nobody looked at this stream yet, while others were taken from. */
  readonly #isNew: boolean

  constructor(engine: Pick<Engine, 'tasks'>, query: TaskQuery, size: number, { streams, oldestAt }: SearchPlace) {
    this.key = `${query.status ?? ''}/${query.tenant ?? ''}`
    const place = Object.hasOwn(streams, this.key) ? streams[this.key] : undefined
    this.#engine = engine
    this.#query = query
    this.#size = size
    this.#cursor = place?.cursor ?? null
    this.#resume = place?.head ?? null
    this.#oldestAt = oldestAt
    this.#isNew = oldestAt !== null && place === undefined
  }

  /** The task that comes next; null if it has to be fetched, or there is none. */
  get head(): Task | null {
    return this.#tasks[this.#at] ?? null
  }

  get isEnded(): boolean {
    return this.#isAsked && this.#next === null && this.head === null
  }

  /** Whether nobody knows yet what comes next. */
  get isLacking(): boolean {
    return this.head === null && !this.isEnded
  }

  /** Where to go on another time. */
  get place(): StreamPlace {
    const { head } = this
    if (head !== null) return { cursor: this.#cursor, head: { at: head.acceptedAt, mark: digest64(head.id) } }
    if (this.isEnded) return { cursor: this.#cursor, head: ENDED }
    return { cursor: this.#next ?? this.#cursor, head: this.#resume }
  }

  take(): Task {
    const { head } = this
    if (head === null) throw new Error('Nothing was fetched that could be taken.')
    this.#at++
    return head
  }

  /** Answers how many tasks it looked at. */
  async fetch(): Promise<number> {
    if (this.#isAsked) this.#cursor = this.#next
    const { items, next } = await this.#engine.tasks({
      ...this.#query,
      light: true,
      limit: this.#size,
      ...(this.#cursor === null ? {} : { cursor: this.#cursor }),
    })
    this.#isAsked = true
    this.#size = Math.max(this.#size, Math.min(2 * this.#size, SIZE_MAX))
    this.#next = next
    const isAllNews = !this.#isNew && this.#resume === null
    this.#tasks = isAllNews ? items : items.filter((task) => this.#isNews(task))
    this.#at = 0
    return items.length
  }

  /**
   * Whether it was not passed before. Up to the task where the stream was left, only what came into the stream since then is
   * new: of that, what is older than everything that was taken is yet to come. What is newer was taken where it stood before, or did
   * not exist.
   */
  #isNews({ id, acceptedAt }: Task): boolean {
    const isOlder = this.#oldestAt === null || acceptedAt < this.#oldestAt
    if (this.#isNew) return isOlder
    if (this.#resume === null) return true
    if (this.#resume.mark !== digest64(id) && this.#resume.at <= acceptedAt) return isOlder
    this.#resume = null
    return true
  }
}
