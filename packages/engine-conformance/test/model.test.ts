// The model passes the suite that it is the measure of, and agrees with itself: a check of the harness, not of the model.

import {
  createModel,
  declaredLacks,
  type EngineFactory,
  exerciseAgainstModel,
  exerciseEngine,
} from '@reprise/engine-conformance'
import { expect, test } from 'vitest'

const model: EngineFactory = { name: 'the model', open: async (options) => createModel(options) }

exerciseEngine(model)
exerciseAgainstModel(model, { sequences: 200 })

test('the model lacks nothing', () => {
  expect(declaredLacks()).toBe(0)
})
