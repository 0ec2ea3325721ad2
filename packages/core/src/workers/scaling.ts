// How many slots a pool would need now to keep its promise on waiting (C9). Pure: from the depth of its queue, what runs,
// and what came and went in the last minutes, by Little's law; with the sum that led to it, in words and numbers, so that
// an operator who scales by it can check it. It scales nothing itself, and says so when it can't tell.

import { formatDuration } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import type { PoolName } from '../model/ids.ts'
import * as check from '../model/option-checks.ts'

/** A slot is room for one execution at a time; a worker has as many as its concurrency. */
export interface ScalingFacts {
  readonly pool: PoolName
  /** Waiting to start now: queued, and due in the delay queue. */
  readonly depth: number
  readonly running: number
  /** What was accepted or sent back for another attempt, and what ended, in the window. */
  readonly arrived: number
  readonly finished: number
  readonly windowMs: number
  /** Workers of the pool that can take work. */
  readonly workers: number
}

export interface ScalingOptions {
  /** The SLA: how long a task may wait before it starts. */
  readonly targetWaitMs: number
  /** Bounds of the answer; 0 and none if not given. */
  readonly minSlots?: number
  readonly maxSlots?: number
  /** What one worker runs at once; 1 if not given. From a store, what its workers say. */
  readonly slotsPerWorker?: number
  /** How long one attempt takes, for when the figures don't tell. */
  readonly durationMs?: number
}

export interface ScalingSignal {
  readonly pool: PoolName
  /** How many slots would keep the promise now; null if that can't be told. */
  readonly slots: number | null
  /** The same in workers. */
  readonly workers: number | null
  readonly workersNow: number
  /** How the answer came about, in words. */
  readonly sum: string
  readonly numbers: {
    readonly depth: number
    readonly running: number
    readonly arrivedPerSecond: number
    readonly finishedPerSecond: number
    /** How long one attempt takes; null if nobody knows. */
    readonly durationMs: number | null
    readonly targetWaitMs: number
    /** To keep up with what comes, and to start in time what waits already. */
    readonly slotsToKeepUp: number | null
    readonly slotsToCatchUp: number | null
  }
}

export function scalingSignal(facts: ScalingFacts, options: ScalingOptions): ScalingSignal {
  const { minSlots, maxSlots, slotsPerWorker, targetWaitMs } = checked(options)
  const { pool, depth, running, workers: workersNow } = facts
  const seconds = Math.max(facts.windowMs / 1_000, 1)
  const arrivedPerSecond = facts.arrived / seconds
  const finishedPerSecond = facts.finished / seconds
  const known = durationOf(facts, finishedPerSecond, options.durationMs)
  const numbers = {
    depth,
    running,
    arrivedPerSecond: shown(arrivedPerSecond),
    finishedPerSecond: shown(finishedPerSecond),
    durationMs: known === null ? null : known.ms,
    targetWaitMs,
    slotsToKeepUp: null,
    slotsToCatchUp: null,
  }
  if (known === null) {
    const isIdle = depth === 0 && running === 0
    if (!isIdle) return { pool, slots: null, workers: null, workersNow, sum: cannotTell(facts), numbers }
    const bounded = within(0, minSlots, maxSlots)
    const sum = `Nothing waits and nothing runs: ${plural(0, 'slot')}${bounded.words}.`
    return { pool, slots: bounded.slots, workers: inWorkers(bounded.slots, slotsPerWorker), workersNow, sum, numbers }
  }
  // Whole ones, here and in the words: the two must add up to the answer.
  const slotsToKeepUp = Math.ceil(arrivedPerSecond * (known.ms / 1_000) - ROUNDING)
  // A slot starts one task at once and another each time one ends, as far as the target reaches.
  const startsPerSlot = Math.floor(targetWaitMs / known.ms) + 1
  const slotsToCatchUp = Math.ceil(depth / startsPerSlot)
  const bounded = within(slotsToKeepUp + slotsToCatchUp, minSlots, maxSlots)
  const sum = [
    `${shown(arrivedPerSecond)} tasks/s come and one takes ${formatDuration(known.ms)} (${known.how}): ${plural(slotsToKeepUp, 'slot')} to keep up.`,
    `${plural(depth, 'task')} ${depth === 1 ? 'waits' : 'wait'}, and within ${formatDuration(targetWaitMs)} a slot starts ${startsPerSlot}: ${slotsToCatchUp} more to start them in time.`,
    `Together ${plural(bounded.wanted, 'slot')}${bounded.words}.`,
  ].join(' ')
  return {
    pool,
    slots: bounded.slots,
    workers: inWorkers(bounded.slots, slotsPerWorker),
    workersNow,
    sum,
    numbers: { ...numbers, slotsToKeepUp, slotsToCatchUp },
  }
}

/** What a division leaves over must not cost a slot. */
const ROUNDING = 1e-9
/** Below this, durations say more about the store than about the task. */
const DURATION_MS_MIN = 1

function durationOf(
  { running, finished }: ScalingFacts,
  finishedPerSecond: number,
  givenMs: number | undefined,
): { readonly ms: number; readonly how: string } | null {
  // Little's law: what is inside = the rate of leaving × the time inside.
  if (running > 0 && finished > 0) {
    const ms = Math.max(Math.round((running / finishedPerSecond) * 1_000), DURATION_MS_MIN)
    return { ms, how: `${running} running, ${shown(finishedPerSecond)} finished/s` }
  }
  return givenMs === undefined ? null : { ms: Math.max(givenMs, DURATION_MS_MIN), how: 'as was given' }
}

function cannotTell({ depth, running, finished, windowMs, workers }: ScalingFacts): string {
  const window = formatDuration(windowMs)
  const why =
    finished === 0
      ? `nothing has ended in the last ${window}`
      : `nothing runs at this moment, though ${finished} ended in the last ${window}`
  const next =
    workers === 0
      ? 'No worker is there: start one to find out, or give durationMs.'
      : 'Ask again in a minute, or give durationMs.'
  return `Can't tell: ${plural(depth, 'task')} ${depth === 1 ? 'waits' : 'wait'}, ${running} run, and ${why}, so nobody knows how long one takes. ${next}`
}

function within(wanted: number, minSlots: number, maxSlots: number) {
  const slots = Math.min(Math.max(wanted, minSlots), maxSlots)
  const words =
    slots > wanted ? `; at least ${minSlots} are asked for` : slots < wanted ? `; at most ${maxSlots} are allowed` : ''
  return { wanted, slots, words }
}

const inWorkers = (slots: number, slotsPerWorker: number): number => Math.ceil(slots / slotsPerWorker)
const shown = (value: number): number => Number(value.toPrecision(3))
const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const CHECKS: check.Table<ScalingOptions> = {
  targetWaitMs: check.msFrom0,
  minSlots: check.whole(0),
  maxSlots: check.whole(0),
  slotsPerWorker: check.whole(1),
  durationMs: check.ms,
}

function checked(options: ScalingOptions): Required<Omit<ScalingOptions, 'durationMs'>> {
  check.options(options, CHECKS, 'scaling option', ['targetWaitMs'])
  const { targetWaitMs, minSlots = 0, maxSlots = Number.MAX_SAFE_INTEGER, slotsPerWorker = 1 } = options
  if (maxSlots < minSlots) throw new InvalidError('maxSlots is a whole number, and not below minSlots.')
  return { targetWaitMs, minSlots, maxSlots, slotsPerWorker }
}
