// What a claim costs while a limit has no room: it must not read the lanes under that limit one by one.

import { StatementSync } from 'node:sqlite'
import { actionName, type Scope, tenantId } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { claimer, spec } from './fixture.ts'

const LANES = 1_000
const BY = { actor: 'operator:ann', reason: 'a test' }

const scopes: readonly Scope[] = [{}, { action: actionName('act') }]

it.each(scopes)('a claim without room for %j reads no lane for itself', async (scope) => {
  const engine = await openSqliteEngine({ path: ':memory:' })
  onTestFinished(() => engine.close())
  await engine.submit(Array.from({ length: LANES }, (_, index) => spec(`t${index}`, { tenant: tenantId(`t${index}`) })))
  const request = await claimer(engine, 'w', 10)
  await engine.limit(scope, 1, BY)
  expect((await engine.claim(request)).claimed).toHaveLength(1)
  const reads = [vi.spyOn(StatementSync.prototype, 'all'), vi.spyOn(StatementSync.prototype, 'get')]
  onTestFinished(() => void vi.restoreAllMocks())
  expect((await engine.claim(request)).claimed).toEqual([])
  const count = reads.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThan(LANES / 20)
})
