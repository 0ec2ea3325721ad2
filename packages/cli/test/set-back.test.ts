// A store that was exchanged for an older copy between two runs of `reprise up`: the log, status and inspect say so, and an
// inspection with repair accepts the loss. And a store that is emptied under `reprise up`: commands can still ask.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { shell } from './shell.ts'

const LOST = /lost writes that it had acknowledged: it had come to number \d+ at \S+, and went on from \d+ at \S+/

const PATIENCE = { timeout: 60_000 }

test('6: an older copy under a store is said by the log, by status and by inspect, until it is accepted', async () => {
  const before = shell()
  const path = join(before.folder, 'store.db')
  const there = ['--engine', `sqlite:${path}`]
  await (await createClient({ engine: `sqlite:${path}` })).close()
  const submit = (id: string) => before.reprise('submit', 'mail.send', '{}', '--id', id, ...there)
  expect(await submit('one')).toMatchObject({ exitCode: 0 })
  cpSync(path, `${path}.copy`)
  expect(await submit('two')).toMatchObject({ exitCode: 0 })
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  cpSync(`${path}.copy`, path)

  const after = shell()
  const up = after.reprise('up', '--engine', `sqlite:${path}`, '--port', '0', '--no-demo')
  expect(await after.heard(LOST, up)).toMatch(LOST)
  await vi.waitFor(async () => {
    const status = await before.reprise('status', ...there)
    expect(status.stdout).toMatch(LOST)
  }, PATIENCE)
  const look = await before.reprise('inspect', '-o', 'json', ...there)
  expect(look.exitCode).toBe(1)
  expect(JSON.parse(look.stdout)).toMatchObject({ findings: [{ kind: 'set_back', repaired: false }] })
  expect(await before.reprise('inspect', '--reconcile', '--yes', ...there)).toMatchObject({ exitCode: 0 })
  expect(await before.reprise('inspect', ...there)).toMatchObject({ exitCode: 0 })
  expect((await before.reprise('status', ...there)).stdout).not.toMatch(LOST)
  after.ask()
  await up
})

test('16: a server whose store was emptied is asked as before, and says so', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const here = shell()
  const up = here.reprise('up', '--engine', redis.url, '--port', '0', '--no-demo')
  await here.heard(/Reprise runs at/, up)
  expect(await here.reprise('submit', 'mail.send', '{}')).toMatchObject({ exitCode: 0 })
  await redis.command('FLUSHALL')
  await vi.waitFor(async () => expect((await here.reprise('status')).stdout).toMatch(LOST), PATIENCE)
  here.ask()
  expect(await up).toMatchObject({ exitCode: 0 })
}, 120_000)
