// Where a request may go: public addresses, and what the configuration allows, in whatever spelling and by whatever name.

import { expect, test } from 'vitest'
import { AddressPolicy, isPublicAddress } from '../src/http/addresses.ts'
import { anOrder, never } from './fixture.ts'
import { anHttpLauncher, aPlugin, json } from './http-fixture.ts'

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '0.1.2.3',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '64:ff9b::168.63.129.16',
  '64:ff9b::a83f:8110',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.0.192',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.175.48.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::127.0.0.1',
  '::1.1.1.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:0:a83f:8110::1',
  '2001:2::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '2002:a83f:8110::1',
  '::ffff:0:127.0.0.1',
  '64:ff9b:1:a83f:81:1000::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  '127.1',
])('intruder 5: %s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  '1.1.1.1',
  '93.184.216.34',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '::ffff:1.1.1.1',
  '64:ff9b::1.1.1.1',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

const metadata = (allow: readonly string[], address = '168.63.129.16') =>
  new AddressPolicy(allow, async () => [{ address }]).addressesOf(new URL('http://metadata.google.internal/'))

test('intruder 5: a host name in the list does not open a metadata service; its own address does', async () => {
  for (const address of ['168.63.129.16', '169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254']) {
    for (const allow of [['*.internal'], ['metadata.google.internal'], ['0.0.0.0/0', '::/0'], ['169.254.0.0/16']]) {
      await expect(metadata(allow, address)).rejects.toThrow(/not a public one/)
    }
  }
  await expect(metadata(['168.63.129.16'])).resolves.toHaveLength(1)
  await expect(metadata(['169.254.169.254/32'], '169.254.169.254')).resolves.toHaveLength(1)
  await expect(metadata(['*.internal'], '10.1.2.3')).resolves.toHaveLength(1)
})

const spellings = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://①②⑦.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://0/',
  'http://169.254.169.254/latest/meta-data/',
]

test.each(spellings)('intruder 5: %s is refused before anything is sent', async (url) => {
  await expect(new AddressPolicy([]).addressesOf(new URL(url))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
})

test('intruder 5: localhost is refused by what it resolves to; other schemes by name', async () => {
  const policy = new AddressPolicy([])
  await expect(policy.addressesOf(new URL('http://localhost/'))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
  await expect(policy.addressesOf(new URL('file:///etc/passwd'))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
})

test('intruder 5: one address among several that is not public is enough', async () => {
  const policy = new AddressPolicy([], () => Promise.resolve([{ address: '1.1.1.1' }, { address: '::ffff:10.0.0.1' }]))
  await expect(policy.addressesOf(new URL('http://plugin.example/'))).rejects.toMatchObject({ name: 'PermanentError' })
})

test.each([
  ['plugin.example', 'http://plugin.example:99/'],
  ['plugin.example:99', 'http://plugin.example:99/'],
  ['*.example', 'http://plugin.example/'],
  ['10.0.0.0/8', 'http://plugin.example/'],
  ['10.1.2.3', 'http://plugin.example/'],
])('allow %s lets %s through', async (entry, url) => {
  const policy = new AddressPolicy([entry], () => Promise.resolve([{ address: '10.1.2.3' }]))
  expect(await policy.addressesOf(new URL(url))).toEqual([{ address: '10.1.2.3', family: 4 }])
})

test.each([
  ['plugin.example:99', 'http://plugin.example/'],
  ['*.example', 'http://example/'],
  ['*.example', 'http://pluginXexample/'],
  ['example', 'http://plugin.example/'],
  ['10.9.0.0/16', 'http://plugin.example/'],
  ['fd00::/8', 'http://plugin.example/'],
])('allow %s does not let %s through', async (entry, url) => {
  const policy = new AddressPolicy([entry], () => Promise.resolve([{ address: '10.1.2.3' }]))
  await expect(policy.addressesOf(new URL(url))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
})

test('intruder 5: DNS rebinding: a host is resolved once, and the connection goes to what was checked', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 200, {}))
  const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
  const asked: string[] = []
  const launcher = anHttpLauncher(plugin, {
    baseUrl: `http://plugin.example:${plugin.port}`,
    resolve: (host) => {
      asked.push(host)
      return Promise.resolve([{ address: answers[asked.length - 1] ?? '' }])
    },
  })
  await launcher.launch(anOrder(), never)
  expect(asked).toEqual(['plugin.example'])
  expect(plugin.received[0]?.headers.host).toBe(`plugin.example:${plugin.port}`)
})

test('intruder 5: a launcher without an allow-list does not call this host', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 200, {}))
  const launcher = anHttpLauncher(plugin, { allow: [] })
  await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({
    code: 'ADDRESS_REFUSED',
    name: 'PermanentError',
  })
  expect(plugin.received).toEqual([])
})
