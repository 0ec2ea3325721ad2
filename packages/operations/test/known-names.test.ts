// A hold or a limit on a name that nothing has: taken, with a warning and the nearest name. Callers limited to tenants are told of
// no other names.

import { publishActions, tenantId } from '@reprise/core'
import { afterAll, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

test.each(STORES)('7: an unknown action, tenant or pool is warned about, with the nearest name (%s)', async (kind) => {
  const { engine, call } = await storeWithCaller(kind)
  await engine.submit([spec('t', { tenant: tenantId('acme') })])
  const { settings } = spec('x')
  await publishActions(engine, [{ name: 'invoice.send' as never, pool: spec('x').pool, settings }])
  const warned = (about: string) => ({ changed: true, warnings: [expect.stringContaining(about)] })
  for (const [name, more] of [
    ['pauseLanes', {}],
    ['limitLanes', { concurrency: 3 }],
  ] as const) {
    const on = (scope: object) => call(ANN, name, { ...scope, ...more })
    expect(await on({ action: 'redner' })).toEqual(warned("Did you mean 'render'?"))
    expect(await on({ action: 'invoice.sned' })).toEqual(warned("Did you mean 'invoice.send'?"))
    expect(await on({ tenant: 'acmee' })).toEqual(warned("Did you mean 'acme'?"))
    expect(await on({ pool: 'defautl' })).toEqual(warned("Did you mean 'default'?"))
    expect(await on({ pool: 'something-else' })).toEqual(warned("the pool 'something-else' yet: this holds"))
    for (const known of [{ action: 'render' }, { action: 'invoice.send' }, { tenant: 'acme' }, { pool: 'default' }]) {
      expect(await on(known)).toEqual({ changed: true })
    }
  }
  expect(await call(ANN, 'limitLanes', { action: 'redner', concurrency: null })).toEqual({ changed: true })
})

test('a caller limited to tenants is told nothing of names', async () => {
  const { engine, call } = await storeWithCaller()
  await engine.submit([spec('theirs', { tenant: tenantId('other') })])
  await expect(call(ACME, 'pauseLanes', { action: 'redner' })).rejects.toMatchObject({ code: 'REPRISE_NOT_FOUND' })
  expect(await call(ACME, 'pauseLanes', {})).toEqual({ changed: true })
})
