// A file that was exchanged for an older copy between two runs: a note beside the store knows how far it had come. What the note
// can't know is tried here too: a whole folder that is put back, and another store under the same name.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, test } from 'vitest'
import { specs, storeProcess, temporaryFolder } from './fixture.ts'

const FILES = ['', '-wal', '-shm'] as const

async function opened(path: string, name: string | null): Promise<number> {
  const engine = await openSqliteEngine({ path, durability: 'fast' })
  if (name !== null) await engine.submit(specs(10, name))
  const { length } = await engine.setbacks()
  await engine.close()
  return length
}

function putBack(copy: string, path: string): void {
  for (const end of FILES) rmSync(path + end, { force: true })
  cpSync(copy, path)
}

test('an older copy that was put back is told, until it has been told', async () => {
  const folder = temporaryFolder()
  const [path, copy] = [join(folder, 'store.db'), join(folder, 'copy.db')]
  expect(await opened(path, 'first')).toBe(0)
  cpSync(path, copy)
  expect(await opened(path, 'second')).toBe(0)
  putBack(copy, path)
  // A process that ends before anybody asked leaves it to the next.
  await (await openSqliteEngine({ path, durability: 'fast' })).close()

  const engine = await openSqliteEngine({ path, durability: 'fast' })
  const [setback, ...others] = await engine.setbacks()
  expect(others).toEqual([])
  expect(setback?.found).toBeLessThan(setback?.seen ?? 0)
  expect(setback?.seenAt).toBeLessThanOrEqual(setback?.foundAt ?? 0)
  expect(await engine.setbacks()).toEqual([setback])
  await engine.close()
  expect(await opened(path, null)).toBe(0)
})

test('a process that was killed left its note as well', async () => {
  const folder = temporaryFolder()
  const [path, copy] = [join(folder, 'store.db'), join(folder, 'copy.db')]
  expect(await opened(path, 'first')).toBe(0)
  cpSync(path, copy)
  const working = storeProcess(path, 'witness', 'a')
  expect(await working.line()).toBe('looked')
  working.child.kill('SIGKILL')
  await working.ended
  putBack(copy, path)
  expect(await opened(path, null)).toBe(1)
})

test('restarts, another store under the same name, and a folder that is put back as a whole are no setback', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'store.db')
  const whole = temporaryFolder()
  for (const name of ['first', 'second']) expect(await opened(path, name)).toBe(0)
  cpSync(folder, whole, { recursive: true })
  expect(await opened(path, 'third')).toBe(0)
  rmSync(folder, { recursive: true })
  cpSync(whole, folder, { recursive: true })
  expect(await opened(path, 'fourth')).toBe(0)
  for (const end of FILES) rmSync(path + end, { force: true })
  expect(await opened(path, null)).toBe(0)
})
