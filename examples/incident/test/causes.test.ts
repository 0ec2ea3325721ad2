// The incident of 20,000 tasks has a handful of causes, whatever the pods are called: each failure that the bad version can
// bring is described as a worker does it, and the failure groups are counted.

import { describeFailure } from '@reprise/core'
import { expect, test } from 'vitest'
import { actionsOf, type Order, VERSIONS } from '../src/actions.ts'

const TASKS = 20_000
const GROUPS_MAX = 8

test('8: every task of the bad version failed, in at most 8 groups', async () => {
  const actions = actionsOf(VERSIONS.bad)
  const groups = new Set<string>()
  let failures = 0
  for (let order = 0; order < TASKS; order++) {
    const action = actions[order % actions.length]
    if (action === undefined || action.run === null) throw new Error('There is no handler.')
    const input: Order = { order, region: 'eu', ...(order % 100 === 0 ? {} : { customer: `c${order}` }) }
    try {
      await action.run(input, undefined as never)
    } catch (error) {
      failures++
      groups.add(describeFailure(error, action.name).fingerprint)
    }
  }
  expect(failures).toBe(TASKS)
  expect(groups.size).toBeLessThanOrEqual(GROUPS_MAX)
})
