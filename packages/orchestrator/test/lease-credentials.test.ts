// Lease credentials: nobody makes one by guessing, and every process of a store makes and reads the same.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, type LeaseRef, type LeaseToken, StoreBusyError, taskId } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openLeaseCredentials } from '@reprise/orchestrator'
import { expect, onTestFinished, test } from 'vitest'

const REF: LeaseRef = { taskId: taskId('t1'), attempt: 1, token: '7.1' as LeaseToken }

async function opened(path = ':memory:'): Promise<Engine> {
  const engine = await openSqliteEngine({ path })
  onTestFinished(() => engine.close())
  return engine
}

test('intruder 7: a credential is read for its own attempt only, and no other text is one', async () => {
  const { issue, read } = await openLeaseCredentials(await opened())
  const credential = issue(REF)
  expect(credential).toMatch(/^7\.1\.[\w-]{22}$/)
  const { taskId: id, attempt, token } = REF
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
  expect(read({ ...REF, credential: issue(ref) })).toEqual(ref)
})

test('A15: all processes of a store issue the same, also those that come first at once and those that come later', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'credentials-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'reprise.db')
  const engines = [await opened(path), await opened(path), await opened(path)]
  const atOnce = await Promise.all(engines.map((engine) => openLeaseCredentials(engine)))
  const later = await openLeaseCredentials(await opened(path))
  expect(new Set([...atOnce, later].map(({ issue }) => issue(REF))).size).toBe(1)
  const elsewhere = await openLeaseCredentials(await opened())
  expect(elsewhere.read({ ...REF, credential: later.issue(REF) })).toBeNull()
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
  expect(credentials.issue(REF)).toBe((await openLeaseCredentials(engine)).issue(REF))
})
