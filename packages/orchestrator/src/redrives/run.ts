// One redrive, as one process moves it: round after round it looks at outcomes, judges the stage, and sends what may be sent.
// The process holds a lease in the document. Should another take over, nothing is done twice: chunks and the redrive are written
// over the very version that was read, and the store fences every change of a task by its generation.

import { type Clock, type Collection, type Engine, type Stored, stepDocument } from '@reprise/core'
import { CHUNK_ITEMS_MAX, chunksIn, type ItemNews, type RedriveChunk } from './chunk.ts'
import { LaneFacts, TRIAL_ROOM } from './lane-facts.ts'
import { ItemLedger } from './ledger.ts'
import { OpenChunks, RedriveLost } from './open-chunks.ts'
import { outcomesOf, placesOf, takenBack, tellCopies } from './outcomes.ts'
import { type RedriveDocument, type RedriveState, redrivesIn, type Untold } from './redrive.ts'
import { sendItems } from './send.ts'
import { judgeStage, newStage, stageOf } from './stages.ts'
import { tell, tellUnlessTold } from './told.ts'

/** How many tasks one call sends: a whole chunk, so that each is read and written once. The store is others' too. */
const SEND_MAX = CHUNK_ITEMS_MAX
const SEND_PATCHED_MAX = 25
/** How many chunks are looked through for outcomes, or for items that may be sent, in one round. */
const LOOKS_MAX = 8
const SENDS_LOOKED_AT_MAX = 5
const LOOK_REST_MS = 250
const HELD_REST_MS = 1_000
/** While there is much to send, outcomes are looked at this often. */
const BUSY_LOOK_MS = 1_000

export interface RunOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly owner: string
  /** How long a process has a redrive after its last sign of life, by the store's clock. Each round prolongs it. */
  readonly leaseMs: number
}

export class RedriveRun {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #owner: string
  readonly #leaseMs: number
  readonly #redrives: Collection<RedriveDocument>
  readonly #chunks: OpenChunks
  readonly #ledger: ItemLedger
  #redrive: RedriveDocument
  #facts: LaneFacts
  #held: string | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Where the next look for outcomes goes on. */
  #looked = 0
  /** What the rate allows now. */
  #tokens = 1
  #tokensAt: number

  private constructor(options: RunOptions, redrive: RedriveDocument, ledger: ItemLedger) {
    this.#engine = options.engine
    this.#clock = options.clock
    this.#owner = options.owner
    this.#leaseMs = options.leaseMs
    this.#redrives = redrivesIn(options.engine)
    this.#chunks = new OpenChunks(chunksIn(options.engine), redrive.id)
    this.#redrive = redrive
    this.#ledger = ledger
    this.#facts = new LaneFacts(options.engine, redrive)
    this.#tokensAt = options.clock.monotonic()
  }

  /** Takes the redrive over, if nobody else moves it. Null if somebody does. */
  static async take(options: RunOptions, id: string): Promise<RedriveRun | null> {
    const redrives = redrivesIn(options.engine)
    const now = await options.engine.now()
    const taken = await stepDocument(redrives, id, (redrive) => {
      const isFree = redrive.owner === null || redrive.owner === options.owner || redrive.leaseUntil <= now
      return isFree ? { ...redrive, owner: options.owner, leaseUntil: now + options.leaseMs } : null
    })
    if (taken === null) return null
    const ledger = await ItemLedger.read(chunksIn(options.engine), id, taken.chunks)
    return new RedriveRun(options, taken, ledger)
  }

  /** Whether there is something to do. */
  get redrive(): RedriveDocument {
    return this.#redrive
  }

  /**
   * One round of about this long, after which it writes down how far it came, and sees what operators said. Says how long to
   * rest before the next. Throws `RedriveLost`.
   */
  async round(lastsMs: number): Promise<number> {
    this.#facts = new LaneFacts(this.#engine, this.#redrive)
    this.#held = null
    // The process before this one may have died before it could tell.
    if (this.#redrive.untold) await this.#tell(this.#redrive.untold, tellUnlessTold)
    switch (this.#redrive.state) {
      case 'running':
        return this.#advance(lastsMs)
      case 'undoing':
        return this.#undo()
      case 'aborting': {
        await this.#look(LOOKS_MAX)
        const isOver = this.#ledger.standing.sent === 0
        await this.#write(isOver ? this.#ending('aborting', 'aborted') : () => ({}))
        return LOOK_REST_MS
      }
      case 'done':
      case 'aborted':
      case 'undone':
        return 0
      default:
        await this.#look(LOOKS_MAX)
        await this.#write(() => ({}))
        return HELD_REST_MS
    }
  }

  async release(): Promise<void> {
    await this.#write(() => ({ owner: null }))
  }

  async #advance(lastsMs: number): Promise<number> {
    const began = this.#clock.monotonic()
    const isBusy = this.#redrive.stages.at(-1)?.size === null && this.#ledger.standing.pending > 0
    if (!isBusy || began - this.#lookedAt >= BUSY_LOOK_MS) await this.#look(isBusy ? 1 : LOOKS_MAX)
    let hasSent = false
    for (;;) {
      const room = await this.#judged()
      if (room === null) return 0
      const sent = room === 0 ? 0 : await this.#send(room)
      hasSent ||= sent > 0
      if (sent === 0) break
      if (this.#clock.monotonic() - began >= lastsMs) break
    }
    await this.#write(() => ({ held: this.#held }))
    if (hasSent) return 0
    return this.#held === null ? LOOK_REST_MS : HELD_REST_MS
  }

  /** How many may be sent now by stage and limits; null if the redrive is no longer running. */
  async #judged(): Promise<number | null> {
    for (;;) {
      const { plan, stages } = this.#redrive
      const { standing } = this.#ledger
      const stage = stageOf(this.#redrive, standing)
      if (stage === null) {
        await this.#write((redrive, now) => (redrive.stages.length > 0 ? {} : { stages: [newStage(plan, 0, now)] }))
        continue
      }
      const verdict = judgeStage(plan, stage, standing)
      switch (verdict.kind) {
        case 'done':
          await this.#write(this.#ending('running', 'done'))
          return null
        case 'halt': {
          const { evidence } = this.#ledger
          const { sentence } = verdict
          await this.#write((redrive, now) =>
            redrive.state === 'running'
              ? {
                  state: 'halted',
                  halt: { at: now, stage: stages.length - 1, sentence, evidence },
                  untold: { state: 'halted', reason: sentence, at: now },
                }
              : {},
          )
          return null
        }
        case 'next stage':
          await this.#write((_, now) => ({
            stages: [...stages.slice(0, -1), { ...stage, endedAt: now }, newStage(plan, stages.length, now)],
          }))
          if (this.#redrive.state !== 'running') return null
          continue
        case 'go on':
          return Math.min(verdict.room, this.#limitRoom(standing.sent))
      }
    }
  }

  #limitRoom(underWay: number): number {
    const { ratePerS, concurrency, patch } = this.#redrive.plan
    const most = patch === null ? SEND_MAX : SEND_PATCHED_MAX
    const free = concurrency === null ? most : Math.max(0, Math.min(most, concurrency - underWay))
    if (ratePerS === null) return free
    const now = this.#clock.monotonic()
    const burst = Math.max(1, ratePerS / 4)
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#tokensAt) / 1_000) * ratePerS)
    this.#tokensAt = now
    return Math.min(free, Math.floor(this.#tokens))
  }

  /** Sends up to so many; says how many items it got done with. */
  async #send(room: number): Promise<number> {
    const open = this.#ledger.having('pending').slice(0, SENDS_LOOKED_AT_MAX)
    for (const [place, at] of open.entries()) {
      const stored = await this.#chunks.read(at)
      const places = await this.#sendable(stored.document, room)
      if (places.length === 0) continue
      const next = open[place + 1]
      const isLast = places.length === this.#ledger.countsAt(at).pending
      if (isLast && next !== undefined) this.#chunks.readAhead(next)
      const sending = { engine: this.#engine, clock: this.#clock, redrive: this.#redrive }
      const news = await sendItems(sending, stored.document, places)
      await this.#put(at, stored, news)
      this.#tokens -= news.size
      return news.size
    }
    return 0
  }

  /** The items that may be sent now, oldest first. */
  async #sendable(chunk: RedriveChunk, room: number): Promise<readonly number[]> {
    const { pace, fixedIn } = this.#redrive.plan
    const pending = placesOf(chunk.items, 'pending')
    if (pace === 'free' && fixedIn === null) return pending.slice(0, room)
    const rooms = new Map<number, number>()
    const places: number[] = []
    for (const at of pending) {
      if (places.length === room) break
      const lane = chunk.items[at]?.lane ?? 0
      const left = rooms.get(lane) ?? (await this.#laneRoom(chunk, lane, room))
      rooms.set(lane, left - 1)
      if (left > 0) places.push(at)
    }
    return places
  }

  async #laneRoom({ lanes }: RedriveChunk, at: number, room: number): Promise<number> {
    const lane = lanes[at]
    if (lane === undefined) return room
    const { pace, fixedIn } = this.#redrive.plan
    const unfixed = fixedIn === null ? null : await this.#facts.unfixed(lane, fixedIn)
    if (unfixed !== null) {
      this.#held = unfixed
      return 0
    }
    const breaker = pace === 'breaker' ? await this.#facts.breaker(lane) : null
    if (breaker === null) return room
    this.#held = this.#facts.heldBy(breaker, lane)
    if (breaker.status === 'open') return 0
    return Math.min(room, Math.max(0, TRIAL_ROOM - this.#ledger.standing.sent))
  }

  /** Looks what became of items under way, in so many chunks. */
  async #look(chunks: number): Promise<void> {
    this.#lookedAt = this.#clock.monotonic()
    const open = this.#ledger.having('sent')
    for (let count = 0; count < Math.min(chunks, open.length); count++) {
      const at = open[this.#looked++ % open.length] ?? 0
      const stored = await this.#chunks.read(at)
      const outcomes = await outcomesOf(this.#engine, this.#redrive, stored.document)
      await tellCopies(this.#engine, this.#redrive, stored.document, outcomes)
      const back = await this.#backFromOlder(stored.document, outcomes)
      await this.#put(at, stored, new Map([...outcomes, ...back]))
    }
  }

  /** A worker of before the fix has come back: what has not started is taken out of its reach. */
  async #backFromOlder(
    chunk: RedriveChunk,
    ended: ReadonlyMap<number, ItemNews>,
  ): Promise<ReadonlyMap<number, ItemNews>> {
    const { fixedIn } = this.#redrive.plan
    if (fixedIn === null || this.#redrive.state !== 'running') return new Map()
    const places: number[] = []
    for (const at of placesOf(chunk.items, 'sent')) {
      const lane = chunk.lanes[chunk.items[at]?.lane ?? 0]
      if (!ended.has(at) && lane !== undefined && (await this.#facts.hasOlder(lane, fixedIn))) places.push(at)
    }
    return takenBack(this.#engine, this.#redrive, chunk, places, 'pending')
  }

  async #undo(): Promise<number> {
    for (const at of this.#ledger.having('sent')) {
      const stored = await this.#chunks.read(at)
      const places = placesOf(stored.document.items, 'sent')
      const undone = await takenBack(this.#engine, this.#redrive, stored.document, places, 'undone')
      await this.#put(at, stored, undone)
    }
    // What has started goes on, and what it comes to is looked at once more.
    await this.#look(Number.POSITIVE_INFINITY)
    await this.#write(this.#ending('undoing', 'undone'))
    return 0
  }

  /** What follows may be sent while this is written. */
  async #put(at: number, stored: Stored<RedriveChunk>, news: ReadonlyMap<number, ItemNews>): Promise<void> {
    if (news.size > 0) this.#ledger.note(at, await this.#chunks.write(at, stored, news))
  }

  /** From this state, if it is still in it, to one that is an end. */
  #ending(from: RedriveState, to: RedriveState): Change {
    return (redrive, now) => {
      if (redrive.state !== from) return {}
      const stage = stageOf(redrive, this.#ledger.standing)
      const stages = stage === null ? [] : [...redrive.stages.slice(0, -1), { ...stage, endedAt: now }]
      const { recovered, failed, skipped, undone } = redrive.counts
      const reason = `${recovered} recovered, ${failed} failed again, ${skipped} skipped, ${undone} undone.`
      return { state: to, endedAt: now, stages, untold: { state: to, reason, at: now } }
    }
  }

  async #write(change: Change): Promise<void> {
    await this.#chunks.written()
    const { id } = this.#redrive
    const now = await this.#engine.now()
    const { same: _, ...counts } = this.#ledger.standing
    const { again } = this.#ledger
    const written = await stepDocument(this.#redrives, id, (redrive) => {
      if (redrive.owner !== this.#owner) return null
      const stage = stageOf(redrive, this.#ledger.standing)
      const stages = stage === null ? redrive.stages : [...redrive.stages.slice(0, -1), stage]
      const known = { ...redrive, counts, again, stages, held: null, leaseUntil: now + this.#leaseMs }
      return { ...known, ...change({ ...known }, now) }
    })
    if (written === null) throw new RedriveLost(id)
    this.#redrive = written
    if (written.untold) await this.#tell(written.untold, tell)
  }

  async #tell(untold: Untold, how: typeof tell): Promise<void> {
    const told = await how(this.#engine, this.#redrives, this.#redrive.id, untold)
    if (told === null) throw new RedriveLost(this.#redrive.id)
    this.#redrive = told
  }
}

type Change = (redrive: RedriveDocument, now: number) => Partial<RedriveDocument>
