// Keeps the cases of failure groups: follows the journal, counts what each page says about causes, opens a case for a new one,
// opens one again whose cause came back or whose time has come, resolves one when the last task that died of it has recovered, and
// tells what others left untold. One document says how far the
// journal was read, with what the last page says about cases. That is applied to each case once, by the number of the page; only
// then the next page is taken. Any number of these may run: the version of the document decides which of them takes a page.

import {
  asksForVersions,
  attemptKey,
  type CauseTally,
  type Collection,
  casesIn,
  casesOf,
  check,
  counted,
  type Engine,
  type Failing,
  type Fingerprint,
  type GroupCase,
  getOrInsert,
  isOver,
  isRepriseError,
  mapLimited,
  onTime,
  opened,
  recovered,
  refuseNoEngine,
  type Service,
  type Stored,
  sortedOut,
  stepCase,
  tallied,
  tellLeftovers,
  tellNotes,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

export interface CasesOptions extends ServiceOptions {
  readonly engine: Pick<Engine, 'journal' | 'collection' | 'execution' | 'failureGroups' | 'now'>
  readonly intervalMs?: number
}

interface Progress {
  readonly id: string
  readonly cursor: string
  /** The number of the last page that was taken. */
  readonly batch: number
  /** What that page says about cases. */
  readonly pending: readonly CauseTally[]
  readonly failing: readonly Failing[]
}

const INTERVAL_MS = 1_000
/** Entries of one page: what it says about cases must fit into one document. */
const PAGE_ENTRIES = 250
/** How many pages follow each other before others have their turn. */
const PAGES_PER_ROUND = 20
const CLOCKED_EVERY_MS = 5_000
const TIMED_AT_ONCE = 1_000
const LOOKS_AT_ONCE = 20
/** A page may be about as many causes. What is written together shares one commit, which costs more than the writes. */
const CASES_AT_ONCE = 100
/** Groups of one family: operators can merge no more. */
const MEMBERS_MAX = 100
const PROGRESS_ID = 'journal'

const CHECKS: check.Table<CasesOptions> = { ...SERVICE_CHECKS, intervalMs: check.ms }

const progressIn = (engine: Pick<Engine, 'collection'>): Collection<Progress> =>
  engine.collection<Progress>({ name: 'failure-case-progress', indexes: {} })

export function createCases(options: CasesOptions): Service {
  check.options(options, CHECKS, 'cases option')
  const { engine, intervalMs = INTERVAL_MS } = options
  refuseNoEngine(engine, 'collection', 'createCases')
  const around = surroundings('cases', options)
  return createLoop('cases', around, () => {
    let clockedAt = Number.NEGATIVE_INFINITY
    return {
      async round(signal) {
        if (around.clock.monotonic() - clockedAt >= CLOCKED_EVERY_MS) {
          clockedAt = around.clock.monotonic()
          await onTheClock(engine)
        }
        for (let page = 0; page < PAGES_PER_ROUND && !signal.aborted; page++) {
          if (!(await followOnce(engine))) return jitteredMs(intervalMs, around.random)
        }
        return 1
      },
    }
  })
}

/** Opens what was ignored until now, resolves what has recovered, and tells what was left untold. */
export async function onTheClock(engine: CasesOptions['engine']): Promise<void> {
  const now = await engine.now()
  const cases = casesIn(engine)
  await tellLeftovers(engine.journal, cases, now)
  await tellNotes(engine, now)
  const recovering = await cases.find({ index: 'recovering', value: 'yes', limit: TIMED_AT_ONCE })
  for (const { document } of recovering.items) await resolveIfOver(engine, document)
  const { items } = await cases.find({ index: 'timed', value: 'yes', limit: TIMED_AT_ONCE })
  for (const { document } of items) {
    if (onTime(document, now) === null) continue
    await stepCase(engine, { ...document, at: now }, (one) => onTime(one, now))
  }
}

/** Counts one page of the journal. Whether there may be more; false too if another process was faster. */
export async function followOnce(engine: CasesOptions['engine']): Promise<boolean> {
  const stored = await standing(engine)
  const { document, version } = stored
  await applyAll(engine, document)
  const { entries, cursor } = await engine.journal.read({ cursor: document.cursor, limit: PAGE_ENTRIES })
  if (entries.length === 0) return false
  const tallies = tallied(entries)
  const quiet = tallies.filter(({ deaths }) => deaths === 0).map(({ fingerprint }) => fingerprint)
  const known = await casesOf(engine, quiet)
  const { cases, failing } = sortedOut(tallies, document.failing, (fingerprint) => known.has(fingerprint))
  try {
    const next = { id: PROGRESS_ID, cursor, batch: document.batch + 1, pending: cases, failing }
    await applyAll(engine, (await progressIn(engine).update(next, version)).document)
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
    throw error
  }
  return entries.length === PAGE_ENTRIES
}

const standing = (engine: CasesOptions['engine']): Promise<Stored<Progress>> =>
  getOrInsert(progressIn(engine), PROGRESS_ID, async () => ({
    id: PROGRESS_ID,
    cursor: await engine.journal.from(0),
    batch: 0,
    pending: [],
    failing: [],
  }))

async function applyAll(engine: CasesOptions['engine'], { pending, batch }: Progress): Promise<void> {
  await mapLimited(pending, CASES_AT_ONCE, (tally) => apply(engine, tally, batch))
}

/** The version of a worker that was given none. */
const NO_VERSION = 'unknown'

/** What a page says about one case, once: a page that was counted is told by its number. */
async function apply(engine: CasesOptions['engine'], tally: CauseTally, batch: number): Promise<void> {
  const { fingerprint: id, action, firstAt: at } = tally
  const known = (await casesIn(engine).get(id))?.document
  if (known !== undefined && known.batch >= batch) return
  const versions =
    known !== undefined && asksForVersions(known) ? await versionsOf(engine, tally) : new Map<string, string>()
  const [first] = tally.ended
  const begun = known === undefined && first !== undefined ? await versionOf(engine, first) : undefined
  const stepped = await stepCase(engine, { id, action, at }, (one) => {
    const next = counted(one, tally, batch, versions)
    const isNew = one.deaths === 0 && one.batch === 0 && one.state.status === 'open' && tally.deaths > 0
    const isNamed = begun !== undefined && begun !== NO_VERSION
    const whole = next === null || !isNamed ? next : { firstVersion: begun, ...next }
    return whole !== null && isNew ? opened(whole) : whole
  })
  if (stepped?.recovering === true) await resolveIfOver(engine, stepped)
}

/**
 * Resolves a case of which nothing is left, with all that was merged into it. The mark stays until it was looked at, so a crash
 * before only puts it off to the next round on the clock.
 */
async function resolveIfOver(engine: CasesOptions['engine'], one: GroupCase): Promise<void> {
  const cases = casesIn(engine)
  const root = one.mergedInto === null ? one : (await cases.get(one.mergedInto))?.document
  const members = (await cases.find({ index: 'into', value: root?.id ?? one.id, limit: MEMBERS_MAX })).items
  const family = root === undefined ? [] : [root, ...members.map(({ document }) => document)]
  // The time comes first: what dies after the look has a later one, and opens the case again.
  const now = await engine.now()
  const isGone = family.every(isOver) && (await areEmpty(engine, family))
  const count = family.reduce((sum, member) => sum + (member.recovered ?? 0), 0)
  if (root !== undefined && isGone) {
    await stepCase(engine, { ...root, at: now }, (known) => (isOver(known) ? recovered(known, now, count) : null))
  }
  // What is not over yet sets the mark again when it is.
  await stepCase(engine, { ...one, at: now }, (known) =>
    known.recovering === true && known.batch === one.batch ? { ...known, recovering: false } : null,
  )
}

async function areEmpty(engine: CasesOptions['engine'], family: readonly GroupCase[]): Promise<boolean> {
  for (const { id } of family) {
    const { items } = await engine.failureGroups({ fingerprint: id as Fingerprint, limit: 1 })
    if (items.length > 0) return false
  }
  return true
}

/** The versions of the workers whose attempts a page tells of. */
async function versionsOf(engine: CasesOptions['engine'], { ended }: CauseTally): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  await mapLimited(ended, LOOKS_AT_ONCE, async (one) => {
    const version = await versionOf(engine, one)
    if (version !== undefined) found.set(attemptKey(one), version)
  })
  return found
}

const versionOf = async (
  engine: CasesOptions['engine'],
  { taskId, attempt }: CauseTally['ended'][number],
): Promise<string | undefined> => (await engine.execution(taskId, attempt))?.build?.version
