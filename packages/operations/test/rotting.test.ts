// Dead letters don't rot (B14): who owns them, reminders by age, each once, and the report by owner and age.

import { durationMs, type JournalEntry } from '@reprise/core'
import { FIRST_PLACE, followOnce, remindSome } from '@reprise/orchestrator'
import { afterAll, describe, expect, test } from 'vitest'
import { SkippingClock, STORES, spec, stopRedis } from './events/fixture.ts'
import { ACME, ANN, died, storeWithCaller } from './store-with-caller.ts'

afterAll(stopRedis)

const DAY_MS = 86_400_000

const POLICIES = `
policies:
  - name: cards
    match: { codes: [CARD_*] }
    escalation: { owner: team:cards }
owners:
  - owner: team:acme
    match: { tenants: [acme] }
  - owner: team:billing
    match: { actions: [render], codes: [CODE_A] }
    remind: [4h, 2d]
remind: [1d, 3d]
`

async function fixture(kind: (typeof STORES)[number]) {
  const clock = new SkippingClock()
  const { engine, context, call } = await storeWithCaller(kind, clock)
  await context.policies.publish(POLICIES, 'operator:ann')
  const follow = async (): Promise<void> => {
    while (await followOnce(engine));
  }
  const remind = async (): Promise<void> => {
    let place: Awaited<ReturnType<typeof remindSome>> = FIRST_PLACE
    while (place !== null) place = await remindSome(engine, context.policies, place)
  }
  const reminders = async (): Promise<readonly JournalEntry[]> =>
    (await engine.journal.read({ limit: 1_000 })).entries.filter(({ type }) => type === 'group.reminded')
  const fingerprintOf = async (code: string): Promise<string> =>
    (await engine.failureGroups()).items.find(({ sample }) => sample.code === code)?.fingerprint ?? ''
  return { clock, engine, call, follow, remind, reminders, fingerprintOf }
}

describe.each(STORES)('dead letters do not rot (%s)', (kind) => {
  test('the owner is whom the operator named, else a rule, else the policy of the failure; shown with groups and dead letters', async () => {
    const { engine, call, follow, fingerprintOf } = await fixture(kind)
    await died(engine, [spec('a', { tenant: 'acme' as never }), spec('b')], 'CODE_A')
    await died(engine, [spec('c')], 'CARD_1')
    await died(engine, [spec('d')], 'OTHER')
    await follow()
    const owner = async (code: string): Promise<unknown> =>
      ((await call(ANN, 'getFailureGroup', { fingerprint: await fingerprintOf(code) })) as { owner?: unknown }).owner
    expect(await owner('CODE_A')).toBe('team:billing')
    expect(await owner('CARD_1')).toBe('team:cards')
    expect(await owner('OTHER')).toBeNull()
    // A single dead letter has a tenant.
    expect(await call(ANN, 'getTask', { id: 'a' })).toMatchObject({ owner: 'team:acme' })
    expect(await call(ANN, 'getTask', { id: 'b' })).toMatchObject({ owner: 'team:billing' })
    expect(await call(ACME, 'getTask', { id: 'a' })).not.toHaveProperty('owner')
    await call(ANN, 'acknowledgeFailureGroup', { fingerprint: await fingerprintOf('CODE_A'), owner: 'person:bob' })
    expect(await owner('CODE_A')).toBe('person:bob')
    expect(await call(ANN, 'getTask', { id: 'a' })).toMatchObject({ owner: 'person:bob' })
  })

  test('B14: reminds of a case once for each time that it has stood, by its owner, and anew after somebody did something', async () => {
    const { clock, engine, call, follow, remind, reminders, fingerprintOf } = await fixture(kind)
    await died(engine, [spec('a'), spec('b')], 'CODE_A')
    await died(engine, [spec('z')], 'OTHER')
    await follow()
    await remind()
    expect(await reminders()).toEqual([])
    clock.skip(durationMs('5h'))
    // Several orchestrators at once.
    await Promise.all([remind(), remind(), remind()])
    await remind()
    expect(await reminders()).toMatchObject([
      {
        actor: 'reminders',
        reason: '2 dead letters wait: the case of render is open for 4h, and its owner is team:billing.',
        data: { owner: 'team:billing', count: 2, status: 'open', afterMs: durationMs('4h') },
      },
    ])
    clock.skip(4 * DAY_MS)
    await remind()
    await remind()
    // Of several that are due, the last; the other cause has nobody, and the times of the book.
    const latest = (await reminders()).slice(1).map(({ data }) => [data.owner, data.afterMs])
    expect(latest.toSorted()).toEqual([
      [null, 3 * DAY_MS],
      ['team:billing', 2 * DAY_MS],
    ])
    const fingerprint = await fingerprintOf('CODE_A')
    await call(ANN, 'acknowledgeFailureGroup', { fingerprint, owner: 'person:bob' })
    clock.skip(durationMs('5h'))
    await remind()
    expect((await reminders()).at(-1)?.data).toMatchObject({ owner: 'person:bob', status: 'acknowledged' })
    expect(await reminders()).toHaveLength(4)
  })

  test('reminds of nothing that is resolved, ignored, or has no dead letters left', async () => {
    const { clock, engine, call, follow, remind, reminders, fingerprintOf } = await fixture(kind)
    for (const code of ['CODE_A', 'CODE_B', 'CODE_C']) await died(engine, [spec(code)], code)
    await follow()
    await call(ANN, 'resolveFailureGroup', { fingerprint: await fingerprintOf('CODE_A') })
    await call(ANN, 'ignoreFailureGroup', { fingerprint: await fingerprintOf('CODE_B'), count: 5 })
    await call(ANN, 'discardTasks', { ids: ['CODE_C'], reason: 'not needed' })
    clock.skip(10 * DAY_MS)
    await remind()
    expect(await reminders()).toEqual([])
  })

  test('the report sums what waits by owner and age, and lists the oldest first', async () => {
    const { clock, engine, call, follow, fingerprintOf } = await fixture(kind)
    await died(engine, [spec('old')], 'OTHER')
    await follow()
    clock.skip(4 * DAY_MS)
    await died(engine, [spec('a'), spec('b')], 'CODE_A')
    await died(engine, [spec('gone')], 'CODE_B')
    await follow()
    await call(ANN, 'resolveFailureGroup', { fingerprint: await fingerprintOf('CODE_B') })
    expect(await call(ANN, 'reportOpenGroups', {})).toMatchObject({
      owners: [
        { owner: null, groups: 1, deadLetters: 1, ages: [0, 0, 1, 0] },
        { owner: 'team:billing', groups: 1, deadLetters: 2, ages: [1, 0, 0, 0] },
      ],
      groups: [
        { code: 'OTHER', owner: null, status: 'open', deadLetters: 1, remindedAt: null },
        { code: 'CODE_A', owner: 'team:billing', deadLetters: 2 },
      ],
      isWhole: true,
    })
    await expect(call(ACME, 'reportOpenGroups', {})).rejects.toMatchObject({ code: 'REPRISE_FORBIDDEN' })
  })
})
