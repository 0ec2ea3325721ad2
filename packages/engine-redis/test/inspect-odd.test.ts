// Inspection (B11) where the damage is of more than one kind, can't be repaired, or lies in a store that is large or has several
// partitions.

import { succeeded, taskId } from '@reprise/core'
import { wholeInspection } from '@reprise/engine-conformance'
import { startRedis } from '@reprise/test-servers'
import { afterAll, describe, expect, it } from 'vitest'
import { inspect } from '../src/inspect.ts'
import { Partition } from '../src/partition.ts'
import { partitionPrefixes } from '../src/store.ts'
import { BY, brief, DamagedStore, LANE, READY_AT, runToEnd } from './inspect-fixture.ts'
import { openTestLink } from './link-fixture.ts'
import { idsIn, PARTITIONS, spec, specs } from './partitions-fixture.ts'

const server = await startRedis()
afterAll(() => server.stop())

describe('an inspection', () => {
  it('B11: gives a lost lease back to a worker that lives', async () => {
    const store = await DamagedStore.open(server)
    await store.engine.submit([spec('a')])
    const { claimed } = await store.engine.claim(await store.claimer('w'))
    await store.damage('DEL', 'leases:w')
    expect(await store.engine.settle(claimed.map((ref) => succeeded(ref, null)))).toMatchObject([
      { outcome: 'superseded' },
    ])
    expect((await store.repair()).findings.map(brief)).toEqual(["lease_missing: task 'a'"])
    const renewed = await store.engine.renew(
      claimed.map((lease) => ({ ...lease, progress: null })),
      10_000,
    )
    expect(renewed).toMatchObject([{ outcome: 'extended' }])
    expect(await store.engine.settle(claimed.map((ref) => succeeded(ref, null)))).toMatchObject([
      { outcome: 'settled' },
    ])
    expect((await store.look()).findings).toEqual([])
  })

  it('B11: queues a task again whose attempt has no record', async () => {
    const store = await DamagedStore.withTaskInEachPlace(server)
    await store.damageTask('HDEL', 'assigned', '1')
    expect((await store.look()).findings.map(brief)).toEqual([
      "lease_missing: task 'assigned'",
      "lease_extra: task 'assigned'",
      "inbox_entry_extra: task 'assigned'",
    ])
    expect((await store.repair()).findings.map(brief)).toEqual([
      "lease_missing: task 'assigned'",
      "lease_extra: task 'assigned'",
      'slots: limit of everything',
    ])
    expect(await store.engine.task(taskId('assigned'))).toMatchObject({ attempt: 0, state: { status: 'queued' } })
    await runToEnd(store)
  })

  it('B11: leaves a record that it can’t read as it is, and says so', async () => {
    const store = await DamagedStore.withTaskInEachPlace(server)
    await store.damageTask('HSET', 'waiting', 'state', '{"status":"waiting"')
    const { findings } = await store.repair()
    expect(findings[0]).toMatchObject({ kind: 'record_unreadable', subject: { id: 'waiting' }, repaired: false })
  })

  it('B11: leaves two tasks with one key to a person', async () => {
    const store = await DamagedStore.withTaskInEachPlace(server)
    const text = String(await server.command('HGET', `${store.prefix}:queued`, 'task'))
    await store.damageTask('HSET', 'queued', 'task', text.replace('\n', '\n').replace(/,\n/, ',"dedupeKey":"k",\n'))
    const { findings } = await store.repair()
    expect(findings).toMatchObject([{ kind: 'key_twice', subject: { id: 'queued' }, repaired: false }])
  })

  it('B11: finds more entries of tasks that left the queue than their lane knows of', async () => {
    const store = await DamagedStore.withTaskInEachPlace(server)
    const entry = await store.entryOf('queued')
    await store.engine.change({ kind: 'cancel', select: { ids: [taskId('queued')] }, by: BY })
    expect((await store.look()).findings).toEqual([])
    await store.damage('RPUSH', 'queue:1:5', entry.replace(/queued$/, 'dead'))
    expect((await store.look()).findings.map(brief)).toEqual([`queue_entry_extra: ${LANE}`])
    expect((await store.repair()).findings.map(brief)).toEqual([`queue_entry_extra: ${LANE}`])
    expect((await store.look()).findings).toEqual([])
    const { claimed } = await store.engine.claim(await store.claimer('other'))
    expect(claimed.map((lease) => lease.taskId)).toEqual(['keyed', 'brief'])
  })

  it('B11: answers a repair whose answer was lost as the first time', async () => {
    const store = await DamagedStore.withTaskInEachPlace(server)
    await store.damage('DEL', 'waiting:default')
    const link = await openTestLink({ url: server.url })
    const partition = new Partition(link, store.prefix, store.clock, { drawRequestId: () => 'the same' })
    const request = { repair: true, by: BY }
    const first = await inspect(partition, request)
    expect(first.findings.map(brief)).toEqual(["delay_entry_missing: task 'waiting'"])
    expect(await inspect(partition, request)).toEqual(first)
    expect((await store.engine.journal.read({ taskId: taskId('waiting') })).entries).toHaveLength(1)
  })

  it('B11: goes through long queues in parts, and finds what is missing or too much in the midst of them', async () => {
    const store = await DamagedStore.open(server)
    for (let batch = 0; batch < 21; batch++)
      await store.engine.submit(specs(1_000).map((one) => ({ ...one, id: taskId(`b${batch}-${one.id}`) })))
    const look = await store.look()
    expect(look.findings).toEqual([])
    expect(look.unchecked).toEqual([expect.stringContaining('too many for one step')])
    expect(look.checked).toBeGreaterThan(42_000)

    await store.damage('LREM', 'queue:1:5', '1', await store.entryOf('b10-t500'))
    await store.damage('LINSERT', 'queue:1:5', 'AFTER', await store.entryOf('b12-t7'), await store.entryOf('b12-t7'))
    await store.damage('RPUSH', 'queue:1:5', (await store.entryOf('b0-t0')).replace(/b0-t0$/, 'nobody'))
    // Out of order: it is there all the same.
    const moved = await store.entryOf('b0-t1')
    await store.damage('LREM', 'queue:1:5', '1', moved)
    await store.damage('RPUSH', 'queue:1:5', moved)
    await store.damageNumber(READY_AT, -5)
    await store.damage('HINCRBY', 'numbers', 'backlog', '5')
    const found = [
      "queue_entry_missing: task 'b10-t500'",
      "queue_entry_twice: task 'b12-t7'",
      "queue_entry_extra: task 'nobody'",
      `count: ${LANE}`,
      'count: store',
    ]
    expect((await store.repair()).findings.map(brief)).toEqual(found)
    expect((await store.look()).findings).toEqual([])
    expect(await store.engine.counts()).toMatchObject({ accepted: 21_000, queued: 21_000 })
  })

  it('B11: goes through all partitions', async () => {
    const store = await DamagedStore.open(server, PARTITIONS)
    const all = Array.from({ length: PARTITIONS }, (_, place) => idsIn(place, 2)).flat()
    await store.engine.submit(all.map((id) => spec(id, { dedupeKey: `key-${id}`, delayMs: 1_000 })))
    for (const [place, prefix] of partitionPrefixes(store.prefix, PARTITIONS).entries()) {
      expect((await store.look()).findings).toEqual([])
      const [first = ''] = idsIn(place, 1)
      expect(await server.command('DEL', `${prefix}/waiting:default`)).toBe(1)
      expect((await store.look()).findings.map(brief)).toContain(`delay_entry_missing: task '${first}'`)
      const repairs = await wholeInspection(store.engine, { repair: true, by: BY, limit: 1 })
      expect(repairs.findings.map(brief).toSorted()).toEqual(
        idsIn(place, 2)
          .map((id) => `delay_entry_missing: task '${id}'`)
          .toSorted(),
      )
    }
    store.clock.jump(1_000)
    await runToEnd(store)
  })

  it.each(['tasks:x', 'queue:1 2', 'counts:1', 'keys:a', 'groups:-1 0'])(
    'B11: refuses the cursor %s',
    async (cursor) => {
      const store = await DamagedStore.open(server)
      const asked = store.engine.inspect({ repair: false, by: BY, cursor })
      await expect(asked).rejects.toThrow('not one that this store gave out')
    },
  )

  it.each(['tasks:', '3/tasks:', '1', '1/nonsense'])(
    'B11: refuses the cursor %s of several partitions',
    async (cursor) => {
      const store = await DamagedStore.open(server, PARTITIONS)
      const asked = store.engine.inspect({ repair: false, by: BY, cursor })
      await expect(asked).rejects.toThrow('not one that this store gave out')
    },
  )
})
