// Credentials that are not known yet, while looking them up takes long; and addresses as proxies write them.

import { RequestError, VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { FailureLimit } from '../../src/access/failure-limit.ts'
import { RemoteAddresses } from '../../src/access/remote-address.ts'

test('intruder 11: only so many made-up credentials of one address are looked up at once', async () => {
  const limit = new FailureLimit(new VirtualClock())
  const away = Promise.withResolvers<string>()
  const ask = (address: string, credential: string) =>
    limit.guarded(address, { kind: 'api-token', credential }, () => away.promise)
  await limit.guarded('192.0.2.1', { kind: 'api-token', credential: 'good' }, async () => 'known')
  const held = Array.from({ length: 50 }, (_, turn) => ask('192.0.2.1', `made-up-${turn}`))
  await expect(ask('192.0.2.1', 'one-more')).rejects.toMatchObject({ status: 429, retryAfterMs: 1_000 })
  // What is being looked up already costs nothing more, nor do those who are known, nor do other addresses.
  held.push(ask('192.0.2.1', 'made-up-7'), ask('192.0.2.1', 'good'), ask('192.0.2.2', 'one-more'))
  away.resolve('found')
  expect(new Set(await Promise.all(held))).toEqual(new Set(['found']))
  expect(await ask('192.0.2.1', 'one-more')).toBe('found')
})

test('intruder 11: nor may requests without end wait for one credential, or for an address of the same network', async () => {
  const limit = new FailureLimit(new VirtualClock())
  const away = Promise.withResolvers<string>()
  const given = { kind: 'session', credential: 'made-up' } as const
  const ask = (host: number) => limit.guarded(`2001:db8::${host.toString(16)}`, given, () => away.promise)
  const held = Array.from({ length: 1_000 }, (_, turn) => ask(turn))
  await expect(ask(1)).rejects.toMatchObject({ status: 429 })
  away.reject(new Error('The store is away.'))
  expect((await Promise.allSettled(held)).every(({ status }) => status === 'rejected')).toBe(true)
  await expect(ask(1)).rejects.toThrow('The store is away.')
})

const KINDS = ['api-token', 'id-token', 'session', 'link', 'lease', 'sign-in'] as const
const wrong = async (): Promise<never> => {
  throw new RequestError('REPRISE_UNAUTHENTICATED', 'Wrong.')
}

test.each(KINDS)('intruder 11: failures of the kind %s hold up no other kind', async (kind) => {
  const limit = new FailureLimit(new VirtualClock(), { burst: 3, everyMs: 2_000 })
  const guess = (credential: string) => limit.guarded('192.0.2.1', { kind, credential }, wrong)
  for (let turn = 0; turn < 3; turn++) await expect(guess(`g${turn}`)).rejects.toMatchObject({ status: 401 })
  await expect(guess('g3')).rejects.toMatchObject({ status: 429, retryAfterMs: 2_000 })
  for (const other of KINDS.filter((one) => one !== kind)) {
    const given = { kind: other, credential: 'unused' }
    expect(await limit.guarded('192.0.2.1', given, async () => 'in')).toBe('in')
  }
})

test('intruder 11: what can be checked here is never refused for the failures of others', async () => {
  const limit = new FailureLimit(new VirtualClock(), { burst: 1, everyMs: 2_000 })
  for (const kind of KINDS) {
    for (let turn = 0; turn < 5; turn++) {
      await limit.guarded('192.0.2.1', { kind, credential: `g${turn}` }, wrong).catch(() => undefined)
    }
  }
  const sealed = { credential: 'unused', isSealed: () => true }
  for (const kind of ['api-token', 'session', 'link'] as const) {
    expect(await limit.guarded('192.0.2.1', { kind, ...sealed }, async () => kind)).toBe(kind)
  }
  for (const kind of ['id-token', 'lease'] as const) {
    expect(await limit.guarded('192.0.2.1', { kind, credential: 'unused' }, async () => kind)).toBe(kind)
  }
})

test('intruder 11: a port in X-Forwarded-For is left out', () => {
  const addresses = new RemoteAddresses(['10.0.0.0/8'])
  expect(addresses.addressOf('10.0.0.1', '203.0.113.7:5555')).toBe('203.0.113.7')
  expect(addresses.addressOf('10.0.0.1', '[2001:db8::1]:443, 10.0.0.2:80')).toBe('2001:db8::1')
  expect(addresses.addressOf('10.0.0.1', '[2001:db8::1]')).toBe('2001:db8::1')
  expect(addresses.addressOf('10.0.0.1', '203.0.113.7:x')).toBe('10.0.0.1')
})
