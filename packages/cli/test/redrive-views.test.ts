// What people are shown of a redrive that was given up, and of one that a runbook waits for.

import { expect, test } from 'vitest'
import { type Redrive, stateText } from '../src/views/redrive.ts'
import { type Run, underWay } from '../src/views/runbook.ts'

const counts = { pending: 999, sent: 0, recovered: 0, failed: 1, skipped: 0, undone: 0, ended: 0 }

test('what an undone redrive did not send is not said to go', () => {
  expect(stateText({ state: 'halted', counts } as Redrive)).toMatch(/999 to go$/)
  expect(stateText({ state: 'undone', counts } as Redrive)).toMatch(/999 not sent$/)
})

test('a run tells how far the redrive of its step is, and nothing of other steps', () => {
  const runOf = (state: string, output: unknown) => ({ steps: [{ state: 'done' }, { state, output }] }) as Run
  const output = { id: 'r', state: 'running', counts: { ...counts, pending: 400, sent: 100, recovered: 499 } }
  expect(underWay(runOf('polling', output))).toEqual({
    done: 500,
    total: 1_000,
    note: '499 recovered, 1 failed again',
  })
  expect(underWay(runOf('done', output))).toBeNull()
  expect(underWay(runOf('polling', { value: 3 }))).toBeNull()
})
