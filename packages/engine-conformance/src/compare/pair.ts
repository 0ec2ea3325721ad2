// The engine under test and the model side by side, each on its own clock, both moved alike. Everything is done to both;
// an answer that differs, or an error with another code, ends the run.

import { isDeepStrictEqual } from 'node:util'
import {
  type Claimed,
  type ClaimRequest,
  type Engine,
  type EntryRef,
  isRepriseError,
  type TaskId,
  VirtualClock,
  type WorkerId,
} from '@reprise/core'
import type { EngineFactory, EngineOptions } from '../factory.ts'
import { createModel } from '../model/model.ts'
import type { LeasePick } from './command.ts'
import { DifferenceError } from './difference.ts'
import { BACKLOG_MAX, THRESHOLDS } from './draft.ts'
import { Names } from './names.ts'
import type { Observer } from './observer.ts'

export interface Side {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly names: Names
  /** Every lease ever given out, oldest first. */
  readonly leases: Claimed[]
  readonly epochs: Map<WorkerId, number[]>
}

/** What both sides answered, in their own tokens. Null where both refused alike. */
export interface Answers<T> {
  readonly model: T
  readonly engine: T
}

export class Pair {
  readonly model: Side
  readonly engine: Side
  /** Entries that a sweep saw past their time. They carry no token, so both sides share them. */
  readonly entries: (EntryRef & {
    readonly snapshot: Claimed['snapshot']
    readonly failures: number
    readonly losses: number
  })[] = []
  /** Places in the list of leases that nobody has settled yet, as far as a caller can know. */
  readonly held = new Set<number>()
  /** Places of those that were claimed for dispatch. */
  readonly dispatched = new Set<number>()

  private constructor(model: Side, engine: Side) {
    this.model = model
    this.engine = engine
  }

  static async open(factory: EngineFactory): Promise<Pair> {
    const side = (engine: Engine, clock: VirtualClock): Side => {
      return { engine, clock, names: new Names(), leases: [], epochs: new Map() }
    }
    const options = optionsOn(new VirtualClock())
    const engine = side(await factory.open(options), options.clock)
    // Between the places of a store there is no order, so the model can't foretell it: it stands for itself.
    if (factory.placeOf !== undefined) return new Pair(engine, engine)
    const modelOptions = optionsOn(new VirtualClock())
    return new Pair(side(createModel(modelOptions), modelOptions.clock), engine)
  }

  /** Without a model: then only the invariants are checked. */
  get isAlone(): boolean {
    return this.model === this.engine
  }

  get now(): number {
    return this.model.clock.now()
  }

  advance(byMs: number): void {
    this.engine.clock.jump(byMs)
    if (!this.isAlone) this.model.clock.jump(byMs)
  }

  /** Does the same to both and compares what they say. */
  async both<T>(
    doing: string,
    call: (side: Side) => Promise<T>,
    canonical: (answer: T) => unknown = (answer) => answer,
  ): Promise<Answers<T> | null> {
    const model = await outcomeOf(call(this.model))
    if (!model.ok && model.code === null) throw model.error
    if (this.isAlone) return model.ok ? { model: model.answer, engine: model.answer } : null
    const engine = await outcomeOf(call(this.engine))
    const shown = (side: Side, outcome: Outcome<T>): unknown =>
      side.names.renamed(outcome.ok ? canonical(outcome.answer) : { refused: outcome.code ?? String(outcome.error) })
    const expected = shown(this.model, model)
    const actual = shown(this.engine, engine)
    if (!isDeepStrictEqual(actual, expected)) throw new DifferenceError(doing, expected, actual)
    return model.ok && engine.ok ? { model: model.answer, engine: engine.answer } : null
  }

  keepLeases(answers: Answers<readonly Claimed[]>, stage: ClaimRequest['stage'] = 'run'): void {
    answers.model.forEach((lease, index) => {
      const twin = answers.engine[index]
      if (twin === undefined) return
      this.held.add(this.model.leases.length)
      if (stage === 'dispatch') this.dispatched.add(this.model.leases.length)
      this.model.leases.push(lease)
      if (!this.isAlone) this.engine.leases.push(twin)
    })
  }

  /** The place of a lease in the list; null if there is none to pick. */
  pick({ back, held }: LeasePick, among: ReadonlySet<number> = this.held): number | null {
    const places = held && among.size > 0 ? [...among] : this.model.leases.map((_, place) => place)
    return places.length === 0 ? null : (places[places.length - 1 - (back % places.length)] ?? null)
  }

  forget(id: TaskId): void {
    for (const place of this.held) if (this.model.leases[place]?.taskId === id) this.held.delete(place)
  }

  async close(): Promise<void> {
    await this.model.engine.close()
    await this.engine.engine.close()
  }
}

/** One run of a sequence: both sides, and the witness of what the engine says. */
export interface Run {
  readonly pair: Pair
  readonly observer: Observer
  readonly startedAt: number
}

const optionsOn = (clock: VirtualClock): EngineOptions & { readonly clock: VirtualClock } => ({
  clock,
  maxBacklog: BACKLOG_MAX,
  healthThresholds: THRESHOLDS,
})

type Outcome<T> =
  | { readonly ok: true; readonly answer: T }
  /** Without a code it is not an error of ours, but a bug. */
  | { readonly ok: false; readonly code: string | null; readonly error: unknown }

async function outcomeOf<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, answer: await call }
  } catch (error) {
    return { ok: false, code: isRepriseError(error) ? error.code : null, error }
  }
}
