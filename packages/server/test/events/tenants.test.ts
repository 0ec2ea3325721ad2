// Whose an event is, and who did what it tells of: by the journal page by page, and by webhook.

import { taskId, tenantId, VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { EntryTenants } from '../../../operations/src/events/event.ts'
import { aReceiver, note, openStore, spec } from '../../../operations/test/events/fixture.ts'
import { soon } from '../../../operations/test/events/webhook-fixture.ts'
import { only, reasons, serve } from './routes-fixture.ts'

test('intruder 7: an id that another tenant uses again shows neither the events of the other', async () => {
  const clock = new VirtualClock()
  const { engine, events, call, as } = await serve(clock)
  const id = taskId('reuse')
  const hooks = { acme: await aReceiver(), blue: await aReceiver() }
  for (const [tenant, { url }] of Object.entries(hooks)) await call('POST', '/api/v1/webhooks', { url, tenant })
  events.clock.skip(1_000)
  const seenBy = async (tenant: string): Promise<readonly string[]> => {
    as(only(tenant))
    return reasons(await call('GET', `/api/v1/events?task=${id}`))
  }
  await engine.submit([spec(id, { tenant: tenantId('acme') }), spec('last', { tenant: tenantId('acme') })])
  await engine.journal.append([note('of acme', { taskId: id })])
  expect(await seenBy('acme')).toEqual(['of acme'])
  await soon(() => expect(hooks.acme.reasons).toContain('of acme'))
  await engine.change({ kind: 'cancel', select: { ids: [id] }, by: { actor: 'operator:ann', reason: 'over' } })
  clock.jump(600_000)
  expect(await seenBy('acme')).toEqual(['of acme', 'over'])
  expect(await engine.retain({ cancelledMs: 1_000 })).toMatchObject({ tasksRemoved: 1 })
  await engine.submit([spec(id, { tenant: tenantId('blue') })])
  await engine.journal.append([note('of blue', { taskId: id }), note('the end', { taskId: taskId('last') })])

  expect(await seenBy('acme')).not.toContain('of blue')
  expect(await seenBy('blue')).toEqual(['of blue'])
  await soon(() => {
    events.clock.skip(1_000)
    expect([hooks.acme.reasons.at(-1), hooks.blue.reasons.at(-1)]).toEqual(['the end', 'of blue'])
  })
  expect(hooks.acme.reasons).not.toContain('of blue')
  for (const reason of ['of acme', 'over']) expect(hooks.blue.reasons).not.toContain(reason)
  as({})
  expect(reasons(await call('GET', `/api/v1/events?task=${id}`))).toEqual(['of acme', 'over', 'of blue'])
})

test('intruder 7: events of a task that is gone are for those who see everything', async () => {
  const clock = new VirtualClock()
  const { engine, call, as } = await serve(clock)
  await engine.submit([spec('gone', { tenant: tenantId('acme') })])
  await engine.change({
    kind: 'cancel',
    select: { ids: [taskId('gone')] },
    by: { actor: 'operator:ann', reason: 'over' },
  })
  clock.jump(600_000)
  await engine.retain({ cancelledMs: 1_000 })
  as(only('acme'))
  expect(reasons(await call('GET', '/api/v1/events'))).toEqual([])
  as({})
  expect(reasons(await call('GET', '/api/v1/events'))).toContain('over')
})

test('B5: the store is asked once for a task, however many entries of its past are read at once', async () => {
  const clock = new VirtualClock()
  const engine = await openStore('sqlite', clock)
  await engine.submit([spec('a1', { tenant: tenantId('acme') })])
  for (const reason of ['1', '2', '3', '4']) {
    clock.jump(600_000)
    await engine.journal.append([note(reason, { taskId: taskId('a1') })])
  }
  let asked = 0
  const counted = new Proxy(engine, {
    get: (target, name) => {
      if (name === 'task') asked++
      return Reflect.get(target, name) as unknown
    },
  })
  const tenants = new EntryTenants(counted, clock)
  const { entries } = await engine.journal.read()
  const [, , , last] = entries
  if (last === undefined) throw new Error('no entry')
  clock.jump(60_000)
  for (const entry of entries) expect(await tenants.of(entry)).toBe('acme')
  expect(asked).toBe(1)
  // What is newer than the look-up is looked up, once for all who ask.
  const later = { ...last, at: clock.now() }
  expect(await Promise.all([tenants.of(later), tenants.of(later), tenants.of(later)])).toEqual(['acme', 'acme', 'acme'])
  expect(asked).toBe(2)
})

test('intruder 6: who did it is told as it is, while reasons and details are redacted', async () => {
  const { engine, call } = await serve()
  const actor = 'token:ci-deploy-2024'
  const data = { token: 'ci-deploy-2024' }
  await engine.submit([spec('4111111111111111')])
  await engine.journal.append([
    note('with password=hunter2hunter2', { actor, data, taskId: taskId('4111111111111111') }),
  ])
  const { body } = await call('GET', '/api/v1/events')
  expect((body as { items: unknown[] }).items).toMatchObject([
    {
      subject: '4111111111111111',
      data: {
        taskId: '4111111111111111',
        actor,
        reason: 'with password=[redacted]',
        details: { token: '[redacted]' },
      },
    },
  ])
})
