// Whose a hold or a limit is: what the platform set, a tenant's caller can neither lift nor change. The platform may lift
// and change everything.

import { type By, DEFAULT_POOL, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, BY } from './fixture.ts'
import { subject } from './subject.ts'

const tenant = tenantId('acme')
const PLATFORM: By = { ...BY, rank: 'platform' }
const TENANT: By = { actor: 'token:acme-operator', reason: 'we want it so', rank: 'tenant' }
const OUTRANKED = { code: 'REPRISE_OUTRANKED', status: 403 }

export const ranks = subject('ranks', (check) => {
  check("a tenant's caller can't lift, change or take over the platform's hold", async (store) => {
    await store.submit({ id: 'a', tenant })
    await store.engine.pause({ tenant }, PLATFORM)
    const held = (await store.engine.lanes()).items[0]?.gates
    expect(held).toMatchObject([{ kind: 'paused', by: { actor: 'operator:ann' }, rank: 'platform' }])
    await expect(store.engine.resume({ tenant }, TENANT)).rejects.toMatchObject(OUTRANKED)
    await expect(store.engine.pause({ tenant }, TENANT)).rejects.toMatchObject(OUTRANKED)
    expect((await store.engine.lanes()).items[0]?.gates).toEqual(held)
    expect(await (await store.worker()).claimIds()).toEqual([])
    expect((await store.journal()).map(({ type }) => type)).toEqual(['lanes.paused'])
    expect(await store.engine.resume({ tenant }, PLATFORM)).toBe(true)
  })

  check("a tenant's caller can neither raise nor lift the platform's limit", async (store) => {
    await store.submit({ id: 'a', tenant }, { id: 'b', tenant })
    await store.engine.limit({ tenant }, 1, PLATFORM)
    for (const concurrency of [5, 0, null])
      await expect(store.engine.limit({ tenant }, concurrency, TENANT)).rejects.toMatchObject(OUTRANKED)
    expect(await (await store.worker()).claimIds(5)).toHaveLength(1)
    expect((await store.engine.lanes()).items[0]?.gates).toMatchObject([
      { kind: 'concurrency', concurrency: 1, rank: 'platform' },
    ])
    expect((await store.journal()).map(({ type }) => type)).toEqual(['lanes.limited'])
  })

  check("a hold or limit of no known rank is the platform's", async (store) => {
    await store.engine.pause({ tenant }, BY)
    await store.engine.limit({ tenant }, 1, BY)
    await expect(store.engine.resume({ tenant }, TENANT)).rejects.toMatchObject(OUTRANKED)
    await expect(store.engine.limit({ tenant }, null, TENANT)).rejects.toMatchObject(OUTRANKED)
  })

  check("a tenant's own hold and limit are theirs to change, and the platform's too", async (store) => {
    await store.submit({ id: 'a', tenant }, { id: 'b', tenant })
    const gates = async () => (await store.engine.lanes()).items[0]?.gates
    await store.engine.pause({ tenant }, TENANT)
    expect(await gates()).toMatchObject([{ kind: 'paused', rank: 'tenant' }])
    expect(await store.engine.resume({ tenant }, TENANT)).toBe(true)
    await store.engine.limit({ tenant }, 3, TENANT)
    await store.engine.limit({ tenant }, 1, TENANT)
    expect(await (await store.worker()).claimIds(5)).toHaveLength(1)
    expect(await gates()).toMatchObject([{ kind: 'concurrency', concurrency: 1, rank: 'tenant' }])

    await store.engine.pause({ tenant }, TENANT)
    expect(await store.engine.resume({ tenant }, PLATFORM)).toBe(true)
    await store.engine.limit({ tenant }, null, PLATFORM)
    expect(await gates()).toEqual([])
  })

  check("what the platform takes over is the platform's until it is lifted", async (store) => {
    await store.engine.pause({ tenant }, TENANT)
    await store.engine.limit({ tenant }, 1, TENANT)
    await store.engine.pause({ tenant }, PLATFORM)
    await store.engine.limit({ tenant }, 2, PLATFORM)
    await expect(store.engine.resume({ tenant }, TENANT)).rejects.toMatchObject(OUTRANKED)
    await expect(store.engine.limit({ tenant }, null, TENANT)).rejects.toMatchObject(OUTRANKED)
    await store.engine.resume({ tenant }, PLATFORM)
    await store.engine.limit({ tenant }, null, PLATFORM)
    await store.engine.pause({ tenant }, TENANT)
    await store.engine.limit({ tenant }, 1, TENANT)
    expect(await store.engine.resume({ tenant }, TENANT)).toBe(true)
    await store.engine.limit({ tenant }, null, TENANT)
  })

  check("a tenant's wider and narrower scopes leave the platform's in force", async (store) => {
    await store.submit({ id: 'a', tenant })
    const narrower = { tenant, action: ACTION }
    await store.engine.pause(narrower, PLATFORM)
    await store.engine.limit(narrower, 0, PLATFORM)
    for (const scope of [{ tenant }, { ...narrower, pool: DEFAULT_POOL }]) {
      await store.engine.pause(scope, TENANT)
      expect(await store.engine.resume(scope, TENANT)).toBe(true)
      await store.engine.limit(scope, 9, TENANT)
      await store.engine.limit(scope, null, TENANT)
    }
    const worker = await store.worker()
    expect(await worker.claimIds()).toEqual([])
    await store.engine.resume(narrower, PLATFORM)
    expect(await worker.claimIds()).toEqual([])
    await store.engine.limit(narrower, null, PLATFORM)
    expect(await worker.claimIds()).toEqual(['a'])
  })
})
