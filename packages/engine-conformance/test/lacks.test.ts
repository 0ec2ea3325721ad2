// An engine that declares it lacks a subject is not tried on it, and that is never silent: one test says so.

import { createModel, declaredLacks, exerciseEngine, SUBJECT_NAMES } from '@reprise/engine-conformance'
import { expect, test } from 'vitest'

exerciseEngine(
  {
    name: 'a model that lacks text',
    async open(options) {
      const engine = createModel(options)
      return { ...engine, info: { ...engine.info, lacks: ['text'] } }
    },
  },
  { subjects: ['text', 'release'] },
)

test('the gap is counted', () => {
  expect(SUBJECT_NAMES).toContain('text')
  expect(declaredLacks()).toBe(1)
})
