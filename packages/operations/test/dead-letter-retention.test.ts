// Old dead letters go by an explicit rule alone, and never without a line on the disk (B14): on real files, with a process that dies
// between any two steps, and back again by an import.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEAD_LETTERS_EXPORTED_TOTAL, durationMs, type Engine, type Meter } from '@reprise/core'
import { createDeadLetterRetention, type DeadLetterPoint } from '@reprise/orchestrator'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { SkippingClock, STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, failAll, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const AFTER = '90d'

interface Line {
  readonly snapshot: { readonly id: string }
  readonly attempts: readonly unknown[]
}

async function fixture(kind: (typeof STORES)[number]) {
  const top = mkdtempSync(join(tmpdir(), 'reprise-dead-letters-'))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const folder = join(top, 'put', 'away')
  const clock = new SkippingClock()
  const store = await storeWithCaller(kind, clock)
  const files = (): readonly string[] => (existsSync(folder) ? readdirSync(folder).toSorted() : [])
  const text = (): string =>
    files()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('')
  const lines = (): readonly Line[] =>
    text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
  return { ...store, clock, folder, files, text, lines }
}

/** A line that was cut off is none. */
function wholeLine(text: string): readonly Line[] {
  try {
    return [JSON.parse(text) as Line]
  } catch {
    return []
  }
}

type Fixture = Awaited<ReturnType<typeof fixture>>

/** Runs the service until it has ended a pass, or died: as a process of its own would, with nothing kept in memory. */
async function pass(
  { engine, clock, folder }: Pick<Fixture, 'engine' | 'clock' | 'folder'>,
  { diesAt, meter }: { readonly diesAt?: DeadLetterPoint; readonly meter?: Meter } = {},
): Promise<void> {
  const over = Promise.withResolvers<void>()
  let isDead = false
  const watched: Engine = {
    ...engine,
    collection: (definition) => {
      const documents = engine.collection(definition)
      return {
        ...documents,
        update: async (document, version) => {
          // A process that has died writes nothing more.
          if (isDead) throw new Error('died')
          const stored = await documents.update(document, version)
          if ('until' in document && document.until === 0) over.resolve()
          return stored
        },
      }
    },
    change: (request) => (isDead ? Promise.reject(new Error('died')) : engine.change(request)),
  }
  const service = createDeadLetterRetention({
    engine: watched,
    clock,
    after: AFTER,
    exportTo: folder,
    onError: () => undefined,
    ...(meter === undefined ? {} : { meter }),
    at: (point) => {
      if (point !== diesAt) return
      isDead = true
      over.resolve()
      throw new Error('died')
    },
  })
  await service.start()
  await over.promise
  await service.stop()
  // The turn of one that died runs out; that of a pass which has ended comes again.
  clock.skip(durationMs('2h'))
}

describe.each(STORES)('the retention of dead letters (%s)', (kind) => {
  test('B14: discards only what is old, and only after it was written to a file that an import takes', async () => {
    const here = await fixture(kind)
    const { engine, clock, call } = here
    await died(engine, [spec('a', { payload: '{"card":"4111"}' as never }), spec('b')], 'CODE_A')
    clock.skip(durationMs('80d'))
    await died(engine, [spec('young')], 'CODE_A')
    await pass(here)
    expect(here.files()).toEqual([])
    clock.skip(durationMs('20d'))
    const counted: unknown[] = []
    await pass(here, { meter: { count: (...given) => void counted.push(given), observe: () => undefined } })

    expect(await engine.counts()).toMatchObject({ dead: 1, discarded: 2 })
    expect(
      here
        .lines()
        .map(({ snapshot }) => snapshot.id)
        .toSorted(),
    ).toEqual(['a', 'b'])
    const [name = ''] = here.files()
    expect(statSync(join(here.folder, name)).mode & 0o777).toBe(0o600)
    expect(counted).toEqual([1, 2].map(() => [DEAD_LETTERS_EXPORTED_TOTAL, { pool: 'default' }]))
    const { entries } = await engine.journal.read({ limit: 1_000 })
    const told = entries.filter(({ type }) => type === 'task.discarded')
    expect(told).toHaveLength(2)
    expect(told[0]).toMatchObject({ actor: 'retention', reason: `dead for more than 90d; exported to ${name}` })

    // Into another store, and back into this one once the discarded are gone.
    const elsewhere = await storeWithCaller(kind, clock)
    for (const to of [elsewhere, here]) {
      if (to === here) await engine.retain({ discardedMs: 0 })
      const outcome = await to.call(ANN, 'importTasks', { tasks: here.lines() })
      expect(outcome).toMatchObject({ lines: [{ outcome: 'accepted' }, { outcome: 'accepted' }] })
    }
    expect(await elsewhere.call(ANN, 'getTask', { id: 'a' })).toMatchObject({
      payload: { card: '4111' },
      state: { status: 'dead' },
    })
    // It has been here since the import only.
    await pass(here)
    expect(await call(ANN, 'getTask', { id: 'a' })).toMatchObject({ state: { status: 'dead' } })
  })

  test.each(['read', 'exported', 'discarded'] as const)(
    'B14: a crash when a page was %s loses nothing: what is discarded has a line, and the rest is still there',
    async (diesAt) => {
      const here = await fixture(kind)
      const { engine, clock, call } = here
      const ids = Array.from({ length: 130 }, (_, at) => `t${at}`)
      await died(
        engine,
        ids.map((id) => spec(id)),
        'CODE_A',
      )
      clock.skip(durationMs('100d'))
      await pass(here, { diesAt })
      const written = new Set(here.lines().map(({ snapshot }) => snapshot.id))
      const { discarded, dead } = await engine.counts()
      expect([written.size > 0, discarded > 0]).toEqual([diesAt !== 'read', diesAt === 'discarded'])
      expect(dead + discarded).toBe(ids.length)
      expect(discarded).toBeLessThanOrEqual(written.size)
      // Half a line, as after a loss of power.
      const [first] = here.files()
      if (diesAt === 'exported' && first !== undefined) {
        writeFileSync(join(here.folder, first), readFileSync(join(here.folder, first), 'utf8').slice(0, -20))
      }
      await pass(here)
      expect(await engine.counts()).toMatchObject({ dead: 0, discarded: ids.length })
      const whole = here.text().split('\n').flatMap(wholeLine)
      expect(new Set(whole.map(({ snapshot }) => snapshot.id))).toEqual(new Set(ids))
      const elsewhere = await storeWithCaller(kind, clock)
      for (let at = 0; at < whole.length; at += 100) {
        await elsewhere.call(ANN, 'importTasks', { tasks: whole.slice(at, at + 100) })
      }
      expect(await elsewhere.engine.counts()).toMatchObject({ accepted: ids.length, dead: ids.length })
      expect(await call(ANN, 'getTask', { id: 't0' })).toMatchObject({ state: { status: 'discarded' } })
    },
  )

  test('what was redriven and died again after its line was written is not discarded', async () => {
    const here = await fixture(kind)
    const { engine, clock } = here
    await died(engine, [spec('a'), spec('b')], 'CODE_A')
    clock.skip(durationMs('100d'))
    const by = { actor: 'ann', reason: 'fixed' }
    const redriven: Engine = {
      ...engine,
      change: async (request) => {
        await engine.change({ kind: 'redrive', select: { ids: [spec('a').id] }, by })
        await failAll(engine, 1, 'CODE_B')
        return engine.change(request)
      },
    }
    await pass({ ...here, engine: redriven })
    expect(await engine.counts()).toMatchObject({ dead: 1, discarded: 1 })
    expect(await engine.task(spec('a').id)).toMatchObject({ generation: 2, state: { status: 'dead' } })
  })

  test('a folder that can not be written to holds everything back', async () => {
    const here = await fixture(kind)
    const { engine, clock, folder } = here
    await died(engine, [spec('a')], 'CODE_A')
    clock.skip(durationMs('100d'))
    writeFileSync(join(folder, '..', '..', 'put'), 'a file is in its place')
    const errors: unknown[] = []
    const met = Promise.withResolvers<void>()
    const service = createDeadLetterRetention({
      engine,
      clock,
      after: AFTER,
      exportTo: folder,
      onError: (error) => {
        errors.push(error)
        met.resolve()
      },
    })
    await service.start()
    await met.promise
    await service.stop()
    expect(errors[0]).toMatchObject({ code: 'ENOTDIR' })
    expect(await engine.counts()).toMatchObject({ dead: 1, discarded: 0 })
  })
})
