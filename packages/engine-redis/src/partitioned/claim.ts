// The claim over several partitions. A claim looks which partitions have anything, begins with another one each time, and
// asks them for equal shares at once. A worker that settles claims in the same trip where it settled, as many as it settled
// there; now and then it claims in turn all over the store instead, so that no partition is left behind.

import {
  BATCH_MAX,
  type ClaimRequest,
  type ClaimResult,
  isRepriseError,
  type Settlement,
  type SettleResult,
  type WorkerId,
} from '@reprise/core'
import { checkBatch, checkLeaseMs, checkLimit, checkSettlements } from '@reprise/core/engine'
import { claim, type PartitionClaim, settleAndClaim } from '../claim.ts'
import { resultOf, type Settled, settleThere } from '../settle.ts'
import type { Wake } from '../wake.ts'
import type { Backlogs } from './backlogs.ts'
import { type BlockedAt, ClaimParts } from './claim-parts.ts'
import type { Evidence } from './evidence.ts'
import { inward, settleAll } from './leases.ts'
import type { Part, Partitions } from './partitions.ts'
import type { Slots } from './slots.ts'

/** After this number of trips of a worker that settles, it claims in turn all over the store. */
const ROUNDS_EVERY = 8
/** As many limits as can cover a lane. */
const MOVES_MAX = 8

export class Claiming {
  readonly #store: Partitions
  readonly #backlogs: Backlogs
  readonly #evidence: Evidence
  readonly #slots: Slots
  readonly #wake: Wake
  #turn = 0
  #trips = 0

  constructor(store: Partitions, backlogs: Backlogs, evidence: Evidence, slots: Slots, wake: Wake) {
    this.#store = store
    this.#backlogs = backlogs
    this.#evidence = evidence
    this.#slots = slots
    this.#wake = wake
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    checkLimit(request.limit)
    checkLeaseMs(request.leaseMs)
    const [stocked, { status, now }] = await Promise.all([this.#look(request), this.#evidence.judge(request)])
    const parts = new ClaimParts(request, status, this.#store.home.thresholds, now)
    await this.#collect(parts)
    await this.#gather(parts, this.#inTurn(stocked))
    return parts.result()
  }

  async settleAndClaim(
    settlements: readonly Settlement[],
    request: ClaimRequest,
  ): Promise<{ readonly settled: readonly SettleResult[] } & ClaimResult> {
    checkBatch(settlements.length)
    checkSettlements(settlements)
    if (settlements.length === 0) return { settled: [], ...(await this.claim(request)) }
    checkLimit(request.limit)
    checkLeaseMs(request.leaseMs)
    if (!this.#evidence.isSpotless(request.worker, settlements)) return this.#settleFirst(settlements, request)
    this.#trips++
    const isRound = this.#trips % ROUNDS_EVERY === 0 && this.#backlogs.stocked.length > 0
    const shares = this.#store.split(settlements, ({ ref }) => ref.taskId)
    const amounts = isRound ? dealOut(request.limit, this.#roundOf(request.worker)) : amountsLike(shares, request.limit)
    // Asked for along the way, so that the next round knows where to go.
    if (this.#trips % ROUNDS_EVERY === ROUNDS_EVERY - 1) this.#lookAhead(request)
    const parts = new ClaimParts(request, 'healthy', this.#store.home.thresholds, 0)
    const settled: Settled[] = []
    const visits = [
      ...shares.map((share) => this.#settleThere(parts, share, amounts.get(share.place) ?? 0, settled)),
      ...[...amounts]
        .filter(([place]) => !shares.some((share) => share.place === place))
        .map(([place, amount]) => this.#claimThere(parts, place, amount).catch(() => undefined)),
    ]
    const outcomes = await Promise.allSettled(visits)
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    if (refused !== undefined) {
      await this.#giveBack(parts)
      throw refused.reason
    }
    await this.#evidence.settled(settlements, settled)
    // The settlements stand; what is wrong with the claim is heard at the next one.
    await this.#more(parts, isRound).catch(() => undefined)
    return { settled: settled.map(resultOf), ...parts.result() }
  }

  /** Where something speaks against the worker, or may, the claim is judged after the settlements. */
  async #settleFirst(
    settlements: readonly Settlement[],
    request: ClaimRequest,
  ): Promise<{ readonly settled: readonly SettleResult[] } & ClaimResult> {
    const answers = await settleAll(this.#store, settlements)
    await this.#evidence.settled(settlements, answers)
    const settled = answers.map(resultOf)
    try {
      return { settled, ...(await this.claim(request)) }
    } catch {
      return { settled, claimed: [], nextDueAt: null, heldBack: null, now: await this.#store.home.now() }
    }
  }

  /** Where a round leads: first to where something lies in the worker's inbox, which its claims collect first. */
  #roundOf(worker: WorkerId): readonly number[] {
    return [...new Set([...this.#backlogs.inboxes(worker), ...this.#inTurn(this.#backlogs.stocked)])]
  }

  #lookAhead(request: ClaimRequest): void {
    Promise.all([this.#look(request), this.#evidence.judge(request)]).catch(() => undefined)
  }

  /** What is still wanted, from the partitions that were not asked yet or gave all they were asked for. */
  async #more(parts: ClaimParts, isRound: boolean): Promise<void> {
    if (parts.wanted > 0) {
      const stocked = await this.#look(parts.request)
      await this.#collect(parts)
      return this.#gather(parts, this.#inTurn(stocked.filter((place) => !parts.exhausted.has(place))))
    }
    if (isRound) await this.#slots.move(parts.takeBlocked())
  }

  /** Where there is anything for this worker. Only what is to be run lies in its inbox. */
  #look({ worker, stage = 'run' }: ClaimRequest): Promise<readonly number[]> {
    return this.#backlogs.look(stage === 'run' ? worker : undefined)
  }

  /** What lies in the worker's inbox comes first, wherever it lies. */
  async #collect(parts: ClaimParts): Promise<void> {
    const { worker, stage = 'run', regardless } = parts.request
    if (stage !== 'run') return
    for (const place of this.#backlogs.inboxes(worker)) {
      const amount = parts.wanted
      if (amount === 0) return
      try {
        const found = await this.#collectThere(parts, place, amount)
        // Where only some actions are meant, others may lie there still.
        if (found < amount && regardless !== true) this.#backlogs.collected(worker, place)
      } catch (error) {
        // What lies there is given back when its time ends; what others have goes on.
        if (isFenced(error)) throw error
        this.#backlogs.failed(place)
      }
    }
  }

  /** A claim that can run no action, or asks no pool, collects only. So it has seen nothing of the pools. */
  async #collectThere(parts: ClaimParts, place: number, amount: number): Promise<number> {
    const { worker, regardless } = parts.request
    const pools = regardless === true ? [] : parts.request.pools
    const nothing = regardless === true ? { pools } : { actions: [] }
    const request = { ...parts.request, ...nothing, limit: amount }
    const answer = await claim(this.#store.at(place), request, parts.health)
    parts.add(place, answer, 0)
    this.#wake.saw({ pools: [], worker }, answer.versions.slice(pools.length), place)
    return answer.claimed.length
  }

  /** Claims there, and again where slots of limits could be had from other partitions: several limits may cover a lane. */
  async #gather(parts: ClaimParts, places: readonly number[]): Promise<void> {
    // A worker that gets nothing still promotes what is due.
    if (parts.health === 'unhealthy') await Promise.all(places.map((place) => this.#claimThere(parts, place, 1)))
    await this.#visit(parts, places)
    for (let moves = 0; moves < MOVES_MAX && parts.wanted > 0; moves++) {
      let isMoved = false
      // One kind after the other, each followed by a claim: otherwise two partitions that have one of two slots each, and
      // want both, would swap them for ever.
      for (const blocked of byKind(parts.takeBlocked())) {
        const receivers = await this.#slots.move(blocked).catch(() => [])
        isMoved ||= receivers.length > 0
        await this.#visit(parts, receivers)
      }
      if (!isMoved) return
    }
  }

  async #visit(parts: ClaimParts, places: readonly number[]): Promise<void> {
    let left = places
    const refused: PromiseRejectedResult[] = []
    while (left.length > 0 && parts.wanted > 0) {
      const amounts = [...dealOut(parts.wanted, left)]
      const outcomes = await Promise.allSettled(
        amounts.map(([place, amount]) => this.#claimThere(parts, place, amount)),
      )
      const generous: number[] = []
      outcomes.forEach((outcome, index) => {
        const [place, amount] = amounts[index] ?? [0, 0]
        if (outcome.status === 'fulfilled') {
          if (outcome.value === amount) generous.push(place)
          return
        }
        refused.push(outcome)
        if (isFenced(outcome.reason)) throw outcome.reason
      })
      left = [...left.slice(amounts.length), ...generous]
    }
    const [first] = refused
    if (first !== undefined && parts.claimed.length === 0) throw first.reason
  }

  /** Answers how many it got. */
  async #claimThere(parts: ClaimParts, place: number, amount: number): Promise<number> {
    try {
      const request = { ...parts.request, limit: amount }
      return this.#take(parts, place, amount, await claim(this.#store.at(place), request, parts.health))
    } catch (error) {
      if (!isFenced(error)) this.#backlogs.failed(place)
      throw error
    }
  }

  async #settleThere(
    parts: ClaimParts,
    { place, partition, items, positions }: Part<Settlement>,
    amount: number,
    settled: Settled[],
  ): Promise<void> {
    const known = inward(place, items)
    let results: readonly Settled[]
    if (amount === 0) results = await settleThere(partition, known)
    else {
      const request = { ...parts.request, limit: amount }
      const { settled: own, ...answer } = await settleAndClaim(partition, known, request, parts.health)
      this.#take(parts, place, amount, answer)
      results = own
    }
    positions.forEach((position, index) => {
      const result = results[index]
      if (result !== undefined) settled[position] = result
    })
  }

  #take(parts: ClaimParts, place: number, amount: number, answer: PartitionClaim): number {
    parts.add(place, answer, amount)
    this.#wake.saw(parts.request, answer.versions, place)
    if (answer.claimed.length < amount) this.#backlogs.emptied(place)
    return answer.claimed.length
  }

  /** Another one comes first each time. */
  #inTurn(places: readonly number[]): readonly number[] {
    const start = places.length === 0 ? 0 : this.#turn++ % places.length
    return [...places.slice(start), ...places.slice(0, start)]
  }

  /** Leases that the worker will not hear of, because its settlements could not be answered, go back to their queues. */
  async #giveBack(parts: ClaimParts): Promise<void> {
    const released = parts.claimed.map(({ taskId, attempt, token }): Settlement => {
      return { kind: 'released', ref: { taskId, attempt, token }, reason: 'the claim could not be answered' }
    })
    const shares = this.#store.split(released, ({ ref }) => ref.taskId)
    await Promise.allSettled(shares.map(({ place, partition, items }) => settleThere(partition, inward(place, items))))
  }
}

/** Limits of one kind give the same parts of a scope: no two of them cover one lane. */
function byKind(blocked: readonly BlockedAt[]): readonly (readonly BlockedAt[])[] {
  const kinds = Map.groupBy(blocked, ({ scope }) =>
    scope
      .split('\n')
      .map((part) => (part === '' ? '-' : '+'))
      .join(''),
  )
  return [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, list]) => list)
}

/** Equal shares; what is left over goes to the first. Of fewer than there are places, one each. */
function dealOut(amount: number, places: readonly number[]): ReadonlyMap<number, number> {
  const whole = Math.floor(amount / places.length)
  const over = amount % places.length
  return new Map(
    places.slice(0, amount).map((place, index) => [place, Math.min(whole + (index < over ? 1 : 0), BATCH_MAX)]),
  )
}

/** As many as are settled there, together no more than the limit. */
function amountsLike(shares: readonly Part<Settlement>[], limit: number): ReadonlyMap<number, number> {
  const amounts = new Map<number, number>()
  let wanted = limit
  let left = shares.reduce((sum, { items }) => sum + items.length, 0)
  for (const { place, items } of shares) {
    const amount = Math.min(items.length, Math.ceil((wanted * items.length) / left))
    left -= items.length
    wanted -= amount
    if (amount > 0) amounts.set(place, amount)
  }
  return amounts
}

/** Replaced, or not known any more. */
const isFenced = (error: unknown): boolean =>
  isRepriseError(error, 'REPRISE_WORKER_FENCED') || isRepriseError(error, 'REPRISE_NOT_FOUND')
