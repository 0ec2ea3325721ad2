// Files that are not in UTF-8, wherever a command reads one: read as UTF-8 they would be texts that nobody wrote.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, test } from 'vitest'
import { shell } from './shell.ts'

test.each([
  ['a payload', ['submit', 'greet', '@latin']],
  ['a file of tasks', ['submit', '--bulk', 'latin']],
  ['a file to import', ['import', 'latin']],
  ['chunks of a job', ['job', 'run', 'greet', '--file', 'latin', '--format', 'ndjson']],
  ['the secret of a channel', ['channels', 'create', 'pager', '--kind', 'pagerduty', '--set', 'routingKey=@latin']],
])('fault 23: %s in Latin-1 is refused, and nothing is submitted', async (_, argv) => {
  const { folder, reprise } = shell()
  writeFileSync(join(folder, 'latin'), Buffer.from('{"action":"greet","payload":{"name":"Jos\xe9"}}\n', 'latin1'))
  const path = join(folder, 'store.db')
  await (await openSqliteEngine({ path })).close()
  const engine = `sqlite:${path}`
  expect((await reprise('submit', 'greet', '{"name":"José"}', '--engine', engine)).exitCode).toBe(0)
  const { exitCode, stderr } = await reprise(...argv, '--engine', engine)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is not a text in UTF-8')])
  const { stdout } = await reprise('list', '--engine', engine, '-o', 'jsonl')
  expect(stdout.trim().split('\n')).toHaveLength(1)
})
