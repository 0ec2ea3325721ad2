// Checks all the time that every accepted task stands somewhere: walks through the store by `inspect`, a bounded piece after the
// other, and rests nine times as long as each piece took, so that it takes a tenth of one connection at the most. One process
// walks at a time, the one that has the lease of the walk's document; if it dies, another goes on from its cursor. What it finds is
// a document and an entry of the journal, once; what a whole walk no longer finds is settled.

import { randomUUID } from 'node:crypto'
import {
  check,
  differenceOf,
  type Engine,
  type Finding,
  isRepriseError,
  LEDGER_DIFFERENCES_TOTAL,
  LEDGER_PASS_SECONDS,
  type LedgerDifference,
  type LedgerWalk,
  ledgerDifferences,
  ledgerWalks,
  type Meter,
  refuseNoEngine,
  type Service,
  type Stored,
  silentMeter,
  stepDocument,
  WALK_ID,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

export interface LedgerOptions extends ServiceOptions {
  readonly engine: LedgerEngine
  readonly meter?: Meter | undefined
}

export type LedgerEngine = Pick<Engine, 'inspect' | 'collection' | 'journal' | 'now'>

const BY = { actor: 'ledger', reason: 'the continuous check' } as const
/** How much one piece looks at. */
const PIECE = 500
/** A rest is this many times as long as what it follows. */
const REST_TIMES = 9
const REST_MS_MIN = 20
const REST_MS_MAX = 1_000
/** Between two walks through a store. */
const PAUSE_MS = 5_000
const LEASE_MS = 15_000
/** How often the document of the walk is written, at least. */
const NOTE_MS = 3_000
/** The first piece of a walk is looked at again so often: stores have what is quickly told there. */
const FRONT_MS = 10_000
/** Of more at a time, the first are kept: the store is in pieces, and each has to be looked at by a person anyway. */
const DIFFERENCES_MAX = 1_000

const CHECKS: check.Table<LedgerOptions> = SERVICE_CHECKS

export function createLedger(options: LedgerOptions): Service {
  check.options(options, CHECKS, 'ledger option')
  const { engine, meter = silentMeter } = options
  refuseNoEngine(engine, 'inspect', 'createLedger')
  const around = surroundings('ledger', options)
  const { clock, random } = around
  return createLoop('ledger', around, () => {
    const walker = new LedgerWalker(engine, meter, randomUUID())
    let [notedAt, frontAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    return {
      async round() {
        const beganAt = clock.monotonic()
        const isDue = beganAt - notedAt >= NOTE_MS
        if (isDue || !walker.isWalking) {
          if (!(await walker.hold())) return jitteredMs(NOTE_MS, random)
          notedAt = beganAt
        }
        if (beganAt - frontAt >= FRONT_MS) {
          frontAt = beganAt
          await walker.lookAtFront()
        }
        const isWhole = await walker.goOn()
        if (isWhole) notedAt = Number.NEGATIVE_INFINITY
        const spentMs = clock.monotonic() - beganAt
        return isWhole
          ? jitteredMs(PAUSE_MS, random)
          : Math.min(Math.max(spentMs * REST_TIMES, REST_MS_MIN), REST_MS_MAX)
      },
      leave: () => walker.release(),
    }
  })
}

/** A walk through a store, by one process. */
export class LedgerWalker {
  readonly #engine: LedgerEngine
  readonly #meter: Meter
  readonly #owner: string
  #walk: Stored<LedgerWalk> | null = null
  #cursor: string | null = null
  #checked = 0

  constructor(engine: LedgerEngine, meter: Meter, owner: string) {
    this.#engine = engine
    this.#meter = meter
    this.#owner = owner
  }

  get isWalking(): boolean {
    return this.#walk !== null
  }

  /** Takes or renews the lease, and notes how far it is. False if another process walks. */
  async hold(): Promise<boolean> {
    const walks = ledgerWalks(this.#engine)
    const now = await this.#engine.now()
    const stored = await walks.get(WALK_ID)
    const isOwn = stored !== null && stored.document.owner === this.#owner && this.#walk !== null
    if (stored !== null && !isOwn && stored.document.until > now) return this.#lose()
    const until = now + LEASE_MS
    try {
      if (stored === null) {
        const first = { id: WALK_ID, owner: this.#owner, until, number: 1, startedAt: now, cursor: null }
        this.#take(await walks.insert({ ...first, checked: 0, last: null }))
      } else {
        const place = isOwn ? { cursor: this.#cursor, checked: this.#checked } : {}
        this.#take(await walks.update({ ...stored.document, ...place, owner: this.#owner, until }, stored.version))
      }
      return true
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT')) return this.#lose()
      throw error
    }
  }

  #take(walk: Stored<LedgerWalk>): void {
    this.#walk = walk
    this.#cursor = walk.document.cursor
    this.#checked = walk.document.checked
  }

  #lose(): false {
    this.#walk = null
    return false
  }

  /** The first piece: what a store can tell at once. */
  async lookAtFront(): Promise<void> {
    const { findings } = await this.#engine.inspect({ repair: false, by: BY, limit: PIECE })
    await this.#note(findings)
  }

  /** One piece. Whether the walk is over. */
  async goOn(): Promise<boolean> {
    const from = this.#cursor === null ? {} : { cursor: this.#cursor }
    const { findings, checked, next } = await this.#engine.inspect({ repair: false, by: BY, limit: PIECE, ...from })
    await this.#note(findings)
    this.#cursor = next
    this.#checked += checked
    if (next !== null) return false
    await this.#end()
    return true
  }

  async #end(): Promise<void> {
    if (this.#walk === null) return
    const now = await this.#engine.now()
    const { document, version } = this.#walk
    const { number, startedAt } = document
    const last = { endedAt: now, startedAt, checked: this.#checked }
    const next = { ...document, number: number + 1, startedAt: now, cursor: null, checked: 0, last }
    try {
      this.#take(await ledgerWalks(this.#engine).update(next, version))
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
      this.#lose()
      return
    }
    this.#meter.observe(LEDGER_PASS_SECONDS, {}, (now - startedAt) / 1_000)
    await settleOld(this.#engine, number)
  }

  async #note(findings: readonly Finding[]): Promise<void> {
    const walk = this.#walk?.document.number ?? 0
    if (findings.length === 0) return
    const now = await this.#engine.now()
    for (const finding of findings.slice(0, DIFFERENCES_MAX)) {
      if (await noteDifference(this.#engine, differenceOf(finding, walk, now))) {
        this.#meter.count(LEDGER_DIFFERENCES_TOTAL, { kind: finding.kind })
      }
    }
  }

  async release(): Promise<void> {
    if (this.#walk === null) return
    const place = { cursor: this.#cursor, checked: this.#checked }
    await stepDocument(ledgerWalks(this.#engine), WALK_ID, (walk) =>
      walk.owner === this.#owner ? { ...walk, ...place, until: 0 } : null,
    )
    this.#walk = null
  }
}

/** Writes it down and tells the journal, once. Whether it is new. */
async function noteDifference(engine: LedgerEngine, difference: LedgerDifference): Promise<boolean> {
  const differences = ledgerDifferences(engine)
  const known = await differences.get(difference.id)
  if (known === null) {
    try {
      await differences.insert(difference)
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
      throw error
    }
  } else if (known.document.isTold) {
    if (known.document.walk === difference.walk) return false
    const { found, expected, walk } = difference
    await stepDocument(differences, difference.id, (one) => ({ ...one, found, expected, walk }))
    return false
  }
  // Told before it is noted as told: twice after a crash, never not at all.
  await engine.journal.append([entryOf('ledger.difference', difference)])
  await stepDocument(differences, difference.id, (one) => ({ ...one, isTold: true }))
  return true
}

function entryOf(type: 'ledger.difference' | 'ledger.settled', difference: LedgerDifference) {
  const { kind, subject, task, found, expected, sentence } = difference
  const reason = type === 'ledger.settled' ? 'A whole look through the store no longer finds it.' : sentence
  return { type, taskId: task, attempt: null, actor: BY.actor, reason, data: { kind, subject, found, expected } }
}

/** What a whole walk no longer found. */
async function settleOld(engine: LedgerEngine, walk: number): Promise<void> {
  const differences = ledgerDifferences(engine)
  let cursor: string | null = null
  do {
    const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const page = await differences.list({ limit: 100, ...from })
    for (const { document, version } of page.items) {
      if (document.walk >= walk) continue
      await engine.journal.append([entryOf('ledger.settled', document)])
      await differences.remove(document.id, version).catch((error: unknown) => {
        if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
      })
    }
    cursor = page.next
  } while (cursor !== null)
}
