// What the command line says to those who may not, to what is switched off, and how tokens are made and revoked with it.

import { OPERATIONS } from '@reprise/operations'
import { expect, test } from 'vitest'
import { GREET, seeded, serverAndStore, WAYS } from './server-and-store.ts'

const Tokens = OPERATIONS.listTokens.output.shape.items
const NewToken = OPERATIONS.createToken.output
const Keys = OPERATIONS.listKeys.output.shape.items

test('what a role may not do ends with 4, and without a token as well', async () => {
  const here = await serverAndStore()
  await seeded(here.engine)
  const viewer = await here.there('http', 'viewer')
  const worker = await here.there('http', 'worker')
  for (const argv of [
    ['submit', GREET],
    ['cancel', '--all', '--yes'],
    ['lanes', 'pause', '--all', '--yes'],
    ['flags', 'set', 'dlq-inspector', 'off'],
    ['token', 'list'],
    ['inspect', '--reconcile', '--yes'],
    ['retry', 'x'],
  ]) {
    expect({ argv, ...(await here.reprise(...argv, ...viewer)) }).toMatchObject({ argv, exitCode: 4, stdout: '' })
  }
  expect(await here.reprise('list', ...worker)).toMatchObject({ exitCode: 4, stdout: '' })
  const [, url = ''] = viewer
  const unknown = await here.reprise('list', '--url', url)
  expect(unknown).toMatchObject({ exitCode: 4, stdout: '' })
  expect(unknown.stderr).toContain('REPRISE_TOKEN')
})

test('B12: what is switched off ends with 4, and the overview does without it', async () => {
  const here = await serverAndStore()
  await seeded(here.engine)
  await here.over('http', 'flags', 'set', 'dlq-inspector', 'off')
  expect(await here.over('http', 'groups')).toMatchObject({ exitCode: 4, stdout: '' })
  const { exitCode, stdout } = await here.over('http', 'status', '--json')
  expect([exitCode, (JSON.parse(stdout) as { failureGroups: unknown }).failureGroups]).toEqual([0, null])
})

test('tokens: made, used, listed, revoked', async () => {
  const here = await serverAndStore()
  const made = await here.over('http', 'token', 'create', 'ci', '--role', 'viewer', '--expires', '1d', '-o', 'json')
  const { id, token } = NewToken.parse(JSON.parse(made.stdout))
  const [, url = ''] = await here.there('http')
  expect(await here.reprise('list', '--url', url, '--token', token)).toMatchObject({ exitCode: 0 })
  const listed = Tokens.parse(JSON.parse((await here.over('http', 'token', 'list', '-o', 'json')).stdout))
  expect(listed.map((one) => one.id)).toContain(id)
  expect((await here.over('http', 'token', 'list')).stdout).not.toContain(token)
  expect(await here.over('http', 'token', 'revoke', id)).toMatchObject({ exitCode: 0 })
  expect(await here.over('http', 'token', 'revoke', id)).toMatchObject({ exitCode: 3, stdout: '' })
  const plain = await here.over('http', 'token', 'create', 'shop', '--scope', 'submit', '--tenant', 'acme')
  expect(plain.stdout).toMatch(/^rpr_\S+\n$/)
  for (const argv of [
    ['token', 'create', 'x'],
    ['token', 'create', 'x', '--role', 'viewer', '--scope', 'read'],
    ['token', 'create', 'x', '--role', 'king'],
    ['token', 'create', 'x', '--role', 'viewer', '--tenant', 'a', '--all-tenants'],
  ]) {
    expect({ argv, ...(await here.over('http', ...argv)) }).toMatchObject({ argv, exitCode: 2, stdout: '' })
  }
})

test('the overview of one tenant leaves out what concerns all', async () => {
  const here = await serverAndStore()
  await seeded(here.engine)
  const made = await here.over('http', 'token', 'create', 'acme', '--role', 'viewer', '--tenant', 'acme')
  const [, url = ''] = await here.there('http')
  const words = ['--url', url, '--token', made.stdout.trim()]
  const { exitCode, stdout } = await here.reprise('status', '--json', ...words)
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ counts: { dead: 1, queued: 0 }, workers: null, monitoring: null })
  expect((await here.reprise('status', ...words)).stdout).toContain('not for you to see')
})

test.each(WAYS)('keys and sessions: listed, rotated, revoked (%s)', async (way) => {
  const here = await serverAndStore()
  const keys = async () => Keys.parse(JSON.parse((await here.over(way, 'key', 'list', '-o', 'json')).stdout))
  expect((await keys()).map(({ ring, id }) => `${ring} ${id}`)).toEqual(['lease-credentials 1', 'seals 1'])
  const rotated = await here.over(
    way,
    'key',
    'rotate',
    'seals',
    '--keep',
    '1d',
    '--reason',
    'once a year',
    '-o',
    'json',
  )
  expect(Keys.parse(JSON.parse(rotated.stdout)).map(({ id }) => id)).toEqual(['1', '2'])
  expect((await here.over(way, 'key', 'list')).stdout).toMatch(/seals +2 +in 1m/)
  expect(await here.over(way, 'key', 'rotate', 'nothing')).toMatchObject({ exitCode: 2, stdout: '' })
  expect(await here.over(way, 'session', 'list', '-o', 'json')).toMatchObject({ exitCode: 0, stdout: '[]\n' })
  expect(await here.over(way, 'session', 'list')).toMatchObject({ stderr: 'No browser is signed in.\n' })
  expect(await here.over(way, 'session', 'revoke', 'nobody')).toMatchObject({ exitCode: 3, stdout: '' })
})
