// Credentials that are not known yet, while looking them up takes long; and addresses as proxies write them.

import { VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { FailureLimit } from '../../src/access/failure-limit.ts'
import { RemoteAddresses } from '../../src/access/remote-address.ts'

test('intruder 11: only so many made-up credentials of one address are looked up at once', async () => {
  const limit = new FailureLimit(new VirtualClock())
  const away = Promise.withResolvers<string>()
  const ask = (address: string, credential: string) => limit.guarded(address, credential, () => away.promise)
  await limit.guarded('192.0.2.1', 'good', async () => 'known')
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
  const ask = (host: number) => limit.guarded(`2001:db8::${host.toString(16)}`, 'made-up', () => away.promise)
  const held = Array.from({ length: 1_000 }, (_, turn) => ask(turn))
  await expect(ask(1)).rejects.toMatchObject({ status: 429 })
  away.reject(new Error('The store is away.'))
  expect((await Promise.allSettled(held)).every(({ status }) => status === 'rejected')).toBe(true)
  await expect(ask(1)).rejects.toThrow('The store is away.')
})

test('intruder 11: a port in X-Forwarded-For is left out', () => {
  const addresses = new RemoteAddresses(['10.0.0.0/8'])
  expect(addresses.addressOf('10.0.0.1', '203.0.113.7:5555')).toBe('203.0.113.7')
  expect(addresses.addressOf('10.0.0.1', '[2001:db8::1]:443, 10.0.0.2:80')).toBe('2001:db8::1')
  expect(addresses.addressOf('10.0.0.1', '[2001:db8::1]')).toBe('2001:db8::1')
  expect(addresses.addressOf('10.0.0.1', '203.0.113.7:x')).toBe('10.0.0.1')
})
