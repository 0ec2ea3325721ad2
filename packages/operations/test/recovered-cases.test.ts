// What recovery closes: the case of a failure group resolves itself when the last task that died of it has recovered, and a new
// death opens it again. Counted from the journal alone, each entry once.

import {
  type Claimed,
  describeFailure,
  type Engine,
  type Fingerprint,
  failed,
  succeeded,
  taskId,
  workerId,
} from '@reprise/core'
import { followOnce, onTheClock } from '@reprise/orchestrator'
import { afterAll, describe, expect, test } from 'vitest'
import { STORES, spec, stopRedis } from './events/fixture.ts'
import { ANN, died, failAll, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const BY = { actor: 'operator:ann', reason: 'mended' }

async function follow(engine: Engine): Promise<void> {
  while (await followOnce(engine));
}

const change = (engine: Engine, kind: 'redrive' | 'discard' | 'cancel' | 'revert', ...ids: readonly string[]) =>
  engine.change({ kind, select: { ids: ids.map(taskId) }, by: BY })

async function claim(engine: Engine, limit: number): Promise<readonly Claimed[]> {
  const worker = workerId('w2')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '2', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  return (await engine.claim({ worker, epoch, pools, actions: null, limit, leaseMs: 60_000 })).claimed
}

/** What is queued succeeds; at most this many. */
async function succeed(engine: Engine, limit = 100): Promise<void> {
  await engine.settle((await claim(engine, limit)).map((one) => succeeded(one, null)))
}

/** An attempt fails, and the task goes on. */
async function failOnce(engine: Engine, id: string, fingerprint: string): Promise<void> {
  await engine.submit([spec(id)])
  const settlements = (await claim(engine, 1)).map((one) => {
    const failure = describeFailure(new TypeError('broken'), one.snapshot.action)
    const decision = {
      kind: 'retry',
      delayMs: 3_600_000,
      reason: 'transient',
      rule: 'test',
      sentence: 'Once more.',
    } as const
    return failed(one, { ...failure, fingerprint: fingerprint as Fingerprint }, decision)
  })
  await engine.settle(settlements)
}

interface Told {
  readonly type: string
  readonly actor: string
  readonly reason: string
}

const groupEntries = async (engine: Engine): Promise<readonly Told[]> =>
  (await engine.journal.read({ limit: 1_000 })).entries.filter(({ type }) => type.startsWith('group.'))

async function fixture(kind: (typeof STORES)[number], codes: Readonly<Record<string, readonly string[]>>) {
  const { engine, call } = await storeWithCaller(kind)
  for (const [code, names] of Object.entries(codes)) {
    await died(
      engine,
      names.map((name) => spec(name)),
      code,
    )
  }
  await follow(engine)
  const groups = (await engine.failureGroups()).items
  const fingerprintOf = (code: string): string => groups.find(({ sample }) => sample.code === code)?.fingerprint ?? ''
  return { engine, call, fingerprintOf }
}

describe.each(STORES)('recovery closes a case (%s)', (kind) => {
  test('B2: when the last task that died of it has recovered, not before, and once', async () => {
    const { engine } = await fixture(kind, { CODE_A: ['a', 'b', 'c'] })
    await change(engine, 'redrive', 'a', 'b', 'c')
    // No dead letter is left, but two are still under way.
    await succeed(engine, 1)
    await follow(engine)
    await onTheClock(engine)
    expect((await groupEntries(engine)).map(({ type }) => type)).toEqual(['group.opened'])
    await succeed(engine)
    await Promise.all([follow(engine), follow(engine), follow(engine)])
    await onTheClock(engine)
    expect((await groupEntries(engine)).slice(1)).toMatchObject([
      {
        type: 'group.resolved',
        actor: 'cases',
        reason: 'No dead letter of it is left, and 3 tasks have recovered.',
        data: { recovered: 3, version: null },
      },
    ])
  })

  test('a task that dies again keeps it open; one that is given up or cancelled does not', async () => {
    const { engine, fingerprintOf, call } = await fixture(kind, { CODE_A: ['a', 'b', 'c', 'd'] })
    await change(engine, 'redrive', 'a', 'b')
    await succeed(engine, 1)
    await failAll(engine, 1, 'CODE_A')
    await change(engine, 'redrive', 'c')
    await change(engine, 'cancel', 'c')
    await change(engine, 'discard', 'd')
    await change(engine, 'revert', 'd')
    await follow(engine)
    const state = async (): Promise<unknown> =>
      call(ANN, 'getFailureGroup', { fingerprint: fingerprintOf('CODE_A') }).catch(() => 'no dead letters')
    expect(await state()).toMatchObject({ count: 2, case: { state: { status: 'open' }, recovered: 1 } })
    // Whichever of the two it was.
    await change(engine, 'redrive', 'a', 'b')
    await succeed(engine)
    await follow(engine)
    expect(await state()).toMatchObject({ count: 1, case: { state: { status: 'open' }, recovered: 2 } })
    // The last one is given up: what recovered before counts.
    await change(engine, 'discard', 'd')
    await follow(engine)
    expect((await groupEntries(engine)).map(({ type }) => type)).toEqual(['group.opened', 'group.resolved'])
  })

  test('a new death opens it again as a regression, a failed attempt alone does not', async () => {
    const { engine, fingerprintOf } = await fixture(kind, { CODE_A: ['a'] })
    await change(engine, 'redrive', 'a')
    await succeed(engine)
    await follow(engine)
    const types = async () => (await groupEntries(engine)).map(({ type }) => type)
    await failOnce(engine, 'b', fingerprintOf('CODE_A'))
    await follow(engine)
    expect(await types()).toEqual(['group.opened', 'group.resolved'])
    await died(engine, [spec('c')], 'CODE_A')
    await follow(engine)
    expect(await types()).toEqual(['group.opened', 'group.resolved', 'group.reopened'])
  })

  test('merged groups are over together', async () => {
    const { engine, call, fingerprintOf } = await fixture(kind, { CODE_A: ['a'], CODE_B: ['b'] })
    await call(ANN, 'mergeFailureGroups', {
      fingerprint: fingerprintOf('CODE_A'),
      from: [fingerprintOf('CODE_B')],
    })
    await change(engine, 'redrive', 'a')
    await succeed(engine)
    await follow(engine)
    const resolved = async () => (await groupEntries(engine)).filter(({ type }) => type === 'group.resolved')
    expect(await resolved()).toEqual([])
    await change(engine, 'redrive', 'b')
    await succeed(engine)
    await follow(engine)
    expect(await resolved()).toMatchObject([{ data: { fingerprint: fingerprintOf('CODE_A'), recovered: 2 } }])
  })
})
