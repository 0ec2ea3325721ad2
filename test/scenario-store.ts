// Stores for scenarios in virtual time, and the way to move that time: from timer to timer, waiting in between until
// every call to the store has come back. So a scenario of minutes takes seconds, also on a store behind a socket.

import type { Engine, HealthThresholds, VirtualClock } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { startRedis } from '@reprise/test-servers'
import { onTestFinished } from 'vitest'

interface OpenOptions {
  readonly clock: VirtualClock
  readonly healthThresholds?: HealthThresholds
}

export interface ScenarioStore {
  readonly name: string
  open(options: OpenOptions): Promise<Engine>
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

/** An engine that knows how many of its calls are under way. */
export interface CountedEngine extends Engine {
  readonly pending: () => number
}

export function counted(inner: Engine): CountedEngine {
  let pending = 0
  const begin = async (verb: () => Promise<unknown>): Promise<unknown> => {
    pending++
    try {
      return await verb()
    } finally {
      pending--
    }
  }
  const own: { readonly pending: () => number } = { pending: () => pending }
  return new Proxy(own as CountedEngine, {
    get(target, key) {
      if (key in target) return Reflect.get(target, key) as unknown
      const member: unknown = Reflect.get(inner, key)
      if (typeof member !== 'function') return member
      // Whoever waits may wait for long; the others are asked and answer.
      if (key === 'wait' || key === 'mark' || key === 'collection') return member.bind(inner) as unknown
      return (...input: unknown[]) => begin(() => Reflect.apply(member, inner, input) as Promise<unknown>)
    },
  })
}

const LOOP_TURNS = 8

async function quiet(engine: CountedEngine): Promise<void> {
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
