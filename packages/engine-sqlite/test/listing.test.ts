// How far one look at a list of tasks goes: a bounded number of tasks, whatever it is asked for, and not through a backlog.

import { BATCH_MAX, type Engine, encodeJson, type Task, type TaskQuery, type TaskSpec, tenantId } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { claimer, spec } from './fixture.ts'

/** More than a window. */
const MANY = 20_500
const RARE = tenantId('rare')
const BY = { actor: 'operator:ann', reason: 'a test' }

async function opened(): Promise<Engine> {
  const engine = await openSqliteEngine({ path: ':memory:' })
  onTestFinished(() => engine.close())
  return engine
}

async function submitAll(engine: Engine, tasks: readonly TaskSpec[]): Promise<void> {
  for (let at = 0; at < tasks.length; at += BATCH_MAX) await engine.submit(tasks.slice(at, at + BATCH_MAX))
}

async function allPages(engine: Engine, query: TaskQuery): Promise<readonly (readonly Task[])[]> {
  const pages: (readonly Task[])[] = []
  let next: string | null = null
  do {
    const page = await engine.tasks(next === null ? query : { ...query, cursor: next })
    pages.push(page.items)
    next = page.next
  } while (next !== null)
  return pages
}

const idsOf = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id)

it.each([
  { status: undefined, delayMs: 0 },
  { status: 'queued', delayMs: 0 },
  { status: 'cancelled', delayMs: 0 },
  { status: 'waiting', delayMs: 60_000 },
] as const)('a look for the $status tasks of a tenant ends after a window, and the next goes on', async (given) => {
  const { status, delayMs } = given
  const engine = await opened()
  const rare = ['r1', 'r2', 'r3'].map((id) => spec(id, { tenant: RARE, delayMs }))
  const others = Array.from({ length: MANY }, (_, index) => spec(`t${index}`, { delayMs }))
  await submitAll(engine, [...rare, ...others])
  if (status === 'cancelled') {
    const ids = [...rare, ...others].map(({ id }) => id)
    for (let at = 0; at < ids.length; at += BATCH_MAX) {
      await engine.change({ kind: 'cancel', select: { ids: ids.slice(at, at + BATCH_MAX) }, by: BY })
    }
  }
  const query = status === undefined ? { tenant: RARE } : { tenant: RARE, status }
  expect((await allPages(engine, query)).map(idsOf)).toEqual([[], ['r3', 'r2', 'r1']])
})

it('tasks that succeeded are found under a backlog at once', async () => {
  const engine = await opened()
  await engine.submit(['r1', 'r2', 'r3'].map((id) => spec(id, { tenant: RARE })))
  const { claimed } = await engine.claim(await claimer(engine, 'w', 10))
  const result = encodeJson('done', 'result')
  await engine.settle(claimed.map((ref) => ({ kind: 'succeeded', ref, result }) as const))
  await submitAll(
    engine,
    Array.from({ length: MANY }, (_, index) => spec(`t${index}`)),
  )
  for (const query of [{ status: 'succeeded' }, { status: 'succeeded', tenant: RARE }] as const) {
    const [found = [], ...more] = await allPages(engine, query)
    expect(idsOf(found)).toEqual(['r3', 'r2', 'r1'])
    expect(more).toEqual([])
    expect(found.map(({ state }) => (state.status === 'succeeded' ? state.result : null))).toEqual([
      result,
      result,
      result,
    ])
  }
})
