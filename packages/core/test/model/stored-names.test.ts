// Names that were changed: nobody can use an old one, and what was stored under one is read under the new one.

import { currentPolicies, DEFAULT_SETTINGS, defineAction, nearMiss } from '@reprise/core'
import { parseSettings } from '@reprise/core/engine'
import { expect, test } from 'vitest'

const STORED =
  '{"timeoutMs":1,"lossesMax":2,"breakers":[{"name":"rampMax","settings":{"failuresMin":3,"openMsMax":4,"rampMax":5}}]}'
const CURRENT = {
  timeoutMs: 1,
  maxLosses: 2,
  breakers: [{ name: 'rampMax', settings: { minFailures: 3, maxOpenMs: 4, maxRamp: 5 } }],
}

test('settings that a store has under old names are read under the new ones, and those of today as they are', () => {
  expect(parseSettings(STORED)).toEqual(CURRENT)
  expect(parseSettings(JSON.stringify(DEFAULT_SETTINGS))).toEqual(DEFAULT_SETTINGS)
})

test('published policies with old names are read under the new ones, and each word keeps its place', () => {
  const text =
    'policies:\n  - name: losses_max\n    losses_max: 2\n    breaker: { failures_min: 1, open_max: 2m, ramp_max : 3 }\n'
  expect(currentPolicies(text)).toBe(
    'policies:\n  - name: losses_max\n    max_losses: 2\n    breaker: { min_failures: 1, max_open: 2m, max_ramp : 3 }\n',
  )
})

test('an old name of an option is refused with the new one', () => {
  const options = { name: 'ping', lossesMax: 2 }
  expect(() => defineAction(options)).toThrow(
    "There is no action option 'lossesMax'. It is called 'maxLosses'. Known are:",
  )
  const breaker: object = { failuresMin: 2 }
  expect(() => defineAction({ name: 'ping', breaker })).toThrow("'failuresMin'. It is called 'minFailures'.")
  expect(nearMiss('losses_max', ['max_losses', 'retries'])).toBe(" It is called 'max_losses'.")
  const dependent = { name: 'ping', dependsOn: ['stripe'] }
  expect(() => defineAction(dependent)).toThrow("'dependsOn'. It is called 'uses'.")
  expect(nearMiss('constructor', ['retries'])).toBe('')
})
