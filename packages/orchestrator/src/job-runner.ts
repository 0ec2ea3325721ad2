// Moves one durable job for the service that owns it at the moment: hands chunks in, counts those that have ended, redrives the
// failed ones when an operator asked for it, runs the final step. core's job.ts has the states. What the runner knows may be ahead of the document
// by a moment of work; a runner that takes over does that moment again, and finds duplicates. Only the owner writes.

import {
  advanced,
  BATCH_MAX,
  type BlockRef,
  type Clock,
  type Collection,
  chunkId,
  chunkSpec,
  ENDED_JOB,
  type Engine,
  finalId,
  finalSpec,
  isRepriseError,
  JOB_CHUNKS_TOTAL,
  type JobBlock,
  type JobDocument,
  type JsonText,
  type Logger,
  type Meter,
  measured,
  mergedPlaces,
  placesIn,
  rangePayload,
  rangesOf,
  stepDocument,
  windowOf,
} from '@reprise/core'
import { type Ends, OpenChunks, statusesOf } from './job-chunks.ts'

export type JobEngine = Pick<
  Engine,
  'submit' | 'task' | 'statuses' | 'change' | 'now' | 'collection' | 'wait' | 'mark' | 'journal'
>

export interface RunnerOptions {
  readonly engine: JobEngine
  readonly jobs: Collection<JobDocument>
  readonly blocks: Collection<JobBlock>
  readonly clock: Clock
  readonly log: Logger
  readonly meter: Meter
  /** The service that it moves the job for. */
  readonly owner: string
}

/** What the owner of a busy job promises, and of one that waits for slow chunks. */
export const BUSY_BEAT_MS = 100
const IDLE_BEAT_MS = 2_000
/** The rest after a round that found something to do, so that the next one finds enough again. */
const BUSY_REST_MS = 10
const IDLE_REST_MS = 250
const FULL_REST_MS = 500
/** With a limit per second, so much of a second may be handed in at once. */
const BURST = 0.25
const RETRY_LOOK = 1_000

export type RoundResult =
  /** What to rest before the next round; and tasks whose end is worth a round before that. */
  | { readonly kind: 'goes on'; readonly restMs: number }
  /** There is nothing more to do here: it has ended or stopped, or another service has it. */
  | { readonly kind: 'over' }

export class JobRunner {
  readonly #options: RunnerOptions
  #job: JobDocument
  readonly #chunks: OpenChunks
  #fed: number
  #succeeded: number
  #failed: number
  /** Failures that were taken back since the last write. */
  #reopened = 0
  #retry: JobDocument['retry']
  #final: 'succeeded' | 'failed' | null = null
  #block: { readonly ref: BlockRef; readonly payloads: readonly JsonText[] } | null = null
  #tokens: { readonly count: number; readonly at: number }
  #writtenAt: number
  #isDirty = false

  /** `job` is as this service has just taken it. */
  constructor(options: RunnerOptions, job: JobDocument) {
    this.#options = options
    this.#job = job
    this.#fed = job.fed
    this.#succeeded = job.succeeded
    this.#failed = job.failed
    this.#retry = job.retry
    this.#chunks = new OpenChunks(options.engine, options.clock, job.id, placesIn(job.open))
    this.#writtenAt = options.clock.monotonic()
    this.#tokens = { count: 0, at: this.#writtenAt }
  }

  get id(): string {
    return this.#job.id
  }

  get tenant(): string {
    return this.#job.tenant
  }

  /** Tasks whose end makes a round worth while. */
  get interest() {
    return this.#job.status === 'finishing' ? [finalId(this.id, this.#job.round)] : this.#chunks.oldest
  }

  async round(): Promise<RoundResult> {
    const { status } = this.#job
    if (status === 'finishing') await this.#finish()
    await this.#redriveNoted()
    if (status === 'cancelling') await this.#cancelOpen()
    const ends = await this.#look(status === 'cancelling')
    let fed = 0
    let isFull = false
    if (status === 'running') {
      await this.#retryFailed()
      try {
        fed = await this.#feed()
      } catch (error) {
        if (!isRepriseError(error, 'REPRISE_BACKLOG_FULL')) throw error
        isFull = true
      }
    }
    const isBusy = fed + ends.succeeded + ends.failed > 0 || this.#retry !== null
    if (!(await this.#writeIfDue(isBusy))) return { kind: 'over' }
    const restMs = isFull ? FULL_REST_MS : isBusy ? BUSY_REST_MS : Math.min(IDLE_REST_MS, this.#tokensRestMs())
    return { kind: 'goes on', restMs }
  }

  /** Lets go of the job, with all that is known of it. */
  async release(): Promise<void> {
    await this.#write({ owner: null })
  }

  async #look(isWhole: boolean): Promise<Ends> {
    const ends = await this.#chunks.look(isWhole)
    this.#succeeded += ends.succeeded
    this.#failed += ends.failed
    if (ends.succeeded + ends.failed > 0) this.#isDirty = true
    const { meter } = this.#options
    if (ends.succeeded > 0) meter.count(JOB_CHUNKS_TOTAL, { outcome: 'succeeded' }, ends.succeeded)
    if (ends.failed > 0) meter.count(JOB_CHUNKS_TOTAL, { outcome: 'failed' }, ends.failed)
    return ends
  }

  get #room(): number {
    return Math.max(windowOf(this.#job) - this.#chunks.places.length, 0)
  }

  async #feed(): Promise<number> {
    const before = this.#fed
    // More failures than it tolerates are in what was just counted: the document stops it before more is handed in.
    if (this.#isStopping()) return 0
    for (;;) {
      const wanted = Math.min(this.#room, this.#tokensNow(), this.#job.received - this.#fed, BATCH_MAX)
      if (wanted <= 0) break
      const payloads = await this.#payloads(wanted)
      if (payloads.length === 0) break
      const first = this.#fed
      const results = await this.#options.engine.submit(
        payloads.map((payload, index) => chunkSpec(this.#job, first + index, payload)),
      )
      const taken = results.filter(({ outcome }) => outcome === 'conflict').length
      if (taken > 0) this.#options.log.error('Task ids of a job belong to other tasks.', { job: this.id, taken })
      this.#fed += payloads.length
      this.#tokens = { ...this.#tokens, count: this.#tokens.count - payloads.length }
      this.#chunks.places = [...this.#chunks.places, ...payloads.map((_, index) => first + index)]
      this.#isDirty = true
    }
    return this.#fed - before
  }

  #isStopping(): boolean {
    return advanced(this.#merged(this.#job), 0, null).status !== 'running'
  }

  /** The payloads from `fed` on: up to this many, from one block at the most. */
  async #payloads(wanted: number): Promise<readonly JsonText[]> {
    const { source, blocks } = this.#job
    const first = this.#fed
    if (source.kind === 'range')
      return Array.from({ length: wanted }, (_, index) => rangePayload(source, first + index))
    const ref = blocks.find(({ from, count }) => first >= from && first < from + count)
    if (ref === undefined) return []
    if (this.#block?.ref.id !== ref.id) {
      const stored = await this.#options.blocks.get(ref.id)
      // Only an owner who is ahead of us removes it: our next write finds that out.
      if (stored === null) return []
      this.#block = { ref, payloads: stored.document.payloads }
    }
    return this.#block.payloads.slice(first - ref.from, first - ref.from + wanted)
  }

  /** What may be handed in by the limit per second. */
  #tokensNow(): number {
    const { perSecond } = this.#job
    if (perSecond === null) return Number.POSITIVE_INFINITY
    const now = this.#options.clock.monotonic()
    const grown = this.#tokens.count + ((now - this.#tokens.at) / 1_000) * perSecond
    this.#tokens = { count: Math.min(grown, Math.max(perSecond * BURST, 1)), at: now }
    return Math.floor(this.#tokens.count)
  }

  #tokensRestMs(): number {
    const { perSecond, received } = this.#job
    if (perSecond === null || this.#fed >= received || this.#room === 0) return IDLE_REST_MS
    return Math.max(Math.ceil(((1 - this.#tokens.count) / perSecond) * 1_000), BUSY_REST_MS)
  }

  /** Chunks that the document says are being redriven: done again if a service died in between, which changes nothing more. */
  async #redriveNoted(): Promise<void> {
    if (this.#retry === null || this.#retry.redriving === '') return
    const ids = placesIn(this.#retry.redriving).map((place) => chunkId(this.id, place))
    const by = { actor: this.#retry.by, reason: `a retry of the job '${this.#job.name}'` }
    await this.#options.engine.change({ kind: 'redrive', select: { ids }, by })
    this.#retry = { ...this.#retry, redriving: '' }
    this.#isDirty = true
  }

  /** Looks for failed chunks a page further. Those that run again are open from the write on that notes them. */
  async #retryFailed(): Promise<void> {
    if (this.#retry === null || this.#room === 0) return
    const { next, by } = this.#retry
    const open = new Set(this.#chunks.places)
    const places = Array.from({ length: Math.min(RETRY_LOOK, this.#fed - next) }, (_, index) => next + index)
    const statuses = await statusesOf(this.#options.engine, this.id, places)
    const found = places.filter((place, index) => statuses[index] === 'dead' && !open.has(place))
    const dead = found.slice(0, this.#room)
    const after = found[dead.length] ?? next + places.length
    this.#chunks.places = mergedPlaces(this.#chunks.places, dead)
    this.#failed -= dead.length
    this.#reopened += dead.length
    const isOver = after >= this.#fed && dead.length === 0
    this.#retry = isOver ? null : { next: after, redriving: rangesOf(dead), by }
    this.#isDirty = true
    if (dead.length > 0 && (await this.#write({}))) await this.#redriveNoted()
  }

  async #cancelOpen(): Promise<void> {
    const by = { actor: 'jobs', reason: this.#job.because ?? 'the job was cancelled' }
    const ids = this.#chunks.places.map((place) => chunkId(this.id, place))
    if (this.#job.final !== null) ids.push(finalId(this.id, this.#job.round))
    for (let at = 0; at < ids.length; at += BATCH_MAX) {
      await this.#options.engine.change({ kind: 'cancel', select: { ids: ids.slice(at, at + BATCH_MAX) }, by })
    }
  }

  async #finish(): Promise<void> {
    const { final } = this.#job
    if (final === null) return
    const { engine } = this.#options
    await engine.submit([finalSpec(this.#job, final)])
    const status = (await engine.task(finalId(this.id, this.#job.round), { light: true }))?.state.status
    if (status === 'succeeded') this.#final = 'succeeded'
    else if (status === 'dead' || status === 'discarded' || status === 'cancelled') this.#final = 'failed'
    if (this.#final !== null) this.#isDirty = true
  }

  /** False if the job is another's now, or is over. */
  async #writeIfDue(isBusy: boolean): Promise<boolean> {
    const sinceMs = this.#options.clock.monotonic() - this.#writtenAt
    const beatMs = isBusy ? BUSY_BEAT_MS : IDLE_BEAT_MS
    // What is known when nothing more happens is written before the rest, and not at the next beat.
    if (sinceMs < beatMs / 2 && !(this.#isDirty && !isBusy)) return true
    return this.#write({ beatMs })
  }

  async #write(change: Partial<JobDocument>): Promise<boolean> {
    const { jobs, engine, owner, clock } = this.#options
    const now = await engine.now()
    const written = await stepDocument(jobs, this.id, (job) => {
      if (job.owner !== owner) return null
      const next = advanced({ ...this.#merged(job), beats: job.beats + 1, ...change }, now, this.#final)
      return { ...next, speed: measured(next, now) }
    })
    if (written === null) return false
    const before = this.#job
    this.#job = { ...written, settings: before.settings }
    this.#writtenAt = clock.monotonic()
    this.#reopened = 0
    this.#retry = written.retry
    this.#isDirty = false
    await this.#clearBlocks(before)
    if (written.status !== before.status) await this.#told(before)
    return !ENDED_JOB.has(written.status) && written.status !== 'stopped'
  }

  /** The document with what this runner knows. What operators change stands in other fields, or is added to. */
  #merged(job: JobDocument): JobDocument {
    return {
      ...job,
      fed: this.#fed,
      open: rangesOf(this.#chunks.places),
      succeeded: this.#succeeded,
      failed: this.#failed,
      forgiven: Math.max(job.forgiven - this.#reopened, 0),
      // An operator begins a retry or gives it up; only we go on with it.
      retry: job.retry === null || this.#job.retry === null ? job.retry : this.#retry,
      blocks: job.blocks.filter(({ from, count }) => from + count > this.#fed),
    }
  }

  /** Blocks that the document no longer names; all of them when the job is over. */
  async #clearBlocks(before: JobDocument): Promise<void> {
    const { blocks } = this.#options
    const kept = new Set(this.#job.blocks.map(({ id }) => id))
    for (const { id } of before.blocks) if (!kept.has(id)) await blocks.remove(id)
    if (!ENDED_JOB.has(this.#job.status) || this.#job.source.kind !== 'given') return
    const { items } = await blocks.find({ index: 'job', value: this.id })
    for (const { document } of items) await blocks.remove(document.id)
  }

  async #told(before: JobDocument): Promise<void> {
    const { status, because, succeeded, failed, name, tenant } = this.#job
    const data = { job: this.id, name, tenant, from: before.status, to: status, succeeded, failed }
    const reason = because ?? `The job '${name}' is ${status}.`
    await this.#options.engine.journal.append([
      { type: 'job.moved', taskId: null, attempt: null, actor: 'jobs', reason, data },
    ])
  }
}
