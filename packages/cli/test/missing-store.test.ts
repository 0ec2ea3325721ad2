// A mistyped address of a store: no command but the roles creates one there, and the refusal names the store that may have
// been meant.

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../src/doctor/finding.ts'
import { shell } from './shell.ts'

const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['list'],
  ['inspect'],
  ['export'],
  ['token', 'create', 'ci', '--role', 'viewer'],
  ['submit', 'greet', '{}'],
  ['policy', 'list'],
  ['workers'],
]

test('4: a typo in --engine sqlite: creates nothing, and names the store beside it', async () => {
  const here = shell()
  const right = join(here.folder, 'orders.db')
  await (await createClient({ engine: `sqlite:${right}` })).close()
  const files = readdirSync(here.folder).toSorted()
  for (const command of COMMANDS) {
    const { exitCode, stdout, stderr } = await here.reprise(...command, '--engine', 'sqlite:./order.db')
    expect([command, exitCode, stdout]).toEqual([command, 3, ''])
    expect(stderr).toContain(`There is no store at '${join(here.folder, 'order.db')}'. Did you mean '${right}'?`)
  }
  const doctor = await here.reprise('doctor', '-o', 'json', '--port', '0', '--engine', 'sqlite:./order.db')
  const { findings } = JSON.parse(doctor.stdout) as { findings: readonly Finding[] }
  expect(doctor.exitCode).toBe(1)
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'store', state: 'fail', says: expect.stringContaining(right) as string }),
  )
  expect(readdirSync(here.folder).toSorted()).toEqual(files)
})

test('4: a folder that is not there, an empty file and a file without a schema of ours are no stores', async () => {
  const here = shell()
  writeFileSync(join(here.folder, 'empty.db'), '')
  for (const file of ['gone/reprise.db', 'empty.db']) {
    const { exitCode, stderr } = await here.reprise('status', '--engine', `sqlite:./${file}`)
    expect([file, exitCode]).toEqual([file, 3])
    expect(stderr).toContain('Nothing was created.')
  }
  expect(existsSync(join(here.folder, 'gone'))).toBe(false)
})

test('4: a typo in the prefix of Redis writes nothing, and names the store that is there', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  await (await createClient({ engine: `${redis.url}?prefix=orders` })).close()
  const keys = (): Promise<unknown> => redis.command('KEYS', '*')
  const before = await keys()
  for (const command of COMMANDS) {
    const { exitCode, stderr } = await shell().reprise(...command, '--engine', `${redis.url}?prefix=order`)
    expect([command, exitCode]).toEqual([command, 3])
    expect(stderr).toContain("There is no store at the prefix 'order' in Redis. Did you mean 'orders'?")
  }
  expect(await keys()).toEqual(before)
})

test('4: roles create the store that they are given', async () => {
  const here = shell()
  const running = here.reprise('up', '--port', '0', '-o', 'json', '--engine', 'sqlite:./new.db')
  await here.heard(/"link"/, running)
  here.ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0 })
  const looking = await shell().reprise('status', '--engine', `sqlite:${join(here.folder, 'new.db')}`)
  expect(looking.exitCode).toBe(0)
})
