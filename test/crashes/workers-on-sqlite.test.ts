// Workers killed by SIGKILL under load lose nothing and settle nothing twice: on SQLite, whose file stays whole.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { killWorkersUnderLoad } from './processes/kill-workers.ts'

const KILLS = 20

test(`A15, fault 5: ${KILLS} kills on SQLite: nothing is lost, nothing is settled twice`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-crashes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  const engine = await openSqliteEngine({ path })
  // Every kill hit running work.
  expect(await killWorkersUnderLoad(engine, `sqlite:${path}`, KILLS)).toBeGreaterThanOrEqual(KILLS)
  await engine.close()
  const db = new DatabaseSync(path)
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  db.close()
}, 900_000)
