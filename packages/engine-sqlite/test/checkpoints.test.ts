// The log is copied into the file by a thread, while the store is in use and without anybody who asks for it.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { encodeJson } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { spec, temporaryFolder } from './fixture.ts'

interface Log {
  readonly log: number
  readonly checkpointed: number
}

test('a log that has grown is copied into the file, long before the connection itself would do it', async () => {
  const path = join(temporaryFolder(), 'store.db')
  const engine = await openSqliteEngine({ path, durability: 'fast' })
  onTestFinished(() => engine.close())
  const beside = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => beside.close())
  const look = () => beside.prepare('PRAGMA wal_checkpoint(NOOP)').get() as unknown as Log

  const payload = encodeJson('x'.repeat(500_000), 'payload')
  let number = 0
  // Looked at before each submission: the first commit after a whole checkpoint begins the log anew, and its count with it.
  const copied = async (): Promise<number> => {
    const { checkpointed } = look()
    if (checkpointed === 0) await engine.submit([spec(`task-${number++}`, { payload })])
    return checkpointed
  }
  await expect.poll(copied, { timeout: 60_000 }).toBeGreaterThan(0)
  expect(look().log).toBeLessThan(16_000)
})
