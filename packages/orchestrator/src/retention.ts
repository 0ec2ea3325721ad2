// Deletes what the retention rules no longer keep, between two sweeps. Not a service of its own: the sweep calls it.
//
// Tasks stand in the order in which they were accepted, so what is old enough mostly stands together, up to a border that
// moves on with time. A *front* stands at that border: at each look it goes on from there, as fast as the store deletes, while
// at least half of what it sees is deleted. That keeps pace with any rate of work. What it leaves behind, tasks that ended late
// for instance, is for the *pass*: it goes over the whole store, slowly, again and again. Where the pass comes out of a part in
// which it deleted much, there is a border, and a new front. So nothing that stays for ever, as dead letters do, is in the way,
// and each partition of a store gets a front of its own. A front that finds nothing for a long time is given up.

import { BATCH_MAX, type Clock, present, type RetentionRules, type Upkeep } from '@reprise/core'

/** What one call deletes at the most: the store does nothing else meanwhile. */
const PAGE = 250
const PASS_EVERY_MS = 60_000
/** What one step of a pass looks at: more than comes in meanwhile, or the pass never reaches the next partition. */
const PASS_PAGES = 20
const PASS_MS_MAX = 100
const FRONTS_MAX = 64
/** A front that found little at so many looks is given up, unless it is the last one. */
const IDLE_LOOKS_MAX = 120
/** The most one step does before the sweep gets its turn again. */
const STEP_MS_MAX = 500
const STEP_PAGES_MAX = 200
/** The front looks so often in the time that the shortest rule keeps something, within these bounds. */
const LOOKS_PER_RULE = 20
const LOOK_EVERY_MS_MIN = 1_000
const LOOK_EVERY_MS_MAX = PASS_EVERY_MS

type Cursor = string | null

interface Front {
  at: Cursor
  idleLooks: number
}

/** Gives the next step, which says whether there is more to do at once. */
export function retentionSteps(engine: Upkeep, rules: RetentionRules, clock: Clock): () => Promise<boolean> {
  const lookEveryMs = lookEvery(rules)
  let nextLookAt = clock.monotonic()
  let fronts: Front[] = [{ at: null, idleLooks: 0 }]
  let nextPassAt = clock.monotonic()
  let isPassing = false
  let pass: Cursor = null
  let wasDense = false

  const deletePage = async (cursor: Cursor, limit: number) => {
    const { tasksRemoved, entriesRemoved, next } = await engine.retain(rules, { limit, ...present({ cursor }) })
    return { isDense: tasksRemoved >= limit / 2, hasMoreEntries: entriesRemoved >= limit / 2, next }
  }

  /** Says whether the end of its time stopped it. */
  const look = async (): Promise<boolean> => {
    const endsAt = clock.monotonic() + STEP_MS_MAX
    let pages = 0
    for (const front of fronts) {
      front.idleLooks++
      for (;;) {
        if (pages++ >= STEP_PAGES_MAX || clock.monotonic() >= endsAt) return true
        const { isDense, hasMoreEntries, next } = await deletePage(front.at, PAGE)
        if (isDense) front.idleLooks = 0
        if (isDense && next !== null) front.at = next
        else if (!hasMoreEntries) break
      }
    }
    const active = fronts.filter(({ idleLooks }) => idleLooks < IDLE_LOOKS_MAX)
    fronts = active.length === 0 ? fronts.slice(0, 1) : active
    return false
  }

  const addFront = (at: Cursor): void => {
    fronts = [{ at, idleLooks: 0 }, ...fronts.filter((front) => front.at !== at)].slice(0, FRONTS_MAX)
  }

  const goOn = async (): Promise<void> => {
    const endsAt = clock.monotonic() + PASS_MS_MAX
    for (let count = 0; count < PASS_PAGES && isPassing && clock.monotonic() < endsAt; count++) {
      const { isDense, next } = await deletePage(pass, BATCH_MAX)
      if (wasDense && !isDense) addFront(pass)
      wasDense = isDense && next !== null
      pass = next
      isPassing = next !== null
    }
    if (!isPassing) nextPassAt = clock.monotonic() + PASS_EVERY_MS
  }

  return async () => {
    if (clock.monotonic() >= nextLookAt) {
      if (await look()) return true
      nextLookAt = clock.monotonic() + lookEveryMs
    }
    isPassing ||= clock.monotonic() >= nextPassAt
    if (!isPassing) return false
    await goOn()
    return wasDense
  }
}

function lookEvery(rules: RetentionRules): number {
  const { succeededMs, cancelledMs, discardedMs, journalMs, seriesMs } = rules
  const keptMs = [succeededMs, cancelledMs, discardedMs, journalMs, seriesMs].filter((ms) => ms !== undefined)
  const shortestMs = Math.min(...keptMs.filter((ms) => !Number.isNaN(ms)))
  return Math.min(Math.max(shortestMs / LOOKS_PER_RULE, LOOK_EVERY_MS_MIN), LOOK_EVERY_MS_MAX)
}
