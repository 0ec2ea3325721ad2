// A process with another clock on the same SQLite file: the others notice and say so. One clock for all, also one that is set
// meanwhile, alarms nobody.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, type Engine, type Logger, seededRandom, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createClockWatch } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'
import { beaten, joined } from './fixture.ts'

const HOUR_MS = 3_600_000

/** The same time, but for so much. */
const shifted = (clock: Clock, ms: () => number): Clock => ({
  now: () => clock.now() + ms(),
  monotonic: () => clock.monotonic(),
  after: (delayMs, call, options) => clock.after(delayMs, call, options),
  soon: (call) => clock.soon(call),
})

async function setUp(offMs: (opening: 'here' | 'there') => number) {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-clocks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const time = new VirtualClock()
  const open = async (opening: 'here' | 'there'): Promise<Engine> => {
    const clock = shifted(time, () => offMs(opening))
    const engine = await openSqliteEngine({ path: join(folder, 'store.db'), durability: 'fast', clock })
    onTestFinished(() => engine.close())
    return engine
  }
  const [here, there] = [await open('here'), await open('there')]
  const said: string[] = []
  const quiet = (): void => undefined
  const log: Logger = { debug: quiet, info: quiet, warn: quiet, error: (text) => void said.push(text) }
  const watch = createClockWatch({ engine: here, clock: time, random: seededRandom(1), log })
  await watch.start()
  onTestFinished(() => watch.stop())
  const epoch = await joined(there, 'w1')
  const beats = async (count: number): Promise<void> => {
    for (let beat = 0; beat < count; beat++) {
      await beaten(there, 'w1', epoch)
      await time.advance(5_000)
    }
  }
  return { said, beats }
}

test.each([
  [HOUR_MS, /^The clock of worker w1 is 1h or more ahead of this process\. .* NTP\.$/],
  [-HOUR_MS, /^The clock of worker w1 is 1h or more behind this process\. .* NTP\.$/],
])('fault 15: a process whose clock is off by %s ms is named, once', async (offMs, says) => {
  const { said, beats } = await setUp((opening) => (opening === 'there' ? offMs : 0))
  await beats(20)
  expect(said).toHaveLength(1)
  expect(said[0]?.replace(/(59m|1h)[^o]* or more/, '1h or more')).toMatch(says)
})

test('fault 15: one clock for all that is set back by an hour, and forward, alarms nobody', async () => {
  let offMs = 0
  const { said, beats } = await setUp(() => offMs)
  await beats(5)
  offMs = -HOUR_MS
  await beats(10)
  offMs = HOUR_MS
  await beats(10)
  expect(said).toEqual([])
})
