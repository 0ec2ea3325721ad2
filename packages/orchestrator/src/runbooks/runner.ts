// The service that moves runs of runbooks (run.ts says how in prose). Any number may run: a run is under a lease, and each step is
// written down before and after it is done, over the version of the document that was read.

import { randomUUID } from 'node:crypto'
import { check, type Engine, refuseNoEngine, type Service, sleep, tellLeftovers } from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, type Surroundings, surroundings } from '../service.ts'
import { SERVICE_CHECKS } from '../service-checks.ts'
import { acted, isLeftOut, type RunbookHands } from './actions.ts'
import { removeOldRuns } from './removal.ts'
import {
  begun,
  ended,
  finished,
  type Holder,
  nextStep,
  type RunbookRun,
  renewed,
  runsIn,
  type StepEnd,
  stepRun,
  taken,
} from './run.ts'

export interface RunbooksOptions extends ServiceOptions {
  readonly engine: Pick<Engine, 'collection' | 'journal' | 'now'>
  readonly hands: RunbookHands
  readonly intervalMs?: number
  /** How long a run belongs to a process that is not heard of. */
  readonly leaseMs?: number
  /** Called between any two writes, for tests that end the process there. */
  readonly at?: (point: RunPoint, step: string) => void
}

export type RunPoint = 'taken' | 'begun' | 'acted' | 'ended'

const INTERVAL_MS = 500
const LEASE_MS = 15_000
const REMOVE_EVERY_MS = 60_000
const RUNS_AT_ONCE = 8
const RUNS_LOOKED_AT = 200
/** A lease is renewed so often within its time. */
const RENEWALS = 3

const CHECKS: check.Table<RunbooksOptions> = {
  ...SERVICE_CHECKS,
  hands: check.having('operation', 'http', 'script'),
  intervalMs: check.ms,
  leaseMs: check.ms,
  at: check.func,
}

export function createRunbooks(options: RunbooksOptions): Service {
  check.options(options, CHECKS, 'runbooks option')
  const { engine, intervalMs = INTERVAL_MS } = options
  refuseNoEngine(engine, 'collection', 'createRunbooks')
  const around = surroundings('runbooks', options)
  return createLoop('runbooks', around, () => {
    const runner = new Runner(options, around)
    let place: string | null = null
    let removedAt = Number.NEGATIVE_INFINITY
    return {
      async round(signal) {
        // Those that take long go on meanwhile: nobody who starts a run waits for the script of another.
        await runner.begin(signal)
        if (around.clock.monotonic() - removedAt >= REMOVE_EVERY_MS) {
          removedAt = around.clock.monotonic()
          place = await removeOldRuns(engine, place)
        }
        return jitteredMs(intervalMs, around.random)
      },
      leave: () => runner.rest(),
    }
  })
}

export class Runner {
  readonly #options: RunbooksOptions
  readonly #around: Pick<Surroundings, 'clock' | 'onError'>
  readonly #owner = randomUUID()
  /** The runs that are being moved, by their id. */
  readonly #moving = new Map<string, Promise<void>>()

  constructor(options: RunbooksOptions, around: Pick<Surroundings, 'clock' | 'onError'>) {
    this.#options = options
    this.#around = around
  }

  /** Moves every run as far as it goes now. */
  async round(signal: AbortSignal): Promise<void> {
    await this.begin(signal)
    await this.rest()
  }

  /** Begins to move what is due, as far as there is room beside those that are being moved. */
  async begin(signal: AbortSignal): Promise<void> {
    const { engine } = this.#options
    const now = await engine.now()
    await tellLeftovers(engine.journal, runsIn(engine), now)
    const { items } = await runsIn(engine).find({ index: 'moving', value: 'yes', limit: RUNS_LOOKED_AT })
    const due = items.filter(({ document }) => document.nextAt <= now && !this.#moving.has(document.id))
    for (const { document } of due.slice(0, RUNS_AT_ONCE - this.#moving.size)) {
      const moving = this.#move(document.id, signal)
        .catch((error: unknown) => this.#around.onError(error))
        .finally(() => this.#moving.delete(document.id))
      this.#moving.set(document.id, moving)
    }
  }

  /** Resolves when nothing is being moved. */
  async rest(): Promise<void> {
    await Promise.all(this.#moving.values())
  }

  async #move(id: string, signal: AbortSignal): Promise<void> {
    const { engine } = this.#options
    const holder = await this.#holder()
    let run = await stepRun(engine, id, (one) => taken(one, holder))
    this.#options.at?.('taken', run?.steps[nextStep(run)]?.name ?? '')
    while (run !== null && run.owner === this.#owner && !signal.aborted) {
      const at = nextStep(run)
      if (at === -1) {
        const { now } = await this.#holder()
        await stepRun(engine, id, (one) => (one.owner === this.#owner ? finished(one, now) : null))
        return
      }
      const next = await this.#step(run, at, signal)
      if (next === null || next.nextAt > (await engine.now())) return
      run = next
    }
  }

  /** One step: written down, done, written down. Null if somebody else has the run. */
  async #step(run: RunbookRun, at: number, signal: AbortSignal): Promise<RunbookRun | null> {
    const { engine, hands, leaseMs = LEASE_MS } = this.#options
    const { clock } = this.#around
    const step = run.runbook.steps[at]
    if (step === undefined) return null
    const heldFrom = clock.monotonic()
    const before = await this.#holder()
    const isUndoing = run.state === 'aborting'
    if (!isUndoing && isLeftOut(run, step.onlyIf)) {
      return stepRun(engine, run.id, (one) => ended(one, at, { kind: 'skipped' }, before))
    }
    const started = await stepRun(engine, run.id, (one) => begun(one, at, before))
    const record = started?.steps[at]
    const action = isUndoing ? step.undo : step.action
    if (started === null || record === undefined || action === null) return null
    this.#options.at?.('begun', step.name)
    // A process that stood still: another one has the run by now, and may have done the step since.
    if (clock.monotonic() - heldFrom >= leaseMs) return null
    const end = await this.#held(started.id, signal, (inTime) =>
      acted({ run: started, record, action, hands, now: before.now, signal: inTime }),
    )
    // Nobody knows what came of it: the run goes on when its lease is over.
    if (end === null) return null
    this.#options.at?.('acted', step.name)
    const after = await this.#holder()
    const next = await stepRun(engine, run.id, (one) => ended(one, at, end, after))
    this.#options.at?.('ended', step.name)
    return next
  }

  /** Does something while the lease is renewed. Null if it was given up half-way. */
  async #held(
    id: string,
    signal: AbortSignal,
    act: (signal: AbortSignal) => Promise<StepEnd>,
  ): Promise<StepEnd | null> {
    const { engine, leaseMs = LEASE_MS } = this.#options
    const over = new AbortController()
    const lost = new AbortController()
    const renewing = (async () => {
      while (!over.signal.aborted) {
        await sleep(this.#around.clock, leaseMs / RENEWALS, over.signal)
        if (over.signal.aborted) return
        const holder = await this.#holder()
        if ((await stepRun(engine, id, (one) => renewed(one, holder))) === null) lost.abort()
      }
    })().catch((error: unknown) => {
      this.#around.onError(error)
      lost.abort()
    })
    try {
      const stop = AbortSignal.any([signal, lost.signal])
      const end = await act(stop)
      return stop.aborted && end.kind === 'failed' ? null : end
    } finally {
      over.abort()
      await renewing
    }
  }

  async #holder(): Promise<Holder> {
    const { engine, leaseMs = LEASE_MS } = this.#options
    return { owner: this.#owner, now: await engine.now(), leaseMs }
  }
}
