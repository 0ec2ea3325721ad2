// Each step of a document happens once, however many processes move it.

import { type CollectionDefinition, type Document, stepDocument } from '@reprise/core'
import { expect, test } from 'vitest'
import { openStore } from './fixture.ts'

interface Run extends Document {
  readonly state: 'asked' | 'running' | 'done'
  readonly by: readonly string[]
}

const definition: CollectionDefinition<Run> = { name: 'runs', indexes: {} }
const NEXT = { asked: 'running', running: 'done', done: null } as const

test('of many processes that move one document, one takes each step, and each hears whether it was the one', async () => {
  const { engine } = await openStore()
  const runs = engine.collection(definition)
  await runs.insert({ id: 'r1', state: 'asked', by: [] })
  const movers = Array.from({ length: 8 }, (_, index) => `m${index}`)
  for (const from of ['asked', 'running'] as const) {
    const taken = await Promise.all(
      movers.map((mover) =>
        stepDocument(runs, 'r1', (run) => {
          const state = NEXT[run.state]
          return run.state !== from || state === null ? null : { ...run, state, by: [...run.by, mover] }
        }),
      ),
    )
    expect(taken.filter((run) => run !== null)).toHaveLength(1)
  }
  expect((await runs.get('r1'))?.document).toMatchObject({ state: 'done', by: { length: 2 } })
})

test('a change that others make at the same moment is not lost, and a document that is gone is no error', async () => {
  const { engine } = await openStore()
  const runs = engine.collection(definition)
  await runs.insert({ id: 'r1', state: 'asked', by: [] })
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => stepDocument(runs, 'r1', (run) => ({ ...run, by: [...run.by, name] }))),
  )
  expect((await runs.get('r1'))?.document.by.toSorted()).toEqual(['a', 'b', 'c', 'd'])
  expect(await stepDocument(runs, 'r2', (run) => run)).toBeNull()
})
