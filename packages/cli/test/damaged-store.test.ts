// A disk that fails under a running server: SQLite can't write its file any more (fault 24). Real processes, under a limit on the
// size of files, which makes a write fail otherwise than a full disk does.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { createClient } from '@reprise/client'
import { isRepriseError } from '@reprise/core'
import { expect, onTestFinished, test } from 'vitest'
import { readLocalServer } from '../src/local-server.ts'

const BIN = join(import.meta.dirname, '..', 'bin', 'reprise.mjs')
/** More than a new store has. */
const FILE_KIB_MAX = 6_000

function limited(folder: string, argv: readonly string[]): ChildProcess {
  const child = spawn('sh', ['-c', `ulimit -f ${2 * FILE_KIB_MAX}; exec "$0" "$@"`, process.execPath, BIN, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('fault 24: a server whose disk fails acknowledges nothing more, and ends; what it acknowledged is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-damaged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const child = limited(folder, ['up', '--no-demo', '--port', '0', '--data', 'data'])
  if (child.stderr === null || child.stdout === null) throw new Error('It has no pipes.')
  const exited = once(child, 'exit')
  const said = text(child.stderr)
  await once(child.stdout, 'data')
  const local = await readLocalServer(join(folder, 'data'))
  if (local === null) throw new Error('It left no word.')
  const client = await createClient({ url: local.url, token: local.token, timeout: '2s' })
  onTestFinished(() => client.close())
  const acknowledged: string[] = []
  const payload = 'x'.repeat(20_000)
  const submitted = async (): Promise<never> => {
    for (;;) {
      const ids = Array.from({ length: 20 }, (_, index) => `t${acknowledged.length + index}`)
      const inputs = ids.map(() => payload)
      await client.submitMany('nobody', inputs, (_, index) => ({ id: ids[index] ?? '' }))
      acknowledged.push(...ids)
    }
  }
  // Refused, or not answered any more: another part of the process may have found out first.
  await expect(submitted()).rejects.toSatisfy(isRepriseError)
  expect(await exited).toEqual([1, null])
  expect(await said).toContain('The store takes nothing more from this process')
  const db = new DatabaseSync(join(folder, 'data', 'reprise.db'))
  onTestFinished(() => db.close())
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  const there = new Set(
    db
      .prepare('SELECT id FROM tasks')
      .all()
      .map(({ id }) => id),
  )
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(0)
})
