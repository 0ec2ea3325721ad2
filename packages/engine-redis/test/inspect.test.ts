// Inspection of a damaged store (B11): each test damages keys by hand, expects just that finding, has it repaired, and lets the
// tasks run to their end.

import { startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, it } from 'vitest'
import { BY, brief, DamagedStore, failure, LANE, READY_AT, runToEnd } from './inspect-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())

const RUNNING_RECORD = '{"status":"running","attempt":1,"token":"1-1.1","worker":"w","dispatchedAt":1}'
const SUCCEEDED_AT = 11
const ACTIVE = 'active:default\nrender'
const LANE_MEMBER = '0000000001'
const group = `dead:${failure.fingerprint}`

interface Case {
  readonly is: string
  readonly damage: (store: DamagedStore) => Promise<void>
  readonly finds: readonly string[]
}

const CASES: readonly Case[] = [
  {
    is: 'a queued task without an entry',
    damage: async (store) => store.damage('LREM', 'queue:1:5', '1', await store.entryOf('queued')),
    finds: ["queue_entry_missing: task 'queued'"],
  },
  {
    is: 'a task that stands in the queue twice',
    damage: async (store) => store.damage('RPUSH', 'queue:1:5', await store.entryOf('queued')),
    finds: ["queue_entry_twice: task 'queued'"],
  },
  {
    is: 'an entry of a task that is dead',
    damage: async (store) =>
      store.damage('RPUSH', 'queue:1:5', (await store.entryOf('queued')).replace(/queued$/, 'dead')),
    finds: ["queue_entry_extra: task 'dead'"],
  },
  {
    is: 'an entry of a task that runs',
    damage: async (store) =>
      store.damage('LPUSH', 'queue:1:5', (await store.entryOf('queued')).replace(/queued$/, 'running')),
    finds: ["queue_entry_extra: task 'running'"],
  },
  {
    is: 'an entry of no task',
    damage: async (store) =>
      store.damage('LPUSH', 'queue:1:5', (await store.entryOf('queued')).replace(/queued$/, 'nobody')),
    finds: ["queue_entry_extra: task 'nobody'"],
  },
  {
    is: 'an entry among those that came back, of a task that stands in the list',
    damage: async (store) => {
      await store.damage('ZADD', 'returned:1:5', '1', await store.entryOf('queued'))
    },
    finds: ["queue_entry_twice: task 'queued'", `count: ${LANE}`],
  },
  {
    is: 'a queue TTL that the sweep does not know of',
    damage: (store) => store.damage('ZREM', 'ttl:1', 'brief'),
    finds: ["expiry_missing: task 'brief'"],
  },
  {
    is: 'a lane whose queue TTLs the sweep does not look at',
    damage: (store) => store.damage('ZREM', 'ttl', LANE_MEMBER),
    finds: ["expiry_missing: task 'brief'"],
  },
  {
    is: 'a deadline that the sweep does not know of',
    damage: (store) => store.damage('ZREM', 'deadlines', 'brief'),
    finds: ["expiry_missing: task 'brief'"],
  },
  {
    is: 'a queue TTL that the sweep takes for another',
    damage: (store) => store.damage('ZADD', 'ttl:1', 'CH', '5', 'brief'),
    finds: ["expiry_missing: task 'brief'"],
  },
  {
    is: 'a queue TTL of a task that is not queued',
    damage: (store) => store.damage('ZADD', 'ttl:1', '5', 'running'),
    finds: ["expiry_extra: task 'running'"],
  },
  {
    is: 'a deadline of no task',
    damage: (store) => store.damage('ZADD', 'deadlines', '5', 'nobody'),
    finds: ["expiry_extra: task 'nobody'"],
  },
  {
    is: 'a waiting task that never becomes due',
    damage: (store) => store.damage('DEL', 'waiting:default'),
    finds: ["delay_entry_missing: task 'waiting'"],
  },
  {
    is: 'a queued task in the delay queue',
    damage: (store) => store.damage('ZADD', 'waiting:default', '5', '0000000000000005queued'),
    finds: ["delay_entry_extra: task 'queued'"],
  },
  {
    is: 'no task in the delay queue',
    damage: (store) => store.damage('ZADD', 'waiting:default', '5', '0000000000000005nobody'),
    finds: ["delay_entry_extra: task 'nobody'"],
  },
  {
    is: 'a running task whose lease is gone',
    damage: (store) => store.damage('HDEL', 'leases:w', 'running'),
    finds: ["lease_missing: task 'running'"],
  },
  {
    is: 'a lease of a task that is dead',
    damage: async (store) => store.damage('HSET', 'leases:w', 'dead', await store.read('HGET', 'leases:w', 'running')),
    finds: ["lease_extra: task 'dead'"],
  },
  {
    is: 'a lease of no task',
    damage: async (store) =>
      store.damage('HSET', 'leases:w', 'nobody', await store.read('HGET', 'leases:w', 'running')),
    finds: ["lease_extra: task 'nobody'"],
  },
  {
    is: 'leases that the sweep does not look at',
    damage: (store) => store.damage('ZREM', 'leases', 'w'),
    finds: ["lease_unwatched: worker 'w'"],
  },
  {
    is: 'an assigned task that is in no inbox',
    damage: (store) => store.damage('DEL', 'inbox:w'),
    finds: ["inbox_entry_missing: task 'assigned'"],
  },
  {
    is: 'a task in an inbox that was not assigned',
    damage: (store) => store.damage('ZADD', 'inbox:w', '5', 'running'),
    finds: ["inbox_entry_extra: task 'running'"],
  },
  {
    is: 'an inbox that nobody watches over',
    damage: (store) => store.damage('DEL', 'inboxes'),
    finds: ["inbox_entry_missing: worker 'w'"],
  },
  {
    is: 'a launched task that nobody looks after',
    damage: (store) => store.damage('DEL', 'launches:default'),
    finds: ["launch_entry_missing: task 'launched'"],
  },
  {
    is: 'a pool with launches that is not listed',
    damage: (store) => store.damage('DEL', 'launching'),
    finds: ["launch_entry_missing: task 'launched'"],
  },
  {
    is: 'a task among the launches that was not launched',
    damage: (store) => store.damage('ZADD', 'launches:default', '0', 'running'),
    finds: ["launch_entry_extra: task 'running'"],
  },
  {
    is: 'no task among the launches',
    damage: (store) => store.damage('ZADD', 'launches:default', '0', 'nobody'),
    finds: ["launch_entry_extra: task 'nobody'"],
  },
  {
    is: 'a count of successes that never were',
    damage: (store) => store.damageNumber(SUCCEEDED_AT, 3),
    finds: [`count: ${LANE}`],
  },
  {
    is: 'a lane that counts no claimable tasks',
    damage: (store) => store.damageNumber(READY_AT, -3),
    finds: [`count: ${LANE}`],
  },
  {
    is: 'a wrong count of the backlog',
    damage: (store) => store.damage('HINCRBY', 'numbers', 'backlog', '5'),
    finds: ['count: store'],
  },
  {
    is: 'slots in use that nothing uses',
    damage: (store) => store.damage('HINCRBY', 'slots', '\n\n', '47'),
    finds: ['slots: limit of everything'],
  },
  {
    is: 'a lane that claims do not see',
    damage: (store) => store.damage('ZREM', ACTIVE, LANE_MEMBER),
    finds: [`lane_unlisted: ${LANE}`],
  },
  {
    is: 'a lane that runs tasks, and is not listed so',
    damage: (store) => store.damage('DEL', 'busy'),
    finds: [`lane_unlisted: ${LANE}`],
  },
  {
    is: 'a dedupe key that nothing notes',
    damage: (store) => store.damage('HDEL', 'dedupe', 'default\nrender\nk'),
    finds: ["key_missing: task 'keyed'"],
  },
  {
    is: 'a dedupe key of no task',
    damage: (store) => store.damage('HSET', 'dedupe', 'default\nrender\nother', 'nobody'),
    finds: ["key_extra: key 'other' of action 'render' and tenant 'default'"],
  },
  {
    is: 'a dedupe key of a task that has none',
    damage: (store) => store.damage('HSET', 'dedupe', 'default\nrender\nother', 'queued'),
    finds: ["key_extra: key 'other' of action 'render' and tenant 'default'"],
  },
  {
    is: 'a dead letter that is missing in its failure group',
    damage: (store) => store.damage('ZREM', group, 'dead'),
    finds: ["group_entry_missing: task 'dead'", `group_count: failure group '${failure.fingerprint}'`],
  },
  {
    is: 'a dead letter without its failure group',
    damage: async (store) => {
      await store.damage('DEL', `group:${failure.fingerprint}`)
      await store.damage('DEL', 'groups')
    },
    finds: ["group_entry_missing: task 'dead'"],
  },
  {
    is: 'a queued task among the dead letters',
    damage: (store) => store.damage('ZADD', 'dead', '5', 'queued'),
    finds: ["group_entry_extra: task 'queued'"],
  },
  {
    is: 'a queued task in a failure group',
    damage: (store) => store.damage('ZADD', group, '5', 'queued'),
    finds: ["group_entry_extra: task 'queued'"],
  },
  {
    is: 'an attempt that runs before its task was claimed',
    damage: (store) => store.damageTask('HSET', 'waiting', '1', RUNNING_RECORD),
    finds: ["execution_running: task 'waiting'"],
  },
  {
    is: 'an attempt that runs though it ended',
    damage: (store) => store.damageTask('HSET', 'dead', '1', RUNNING_RECORD),
    finds: ["execution_running: task 'dead'"],
  },
  {
    is: 'a task that is gone in the order of acceptance',
    damage: (store) => store.damage('RPUSH', 'order:0', 'nobody'),
    finds: ["order_entry_extra: task 'nobody'"],
  },
]

describe('an inspection finds, and repairs,', () => {
  it.each(CASES)('B11: $is', async ({ damage, finds }) => {
    const store = await DamagedStore.withTaskInEachPlace(server)
    expect((await store.look()).findings).toEqual([])
    await damage(store)
    const found = await store.look()
    expect(found.findings.map(brief)).toEqual(finds)
    expect(found.findings.every(({ repaired }) => !repaired)).toBe(true)
    expect((await store.look()).findings).toEqual(found.findings)

    const repairs = await store.repair()
    expect(repairs.findings[0]).toEqual({ ...found.findings[0], repaired: true })
    expect(repairs.findings.every(({ repaired }) => repaired)).toBe(true)
    expect((await store.look()).findings).toEqual([])
    const { entries } = await store.engine.journal.read({ limit: 1_000 })
    const told = entries.filter(({ type }) => type === 'store.repaired')
    expect(told.map(({ data }) => `${data.kind}: ${data.subject}`)).toEqual(repairs.findings.map(brief))
    expect(told.every(({ actor, reason }) => actor === BY.actor && reason === BY.reason)).toBe(true)

    await runToEnd(store)
  })
})
