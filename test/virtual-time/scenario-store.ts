// Stores for scenarios in virtual time, and the way to move that time: from timer to timer, waiting in between until
// every call to the store has come back. So a scenario of minutes takes seconds, also on a store behind a socket.

import type { Engine, HealthThresholds, VirtualClock } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { startRedis } from '@reprise/test-servers'
import { onTestFinished } from 'vitest'

interface OpenOptions {
  /** That of the host if missing. */
  readonly clock?: VirtualClock
  readonly healthThresholds?: HealthThresholds
}

export interface ScenarioStore {
  readonly name: string
  open(options?: OpenOptions): Promise<Engine>
}

export const SCENARIO_STORES: readonly ScenarioStore[] = [
  { name: 'sqlite', open: (options) => openSqliteEngine({ path: ':memory:', ...options }) },
  {
    name: 'redis',
    async open(options) {
      const server = await startRedis()
      onTestFinished(() => server.stop())
      return openRedisEngine({ url: server.url, ...options })
    },
  },
]

/** An engine that knows what is asked of it. */
export interface CountedEngine extends Engine {
  /** Calls that are under way. Whoever waits may wait for long, and is not among them. */
  readonly pending: () => number
  /** Calls that were ever made, waits included. */
  readonly made: () => number
  /** Comes back when the store has dealt with everything that was sent to it before. Not counted. */
  readonly roundTrip: () => Promise<void>
}

export function counted(inner: Engine): CountedEngine {
  let pending = 0
  let made = 0
  const begin = async (verb: () => unknown): Promise<unknown> => {
    pending++
    try {
      return await verb()
    } finally {
      pending--
    }
  }
  const countedPart = <Part extends object, Own extends object>(part: Part, instead: Own): Part & Own =>
    new Proxy(instead as Part & Own, {
      get(target, key) {
        if (key in target) return Reflect.get(target, key) as unknown
        const member: unknown = Reflect.get(part, key)
        if (typeof member !== 'function') return member
        return (...input: unknown[]) => {
          made++
          return begin(() => Reflect.apply(member, part, input))
        }
      },
    })
  const own = {
    pending: () => pending,
    made: () => made,
    roundTrip: async () => void (await inner.counts()),
    // These answer at once.
    mark: () => inner.mark(),
    collection: (definition: Parameters<Engine['collection']>[0]) => countedPart(inner.collection(definition), {}),
    wait: (...input: Parameters<Engine['wait']>) => {
      made++
      return inner.wait(...input)
    },
  }
  return countedPart(inner, { ...own, journal: countedPart(inner.journal, {}) })
}

const LOOP_TURNS = 8
/** One shows that nothing was under way; what a store does for itself upon a hint is behind it by the next. */
const QUIET_TRIPS = 2

/**
 * Comes back when nothing happens any more until time moves. Calls that are under way are not all there is: whoever waits
 * registers with the store, and hints come from it, at any time on a busy machine. A store behind a socket answers in the
 * order it was asked, and sends its hints before it reads on: so after a round trip all of that is here. Whoever is woken by
 * it makes a call.
 */
async function quiet(engine: CountedEngine): Promise<void> {
  await rest(engine)
  for (let trips = 0; trips < QUIET_TRIPS; trips++) {
    const made = engine.made()
    await engine.roundTrip()
    await rest(engine)
    if (engine.made() !== made) trips = -1
  }
}

/** Until every call has come back, and whoever made it has gone on from there. */
async function rest(engine: CountedEngine): Promise<void> {
  for (let turns = 0; turns < LOOP_TURNS; turns++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (engine.pending() > 0) turns = 0
  }
}

/** Moves time from timer to timer until it is done, and calls back after each step. Throws when it takes too long. */
export async function runUntil(
  engine: CountedEngine,
  clock: VirtualClock,
  withinMs: number,
  done: () => boolean | Promise<boolean>,
): Promise<void> {
  const giveUpAt = clock.now() + withinMs
  await quiet(engine)
  while (!(await done())) {
    const nextAt = clock.nextAt()
    if (nextAt === null || nextAt > giveUpAt) throw new Error(`Not done after ${withinMs} ms of virtual time.`)
    await clock.advance(Math.max(nextAt - clock.now(), 0))
    await quiet(engine)
  }
}

/** Shows figures where whoever runs the tests can read them. */
export function showTable(title: string, rows: readonly Readonly<Record<string, number | string>>[]): void {
  const [first] = rows
  if (first === undefined) return
  const headings = Object.keys(first)
  const widths = headings.map((heading) =>
    Math.max(heading.length, ...rows.map((row) => String(row[heading] ?? '').length)),
  )
  const line = (cells: readonly (number | string)[]): string =>
    cells.map((cell, index) => String(cell).padStart(widths[index] ?? 0)).join('  ')
  const lines = [line(headings), ...rows.map((row) => line(headings.map((heading) => row[heading] ?? '')))]
  process.stdout.write(`\n${title}\n${lines.map((text) => `  ${text}\n`).join('')}`)
}
