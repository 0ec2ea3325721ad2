// Lease credentials: nobody makes one by guessing, and every process of a store makes and reads the same.

import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, type LeaseRef, type LeaseToken, StoreBusyError, taskId, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openLeaseCredentials, rotateKeys } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'

const REF: LeaseRef = { taskId: taskId('t1'), attempt: 1, token: '7.1' as LeaseToken }
const LEASE = { ...REF, startedAt: 1_000 }
const DAY_MS = 86_400_000

async function opened(path = ':memory:'): Promise<Engine> {
  const engine = await openSqliteEngine({ path })
  onTestFinished(() => engine.close())
  return engine
}

test('intruder 7: a credential is read for its own attempt only, and no other text is one', async () => {
  const { issue, read } = await openLeaseCredentials(await opened())
  const credential = issue(LEASE)
  expect(credential).toMatch(/^7\.1\.1\.[\w-]{22}$/)
  const { taskId: id, attempt } = REF
  const token = `${REF.token}.1`
  expect(read({ taskId: id, attempt, credential })).toEqual(REF)
  expect(read({ taskId: id, attempt: 2, credential })).toBeNull()
  expect(read({ taskId: taskId('t2'), attempt, credential })).toBeNull()
  const mac = credential.slice(token.length + 1)
  const spellings = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    .split('')
    .map((last) => `${token}.${mac.slice(0, -1)}${last}`)
    .filter((other) => other !== credential)
  for (const other of ['', '.', token, `${token}.`, `.${mac}`, mac, `7.2.${mac}`, `${credential}=`, ...spellings]) {
    expect([other, read({ taskId: id, attempt, credential: other })]).toEqual([other, null])
  }
})

test('intruder 7: a token is kept whole, however it is made', async () => {
  const { issue, read } = await openLeaseCredentials(await opened())
  const token = `12-0.lane.${'w.ö '.repeat(50)}` as LeaseToken
  const ref = { ...REF, token }
  expect(read({ ...REF, credential: issue({ ...LEASE, token }) })).toEqual(ref)
})

test('A15: all processes of a store issue the same, also those that come first at once and those that come later', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'credentials-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'reprise.db')
  const engines = [await opened(path), await opened(path), await opened(path)]
  const atOnce = await Promise.all(engines.map((engine) => openLeaseCredentials(engine)))
  const later = await openLeaseCredentials(await opened(path))
  expect(new Set([...atOnce, later].map(({ issue }) => issue(LEASE))).size).toBe(1)
  const elsewhere = await openLeaseCredentials(await opened())
  expect(elsewhere.read({ ...REF, credential: later.issue(LEASE) })).toBeNull()
})

test('fault 1: a store that is out of reach is asked again the next time', async () => {
  const engine = await opened()
  let isAway = true
  const flaky: Engine = {
    ...engine,
    collection(definition) {
      const collection = engine.collection(definition)
      const get: typeof collection.get = async (id) => {
        if (isAway) throw new StoreBusyError('out of reach')
        return collection.get(id)
      }
      return { ...collection, get, insert: (document) => collection.insert(document) }
    },
  }
  await expect(openLeaseCredentials(flaky)).rejects.toThrow('out of reach')
  isAway = false
  const credentials = await openLeaseCredentials(flaky)
  expect(credentials.issue(LEASE)).toBe((await openLeaseCredentials(engine)).issue(LEASE))
})

/** Two processes on one store, whose clock is ours. */
async function twoProcesses() {
  const directory = await mkdtemp(join(tmpdir(), 'credentials-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const clock = new VirtualClock(1_000_000)
  const open = async (): Promise<Engine> => {
    const engine = await openSqliteEngine({ path: join(directory, 'reprise.db'), clock })
    onTestFinished(() => engine.close())
    return engine
  }
  return { clock, one: await open(), other: await open() }
}

test('intruder 7: a key is changed without a gap: old credentials are read until their key ends', async () => {
  const { clock, one, other } = await twoProcesses()
  const old = (await openLeaseCredentials(other, clock)).issue({ ...REF, startedAt: clock.now() })
  const keys = await rotateKeys(one, 'lease-credentials', { keepMs: DAY_MS, clock })
  expect(keys.map(({ id, until }) => [id, until === null])).toEqual([
    ['1', false],
    ['2', true],
  ])
  // Not before every process knows it.
  expect((await openLeaseCredentials(one, clock)).issue({ ...REF, startedAt: clock.now() })).toBe(old)
  clock.jump(60_000)
  const fresh = (await openLeaseCredentials(one, clock)).issue({ ...REF, startedAt: clock.now() })
  expect(fresh).toMatch(/^7\.1\.2\./)
  for (const engine of [one, other]) {
    const { read } = await openLeaseCredentials(engine, clock)
    expect(read({ ...REF, credential: fresh })).toEqual(REF)
    expect(read({ ...REF, credential: old })).toEqual(REF)
  }
  clock.jump(DAY_MS)
  for (const engine of [one, other]) {
    const { read } = await openLeaseCredentials(engine, clock)
    expect(read({ ...REF, credential: fresh })).toEqual(REF)
    expect(read({ ...REF, credential: old })).toBeNull()
  }
})

test('A15: a lease has the same credential after its key has changed, whichever process is asked', async () => {
  const { clock, one, other } = await twoProcesses()
  const lease = { ...REF, startedAt: clock.now() }
  const before = (await openLeaseCredentials(one, clock)).issue(lease)
  await rotateKeys(other, 'lease-credentials', { clock })
  clock.jump(DAY_MS)
  for (const engine of [one, other]) expect((await openLeaseCredentials(engine, clock)).issue(lease)).toBe(before)
})

test('intruder 7: a key that was stolen ends at once, and everywhere within seconds', async () => {
  const { clock, one, other } = await twoProcesses()
  const stolen = (await openLeaseCredentials(one, clock)).issue(LEASE)
  await rotateKeys(one, 'lease-credentials', { clock })
  await rotateKeys(one, 'lease-credentials', { keepMs: 0, clock })
  const here = await openLeaseCredentials(one, clock)
  expect(here.read({ ...REF, credential: stolen })).toBeNull()
  expect(here.issue({ ...REF, startedAt: clock.now() })).toMatch(/^7\.1\.3\./)
  clock.jump(15_000)
  expect((await openLeaseCredentials(other, clock)).read({ ...REF, credential: stolen })).toBeNull()
})

test('A16: credentials of a store that is older than key rings go on, and so does their key', async () => {
  const { clock, one } = await twoProcesses()
  const secret = Buffer.alloc(32, 7).toString('base64url')
  const secrets = one.collection<{ id: string; secret: string }>({ name: 'secrets', indexes: {} })
  await secrets.insert({ id: 'lease-credentials', secret })
  const mac = createHmac('sha256', Buffer.alloc(32, 7))
    .update(JSON.stringify(['t1', 1, '7.1']))
    .digest()
  const old = `7.1.${mac.subarray(0, 16).toString('base64url')}`
  const lease = { ...REF, startedAt: clock.now() }
  expect((await openLeaseCredentials(one, clock)).issue(lease)).toBe(old)
  await rotateKeys(one, 'lease-credentials', { keepMs: DAY_MS, clock })
  clock.jump(60_000)
  const { issue, read } = await openLeaseCredentials(one, clock)
  expect(issue({ ...REF, startedAt: clock.now() })).toMatch(/^7\.1\.1\./)
  expect(read({ ...REF, credential: old })).toEqual(REF)
  expect(issue(lease)).toBe(old)
})

test('intruder 7: keys that are made without end are refused', async () => {
  const { clock, one } = await twoProcesses()
  const rotateOften = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn++) await rotateKeys(one, 'seals', { clock })
  }
  await expect(rotateOften()).rejects.toMatchObject({ code: 'REPRISE_CONFLICT' })
})
