// Who may read the files of a store.

import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, onTestFinished, test } from 'vitest'

const modeOf = (path: string): number => statSync(path).mode & 0o777

test('intruder 15: a new store, its log and its backup are for their owner only; a file that is there keeps its mode', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-mode-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const path = join(folder, 'store.db')
  const engine = await openSqliteEngine({ path })
  await engine.backup(join(folder, 'copy.db'))
  expect([path, `${path}-wal`, `${path}-shm`, join(folder, 'copy.db')].map(modeOf)).toEqual(Array(4).fill(0o600))
  await engine.close()
  chmodSync(path, 0o640)
  const again = await openSqliteEngine({ path })
  expect([path, `${path}-wal`].map(modeOf)).toEqual([0o640, 0o640])
  await again.close()
})
