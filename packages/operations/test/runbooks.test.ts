// The five runbooks that come with the product, each exercised on a store with something to recover (B4, B11).

import { workerId } from '@reprise/core'
import { afterAll, describe, expect, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { dead, fingerprintOf, opened, recovering, statesOf } from './runbook-fixture.ts'
import { ANN, died } from './store-with-caller.ts'

afterAll(stopRedis)

describe.each(STORES)('B4, B11: the five runbooks (%s)', (kind) => {
  test('replay after outage: asks whether the dependency is back, replays in stages, and finds nothing dead', async () => {
    const { engine, clock, call, moved, start, answer } = await opened(kind)
    await died(engine, dead(25), 'ECONNRESET')
    const fingerprint = await fingerprintOf(engine)
    const { items } = await call(ANN, 'listRunbooks', {
      fingerprint,
    })
    expect(items[0]).toMatchObject({ name: 'replay-after-outage', suggested: 'the code is ECONNRESET' })
    const { id } = await start('replay-after-outage', { fingerprint, rate: '1000' })
    const asked = await moved(id)
    expect(asked).toMatchObject({ state: 'waiting', question: { kind: 'confirm' } })
    expect(asked.question?.text).toContain('1000 per second')
    await answer(id, 'yes', ANN)
    const meanwhile = await recovering(engine, clock)
    const ended = await moved(id, meanwhile)
    expect([ended.state, statesOf(ended)]).toEqual(['succeeded', ['done', 'done', 'done', 'done']])
    expect((await engine.counts()).succeeded).toBe(25)
    const after: { items: { name: string; figures: object }[] } = await call(ANN, 'listRunbooks', { fingerprint })
    expect(after.items.find(({ name }) => name === 'replay-after-outage')?.figures).toEqual({
      runs: 1,
      succeeded: 1,
      aborted: 0,
    })
    const types = (await engine.journal.read({ limit: 1_000 })).entries.map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('runbook.'))).toEqual([
      'runbook.started',
      'runbook.step',
      'runbook.asked',
      'runbook.answered',
      'runbook.step',
      'runbook.step',
      'runbook.step',
      'runbook.ended',
    ])
  })

  test('bad payload fix: the patch reaches every payload, and the copies succeed', async () => {
    const { engine, clock, moved, start, answer } = await opened(kind)
    await died(engine, dead(3), 'EINVAL')
    const { id } = await start('bad-payload-fix', {
      fingerprint: await fingerprintOf(engine),
      patch: '{"currency":"EUR"}',
    })
    expect((await moved(id)).question?.text).toContain('{"currency":"EUR"}')
    await answer(id, 'yes')
    const ended = await moved(id, await recovering(engine, clock))
    expect(ended.state).toBe('succeeded')
    const { items } = await engine.tasks({ limit: 100 })
    const mended = items.filter(({ state }) => state.status === 'succeeded')
    expect(mended.map(({ payload }) => JSON.parse(payload) as unknown).toSorted()).toHaveLength(3)
    for (const { payload } of mended) expect(JSON.parse(payload)).toMatchObject({ currency: 'EUR' })
  })

  test('poison pill quarantine: another person agrees, the action is held meanwhile, the poison is discarded', async () => {
    const { engine, call, moved, start, answer, shown } = await opened(kind)
    await died(engine, dead(4), 'POISON')
    const { id } = await start('poison-pill-quarantine', {
      action: 'render',
      query: `fingerprint:${await fingerprintOf(engine)}`,
    })
    expect(await shown(id)).toMatchObject({ state: 'waiting', question: { kind: 'approval' } })
    expect(await call({ ...ANN, actor: 'token:second', person: ANN.actor }, 'getRunbookRun', { id })).toMatchObject({
      isOwn: true,
    })
    await expect(answer(id, 'yes', ANN)).rejects.toThrow(/Somebody else has to agree/)
    const ownToken = { ...ANN, kind: 'token', actor: 'token:second', person: ANN.actor } as const
    await expect(answer(id, 'yes', ownToken)).rejects.toThrow(/a token that you made/)
    // A token whose run was started before it was kept who is behind it.
    await expect(answer(id, 'yes', { ...ANN, person: 'google:eve' })).rejects.toThrow(/you started this run/)
    await answer(id, 'yes')
    const asked = await moved(id)
    expect(asked.question?.text).toContain('4 dead letters of render')
    expect((await engine.holds({ limit: 10 })).items).toHaveLength(1)
    await answer(id, 'yes')
    expect((await moved(id)).state).toBe('succeeded')
    expect((await engine.holds({ limit: 10 })).items).toEqual([])
    expect((await engine.counts()).discarded).toBe(4)
  })

  test('who starts a run stays the same person when the issuer gives them another address', async () => {
    const { engine, call, answer } = await opened(kind)
    await died(engine, dead(1), 'POISON')
    const person = (actor: string): Caller => ({ ...ANN, kind: 'user', actor })
    const inputs = { action: 'render', query: 'code:POISON' }
    const begun = call(person('google:ann@example.com#1f2e3d4c'), 'startRunbook', {
      name: 'poison-pill-quarantine',
      inputs,
      reason: 'drill',
    })
    const { id } = (await begun) as { readonly id: string }
    const renamed = person('google:ann.lee@example.com#1f2e3d4c')
    await expect(answer(id, 'yes', renamed)).rejects.toThrow(/Somebody else has to agree/)
    const ownToken = { ...ANN, kind: 'token', actor: 'token:new', person: renamed.actor } as const
    await expect(answer(id, 'yes', ownToken)).rejects.toThrow(/Somebody else has to agree/)
    expect(await call(renamed, 'getRunbookRun', { id })).toMatchObject({ isOwn: true })
    // An address that was given to somebody else.
    await expect(answer(id, 'yes', person('google:ann@example.com#5a6b7c8d'))).resolves.toMatchObject({
      state: 'running',
    })
  })

  test.each(['code:POISON', 'fingerprint'])(
    'poison pill quarantine, aborted after the discard (%s): they are dead letters again, and the action goes on',
    async (asked) => {
      const { engine, clock, call, moved, start, answer, runner, signal, shown } = await opened(kind)
      await died(engine, dead(2), 'POISON')
      const groups = await engine.failureGroups()
      const query = asked === 'fingerprint' ? `fingerprint:${await fingerprintOf(engine)}` : asked
      const { id } = await start('poison-pill-quarantine', { action: 'render', query })
      await answer(id, 'yes')
      await moved(id)
      await answer(id, 'yes')
      // The process dies when the discard is done.
      await runner((at, step) => {
        if (at === 'ended' && step === 'quarantine') throw new Error('killed')
      }).round(signal)
      expect((await shown(id)).steps.find(({ name }) => name === 'quarantine')?.state).toBe('done')
      expect(await engine.counts()).toMatchObject({ dead: 0, discarded: 2 })
      await call(ANN, 'abortRunbookRun', { id })
      await clock.advance(16_000)
      const ended = await moved(id)
      expect([ended.state, statesOf(ended)]).toEqual([
        'aborted',
        ['undone', 'done', 'done', 'undone', 'pending', 'pending'],
      ])
      expect(await engine.counts()).toMatchObject({ dead: 2, discarded: 0 })
      expect(await engine.failureGroups()).toEqual(groups)
      expect((await engine.holds({ limit: 10 })).items).toEqual([])
    },
  )

  test('poison pill quarantine, refused: nothing is discarded, and an abort lets the action go on', async () => {
    const { engine, call, moved, start, answer } = await opened(kind)
    await died(engine, dead(2), 'POISON')
    const { id } = await start('poison-pill-quarantine', { action: 'render', query: 'code:POISON' })
    await answer(id, 'yes')
    await moved(id)
    await answer(id, 'no')
    expect(await moved(id)).toMatchObject({ state: 'halted' })
    expect((await engine.holds({ limit: 10 })).items).toHaveLength(1)
    await call(ANN, 'abortRunbookRun', { id })
    const ended = await moved(id)
    expect([ended.state, ended.steps[0]?.state]).toEqual(['aborted', 'undone'])
    expect((await engine.holds({ limit: 10 })).items).toEqual([])
    expect(await engine.counts()).toMatchObject({ dead: 2, discarded: 0 })
  })

  test('stuck worker drain: waits until the worker has nothing left', async () => {
    const { engine, clock, moved, start, answer } = await opened(kind)
    const meanwhile = await recovering(engine, clock)
    const worker = workerId('stuck')
    const pools = [spec('x').pool]
    const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
    const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
    const beat = (inFlight: number) =>
      engine.beat({
        worker,
        epoch,
        inFlight,
        queueDepth: 0,
        loopLagMs: 0,
        memoryBytes: 0,
        maxQuietMs: 0,
        outlook: null,
        draining: true,
      })
    await beat(1)
    const { id } = await start('stuck-worker-drain', { worker })
    let rounds = 0
    const asked = await moved(id, async () => {
      await meanwhile()
      await beat(++rounds < 5 ? 1 : 0)
    })
    expect(rounds).toBeGreaterThanOrEqual(5)
    expect(asked.question?.text).toContain('stuck has nothing left')
    await answer(id, 'yes')
    expect((await moved(id)).state).toBe('succeeded')
  })

  test('notify tenants: each is told once, of its own tasks', async () => {
    const { engine, moved, start, answer, call } = await opened(kind)
    await died(engine, dead(2), 'EGONE')
    const fingerprint = await fingerprintOf(engine)
    const { id } = await start('notify-tenants', { fingerprint, message: 'we are on it' })
    await answer(id, 'yes')
    await moved(id)
    await answer(id, 'yes')
    expect((await moved(id)).state).toBe('succeeded')
    const told = async () =>
      (await engine.journal.read({ limit: 1_000 })).entries.filter(({ type }) => type === 'tenant.notified')
    expect(await told()).toMatchObject([{ reason: 'we are on it', data: { tenant: 'default', tasks: 2 } }])
    // The same again tells nobody; something else does.
    expect(await call(ANN, 'notifyTenants', { fingerprint, message: 'we are on it' })).toEqual({ told: 0 })
    expect(await call(ANN, 'notifyTenants', { fingerprint, message: 'it takes longer' })).toEqual({ told: 1 })
    expect(await told()).toHaveLength(2)
  })
})
