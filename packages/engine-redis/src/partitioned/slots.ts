// Limits over all partitions. Of a limit each partition has a share, by which its claims go alone; the home keeps the books.
// The home counts up what it granted to each partition and what it heard each returned; each partition counts up what it
// received and returned. All four only grow and are kept where they are counted, so a message may be lost, late or doubled:
// the next one says it all again. In this order, at any moment and after any crash:
//
//   running ≤ share + called back = received − returned ≤ granted − returned as the home heard = limit − free ≤ limit.
//
// A new limit begins a new version, in which all counts begin anew: each partition with what runs there, frozen, so that
// nothing starts before the home has heard of all of them. When a claim finds lanes at a full share, it has the others
// return what they don't use; where none is free, one is called back from the partition that has most.

import type { By, Scope } from '@reprise/core'
import { finish, limitArguments, ranked } from '../gates.ts'
import { asTexts, type Partition, scopeName } from '../partition.ts'
import { shareEndScript, shareLimitScript, shareScript, shareSlotsScript } from '../scripts.generated.ts'
import type { BlockedAt } from './claim-parts.ts'
import type { Partitions } from './partitions.ts'

/** Somebody else may set the limit anew while slots are moved: then it is begun again, at most so often. */
const ROUNDS_MAX = 5
const UNSETTLED_MAX = 10

/** What a partition says of its part. */
interface LimitShare {
  readonly version: number
  readonly received: number
  readonly returned: number
  readonly share: number
  readonly called: number
  readonly isFrozen: boolean
}

interface ShareChange {
  readonly granted?: number
  readonly mayKeep?: boolean
  readonly gives?: boolean
  readonly calls?: number
  /** Where lanes want slots, for the partitions that use some to wake their claimers. */
  readonly lanes?: readonly string[]
}

export class Slots {
  readonly #store: Partitions

  constructor(store: Partitions) {
    this.#store = store
  }

  async setLimit(scope: Scope, concurrency: number | null, by: By): Promise<void> {
    const args = limitArguments(scope, concurrency, by)
    const version = Number(ranked('limit', scope, await this.#store.home.once(shareLimitScript, args)))
    await this.#balance(scopeName(scope), version, new Set(), [])
  }

  /** Limits whose setting was not finished, because the process that set them died or because more runs than they allow. */
  async finish(): Promise<void> {
    const { home } = this.#store
    const names = asTexts(await home.command('SRANDMEMBER', home.key('unsettled'), String(UNSETTLED_MAX)))
    await Promise.all(names.map(async (name) => this.#balance(name, await this.#versionOf(name), new Set(), [])))
  }

  /** Tries to get slots to where lanes stand at full shares. Answers which partitions got some. */
  async move(blocked: readonly BlockedAt[]): Promise<readonly number[]> {
    const limits = new Map<string, { version: number; readonly wanting: Set<number>; readonly lanes: Set<string> }>()
    for (const { scope, lane, version, place } of blocked) {
      const known = limits.get(scope) ?? { version, wanting: new Set(), lanes: new Set() }
      known.version = Math.max(known.version, version)
      known.wanting.add(place)
      known.lanes.add(lane)
      limits.set(scope, known)
    }
    const receivers = await Promise.all(
      [...limits].map(([scope, { version, wanting, lanes }]) => this.#balance(scope, version, wanting, [...lanes])),
    )
    return [...new Set(receivers.flat())]
  }

  /** For a reservation: to this partition. True if it got some. */
  async moveTo(place: number, scope: string): Promise<boolean> {
    const version = await this.#versionOf(scope)
    return (await this.#balance(scope, version, new Set([place]), [])).length > 0
  }

  async #balance(
    scope: string,
    version: number,
    wanting: ReadonlySet<number>,
    lanes: readonly string[],
  ): Promise<readonly number[]> {
    let present = version
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const change = (place: number): ShareChange => ({ gives: wanting.size > 0 && !wanting.has(place), lanes })
      // Version 0 knows no limit: the home says what to do.
      const shares =
        present === 0 ? [] : await this.#store.each((it, place) => shareOf(it, scope, present, change(place)))
      const newest = Math.max(present, ...shares.map((share) => share.version))
      if (newest > present) {
        present = newest
        continue
      }
      const [outcome, ...details] = await this.#book(scope, present, shares, wanting)
      if (outcome === 'newer') {
        present = Number(details[0])
        continue
      }
      if (outcome === 'lifted') await this.#end(scope, Math.max(present, Number(details[0])))
      if (outcome !== 'settled') return []
      return this.#handOut(scope, present, shares, details.map(Number), wanting)
    }
    return []
  }

  async #book(scope: string, version: number, shares: readonly LimitShare[], wanting: ReadonlySet<number>) {
    const reports = shares.flatMap(({ received, returned }, place) => [
      String(received),
      String(returned),
      wanting.has(place) ? '1' : '',
    ])
    return asTexts(await this.#store.home.run(shareSlotsScript, [...scope.split('\n'), String(version), ...reports]))
  }

  /** Tells the partitions what they were granted, those that have to know. */
  async #handOut(
    scope: string,
    version: number,
    shares: readonly LimitShare[],
    granted: readonly number[],
    wanting: ReadonlySet<number>,
  ): Promise<readonly number[]> {
    const receivers: number[] = []
    const richest = this.#richest(shares, granted, wanting)
    await Promise.all(
      shares.map(async ({ received, isFrozen }, place) => {
        const total = granted[place] ?? received
        const calls = richest?.place === place ? richest.calls : 0
        if (total > received) receivers.push(place)
        if (total > received || isFrozen || calls > 0) {
          await shareOf(this.#store.at(place), scope, version, { granted: total, mayKeep: true, calls })
        }
      }),
    )
    return receivers
  }

  /** Who has to give up slots that it uses: only if somebody who has less got none, and none are on their way. */
  #richest(
    shares: readonly LimitShare[],
    granted: readonly number[],
    wanting: ReadonlySet<number>,
  ): { readonly place: number; readonly calls: number } | null {
    if (shares.some(({ called, isFrozen }) => called > 0 || isFrozen)) return null
    const hungry = [...wanting].flatMap((place) => {
      const own = shares[place]
      return own !== undefined && granted[place] === own.received ? [own.share] : []
    })
    if (hungry.length === 0) return null
    const least = Math.min(...hungry)
    const most = Math.max(...shares.map(({ share }) => share))
    if (most <= least || (most === least + 1 && least > 0)) return null
    return {
      place: shares.findIndex(({ share }) => share === most),
      calls: Math.max(1, Math.floor((most - least) / 2)),
    }
  }

  async #end(scope: string, version: number): Promise<void> {
    await this.#store.each(async (partition) =>
      finish(partition, await partition.run(shareEndScript, [...scope.split('\n'), String(version)])),
    )
    await this.#book(scope, version, [], new Set())
  }

  async #versionOf(scope: string): Promise<number> {
    const { home } = this.#store
    return Number((await home.command('HGET', home.key(`ledger:${scope}`), 'version')) ?? 0)
  }
}

async function shareOf(partition: Partition, scope: string, version: number, change: ShareChange): Promise<LimitShare> {
  const { granted, mayKeep = false, gives = false, calls = 0, lanes = [] } = change
  const flags = [mayKeep, gives].map((flag) => (flag ? '1' : ''))
  const reply = await partition.run(shareScript, [
    ...scope.split('\n'),
    String(version),
    granted === undefined ? '' : String(granted),
    ...flags,
    String(calls),
    ...lanes,
  ])
  const [present, received, returned, share, , called, frozen] = asTexts(reply)
  return {
    version: Number(present),
    received: Number(received ?? 0),
    returned: Number(returned ?? 0),
    share: Number(share ?? 0),
    called: Number(called ?? 0),
    isFrozen: frozen === '1',
  }
}
