// Failures of very many causes at once: what follows the journal writes what a page says about them together. One after the other
// each would wait for a commit of its own, and the cases and work orders of a bad deploy would come hours late.

import type { Collection, CollectionDefinition, Document, Engine } from '@reprise/core'
import { followOnce, openWorkOrders } from '@reprise/orchestrator'
import { expect, test } from 'vitest'
import { spec } from './events/fixture.ts'
import { died, storeWithCaller } from './store-with-caller.ts'

const CAUSES = 60

test.each([
  ['cases', (engine: Engine) => followOnce(engine)],
  ['work orders', (engine: Engine) => openWorkOrders({ engine })],
] as const)('the %s of a page of the journal are written together', async (_, follow) => {
  const { engine } = await storeWithCaller()
  for (let at = 0; at < CAUSES; at++) await died(engine, [spec(`task-${at}`)], `CODE_${at}`)
  const most = { underWay: 0, atOnce: 0 }
  const watched = Object.assign(Object.create(engine) as Engine, {
    collection: <D extends Document>(definition: CollectionDefinition<D>): Collection<D> => {
      const documents = engine.collection(definition)
      return {
        ...documents,
        insert: async (document) => {
          most.atOnce = Math.max(most.atOnce, ++most.underWay)
          const stored = await documents.insert(document)
          most.underWay--
          return stored
        },
      }
    },
  })
  await follow(watched)
  expect(most.atOnce).toBe(CAUSES)
})
