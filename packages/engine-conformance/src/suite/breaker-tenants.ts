// Breakers and tenants: what one tenant's tasks do holds that tenant alone; what several tenants' tasks do holds all.

import { actionName, type Claimed, taskId, tenantId } from '@reprise/core'
import { BREAKERS_OF_TENANT_MAX } from '@reprise/core/engine'
import { expect } from 'vitest'
import { BY, retryIn, START, type Store } from './fixture.ts'
import { BREAKER, failing, type OutageInput, succeeding } from './outage.ts'
import type { Check } from './subject.ts'

const ordered = { ordered: true }
const LATER = { decision: retryIn(3_600_000, 'connection') }

const of = (tenant: string, ...ids: readonly string[]) => ids.map((id) => ({ id, tenant: tenantId(tenant) }))

let workers = 0

/** Claims by a worker that nothing speaks against. */
async function claim(store: Store, limit: number): Promise<readonly Claimed[]> {
  return (await (await store.worker(`w${++workers}`)).claim(limit)).claimed
}

/** A task of the tenant runs and fails, while nothing else can be claimed. */
async function fail(store: Store, tenant: string, id: string, input: OutageInput = {}): Promise<void> {
  await store.submit(...of(tenant, id))
  for (const lease of await claim(store, 1)) await failing(store, lease, { ...LATER, ...input })
}

const idsOf = (leases: readonly Claimed[]): string[] => leases.map((lease) => lease.taskId)

/** Each breaker as '<tenant or *> <status>'. */
const standing = async (store: Store): Promise<string[]> =>
  (await store.engine.breakers()).items.map(({ tenant, state }) => `${tenant ?? '*'} ${state.status}`)

/** The breaker of all tenants is half open, with these probes; nobody's own is open. */
async function halfOpened(store: Store, probes = 1): Promise<void> {
  const settings = { minFailures: 4, probes, openMs: 5_000, windowMs: 4_000 }
  for (const id of ['a1', 'a2']) await fail(store, 'loud', id, { settings })
  for (const id of ['b1', 'b2']) await fail(store, 'quiet', id, { settings })
  expect(await standing(store)).toContain('* open')
  store.clock.jump(5_000)
}

export function breakerTenants(check: Check): void {
  check(
    'one tenant’s failures hold that tenant alone, and everything that shows it says whose they are',
    async (store) => {
      for (const id of ['a1', 'a2', 'a3']) await fail(store, 'loud', id)
      expect(await standing(store)).toEqual(['loud open'])
      await store.submit(...of('loud', 'a4'), ...of('quiet', 'b1'))
      expect(idsOf(await claim(store, 5))).toEqual(['b1'])
      const gate = { kind: 'breaker', name: BREAKER, tenant: 'loud', status: 'open', until: START + 5_000 }
      const explanation = await store.engine.explain(taskId('a4'))
      expect(explanation).toMatchObject({ gates: [gate] })
      expect(explanation?.summary).toMatch(`Breaker '${BREAKER}' of tenant 'loud' is open`)
      const { items } = await store.engine.lanes()
      expect(items.map(({ tenant, gates }) => [tenant, gates.length])).toEqual([
        ['loud', 1],
        ['quiet', 0],
      ])
      const entries = (await store.journal()).filter(({ type }) => type.startsWith('breaker.'))
      expect(entries).toMatchObject([{ type: 'breaker.opened', data: { breaker: BREAKER, tenant: 'loud', opens: 1 } }])
    },
    ordered,
  )

  check(
    'a failing tenant that nobody joins stays alone, however much fails',
    async (store) => {
      await store.submit(...of('loud', ...Array.from({ length: 8 }, (_, number) => `a${number}`)))
      for (const lease of await claim(store, 8)) await failing(store, lease, LATER)
      await store.submit(...of('quiet', 'b1', 'b2'))
      const leases = await claim(store, 2)
      await succeeding(store, ...leases)
      expect(idsOf(leases)).toEqual(['b1', 'b2'])
      expect(await standing(store)).toEqual(['loud open'])
    },
    ordered,
  )

  check(
    'failures of several tenants hold all of them, and the failure that does it is parked',
    async (store) => {
      await fail(store, 'loud', 'a1')
      await fail(store, 'quiet', 'b1')
      expect(await standing(store)).toEqual(['* open', 'loud closed', 'quiet closed'])
      expect(await store.task('b1')).toMatchObject({ failures: 0, parks: 1, state: { status: 'queued' } })
      await store.submit(...of('third', 'c1'))
      expect(await claim(store, 5)).toEqual([])
      const gate = { kind: 'breaker', name: BREAKER, tenant: null, status: 'open', until: START + 5_000 }
      expect(await store.engine.explain(taskId('c1'))).toMatchObject({ gates: [gate], nextAt: START + 5_000 })
      const entries = (await store.journal()).filter(({ type }) => type.startsWith('breaker.'))
      expect(entries).toMatchObject([{ type: 'breaker.opened', data: { breaker: BREAKER, tenant: null, opens: 1 } }])
    },
    ordered,
  )

  check(
    'probes are drawn from different tenants where several have work',
    async (store) => {
      await halfOpened(store, 2)
      await store.submit(...of('loud', 'a3', 'a4', 'a5'), ...of('third', 'c1', 'c2'))
      const tenants = (await claim(store, 5)).map(({ snapshot }) => snapshot.tenant)
      expect(tenants).toHaveLength(2)
      expect(new Set(tenants).size).toBe(2)
    },
    ordered,
  )

  check(
    'a failed probe of one tenant does not hold the others again; one of a second tenant does',
    async (store) => {
      await halfOpened(store)
      await store.submit(...of('third', 'c1'), ...of('fourth', 'd1'))
      const settings = { minFailures: 4, probes: 1, windowMs: 4_000 }
      const probed: string[] = []
      for (const expected of ['* half_open', '* open']) {
        const [lease] = await claim(store, 1)
        if (lease === undefined) throw new Error('No probe could be claimed.')
        probed.push(lease.snapshot.tenant)
        expect(await failing(store, lease, { settings, decision: retryIn(1_000, 'connection') })).toMatchObject({
          status: 'queued',
        })
        expect(await standing(store)).toContain(expected)
      }
      expect(new Set(probed).size).toBe(2)
    },
    ordered,
  )

  check(
    'probes that succeed let all tenants go on',
    async (store) => {
      await halfOpened(store)
      await store.submit(...of('third', 'c1', 'c2', 'c3', 'c4'), ...of('loud', 'a3', 'a4'))
      for (let round = 0; round < 6; round++) await succeeding(store, ...(await claim(store, 5)))
      expect((await standing(store)).filter((one) => one.startsWith('*'))).toEqual([])
      expect(await store.engine.counts()).toMatchObject({ succeeded: 7 })
    },
    ordered,
  )

  check(
    'a breaker is reset by name for everybody, for some tenants, or for all tenants together',
    async (store) => {
      const two = async (round: string): Promise<void> => {
        for (const id of ['a', 'b']) await fail(store, 'loud', `${id}${round}`)
        await fail(store, 'quiet', `c${round}`)
      }
      await two('1')
      expect(await standing(store)).toEqual(['* open', 'loud open', 'quiet closed'])
      expect(await store.engine.resetBreaker(BREAKER, BY, [tenantId('nobody')])).toBe(false)
      expect(await store.engine.resetBreaker(BREAKER, BY, [tenantId('loud')])).toBe(true)
      expect(await standing(store)).toEqual(['* open', 'quiet closed'])
      expect(await store.engine.resetBreaker(BREAKER, BY, [null])).toBe(true)
      expect(await standing(store)).toEqual(['quiet closed'])
      expect((await claim(store, 5)).length).toBeGreaterThan(0)
      expect(await store.engine.resetBreaker(BREAKER, BY)).toBe(true)
      expect(await store.engine.resetBreaker(BREAKER, BY)).toBe(false)
      expect(await standing(store)).toEqual([])
      const closed = (await store.journal()).filter(({ type }) => type === 'breaker.closed')
      expect(closed.map(({ data }) => data.tenant)).toEqual(['loud', null, 'quiet'])
    },
    ordered,
  )

  check(
    'a list for some tenants has theirs, and those of all tenants',
    async (store) => {
      await store.submit(...['loud', 'quiet', 'third'].flatMap((tenant) => of(tenant, tenant)))
      for (const lease of await claim(store, 3)) await failing(store, lease, LATER)
      const { items } = await store.engine.breakers({ tenants: [tenantId('quiet')] })
      expect(items.map(({ tenant }) => tenant)).toEqual([null, 'quiet'])
      const first = await store.engine.breakers({ limit: 1 })
      const rest = await store.engine.breakers({ limit: 5, cursor: first.next ?? '' })
      expect([...first.items, ...rest.items].map(({ tenant }) => tenant)).toEqual([null, 'loud', 'quiet', 'third'])
    },
    ordered,
  )

  check(
    'a tenant has a hundred breakers at the most: a failure makes no further one, and is not parked for it',
    async (store) => {
      await store.submit(...[0, 1].map((number) => ({ id: `a${number}`, action: actionName(`act${number}`) })))
      const leases = await claim(store, 2)
      for (const [number, lease] of leases.entries()) {
        const breakers = Array.from({ length: 60 }, (_, index) => `dependency:d${number * 60 + index}`)
        await failing(store, lease, { ...LATER, breakers, settings: { minFailures: 2 } })
      }
      const { items } = await store.engine.breakers({ limit: 1_000 })
      expect(items).toHaveLength(BREAKERS_OF_TENANT_MAX)
    },
    ordered,
  )
}
