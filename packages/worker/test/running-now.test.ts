// The context of a handler: its own from its first line to its last, and nobody else's.

import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import type { ActiveExecution } from '../src/active-execution.ts'
import { ExecutionScopes, executionNow } from '../src/running-now.ts'

const execution = (): ActiveExecution => ({}) as ActiveExecution

test('a handler finds its execution also after it has waited, and nobody finds it outside', async () => {
  const scopes = new ExecutionScopes()
  const [one, other] = [execution(), execution()]
  const both: readonly (ActiveExecution | null)[] = [one, other]
  const seen: (ActiveExecution | null)[] = []
  const handler = async (): Promise<void> => {
    seen.push(executionNow())
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(executionNow())
  }
  const running = [scopes.run(one, handler)]
  expect(executionNow()).toBeNull()
  running.push(scopes.run(other, handler))
  expect(executionNow()).toBeNull()
  await Promise.all(running)
  expect(seen.map((found) => both.indexOf(found))).toEqual([0, 1, 0, 1])
  expect(executionNow()).toBeNull()
})

test('what one handler enters, the next one and the one who starts them do not see', () => {
  const scopes = new ExecutionScopes()
  const own = new AsyncLocalStorage<string>()
  scopes.run(execution(), () => own.enterWith('of the first'))
  expect(own.getStore()).toBeUndefined()
  expect(scopes.run(execution(), () => own.getStore())).toBeUndefined()
})
