// reprise doctor, on healthy and on ailing surroundings; and where commands go when nothing, or much, says where.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { taskId, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { askRetry } from '@reprise/orchestrator'
import { startRedis } from '@reprise/test-servers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resolveConfiguration } from '../src/configuration/resolve.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { writeLocalServer } from '../src/local-server.ts'
import { chooseTarget } from '../src/session.ts'
import { VERSION } from '../src/version.ts'
import { registered } from './server-and-store.ts'
import { type Shell, shell } from './shell.ts'

async function examined({ reprise }: Shell, ...argv: string[]) {
  const { exitCode, stdout } = await reprise('doctor', '-o', 'json', '--port', '0', ...argv)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { exitCode, of: (check: string) => findings.filter((finding) => finding.check === check) }
}

/** A server that says of itself what it is told to. */
async function pretender(info: object, status = 200): Promise<string> {
  const server: Server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(info))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('reprise doctor', () => {
  test('finds nothing wrong in an empty folder, and opens no store', async () => {
    const { exitCode, of } = await examined(shell())
    expect(exitCode).toBe(0)
    expect(of('node')).toMatchObject([{ state: 'ok' }])
    expect(of('server')).toMatchObject([{ state: 'warn', advice: expect.stringContaining('reprise up') as string }])
    expect(of('store')).toMatchObject([{ state: 'ok', says: expect.stringContaining('not there yet') as string }])
  })

  test('tells problems of the configuration and of policies, goes on, and exits with 1', async () => {
    const files = { 'reprise.yaml': 'prot: 1', 'config/tasks/retry-policies.yaml': 'policies: 1' }
    const { exitCode, of } = await examined(shell({ files }))
    expect(exitCode).toBe(1)
    expect(of('configuration')).toMatchObject([
      { state: 'fail', says: expect.stringContaining('reprise.yaml:1:1') as string },
    ])
    expect(of('policies')).toMatchObject([{ state: 'fail' }])
    expect(of('disk')).toHaveLength(1)
  })

  test('looks into an embedded store, and for workers', async () => {
    const here = shell()
    const engine = `sqlite:${join(here.folder, 'store.db')}`
    await (await createClient({ engine })).close()
    const { exitCode, of } = await examined(here, '--engine', engine)
    expect(exitCode).toBe(0)
    expect(of('store')).toMatchObject([{ state: 'ok', says: expect.stringContaining('answers') as string }])
    expect(of('durability')).toMatchObject([{ state: 'ok' }])
    expect(of('workers')).toMatchObject([{ state: 'warn', says: expect.stringContaining('no worker') as string }])
  })

  test.each([
    ['a minute ago is on its way', 60_000, 'ok'],
    ['an hour ago lies there, and doctor warns', 3_600_000, 'warn'],
  ] as const)('A8: a retry by a queue that was asked for %s', async (_, ageMs, state) => {
    const here = shell()
    const path = join(here.folder, 'store.db')
    const engine = await openSqliteEngine({ path, clock: new VirtualClock(Date.now() - ageMs) })
    const by = { actor: 'operator:ann', reason: 'again' }
    await askRetry(engine, { queue: 'work', taskId: taskId('t1'), attempt: 2, by })
    await engine.close()
    const { exitCode, of } = await examined(here, '--engine', `sqlite:${path}`)
    expect(exitCode).toBe(0)
    const says = expect.stringMatching(/^1 retry waits.*; the queue refused 0\.$/) as string
    expect(of('outbox')).toMatchObject([{ state, says }])
    expect(of('outbox').filter(({ advice }) => advice?.includes('Does an orchestrator') === true)).toHaveLength(
      state === 'warn' ? 1 : 0,
    )
  })

  test('C10: says why the level is what it is, in the words of status, and takes gone workers for gone', async () => {
    const here = shell()
    const path = join(here.folder, 'store.db')
    const clock = new VirtualClock(Date.now() - 3_600_000)
    const old = await openSqliteEngine({ path, clock })
    await registered(old, 'w1')
    await old.close()
    const client = await createClient({ engine: `sqlite:${path}` })
    await client.submitMany(
      'greet',
      Array.from({ length: 101 }, () => ({ payload: {} })),
    )
    await client.close()
    const { exitCode, of } = await examined(here, '--engine', `sqlite:${path}`)
    expect(exitCode).toBe(1)
    expect(of('level')).toMatchObject([
      { state: 'fail', says: expect.stringMatching(/^101 tasks are queued and no worker takes work/) as string },
    ])
    expect(of('workers')).toMatchObject([{ state: 'warn', says: 'There is no worker: nothing runs. 1 more is gone.' }])
    const status = await here.reprise('status', '--engine', `sqlite:${path}`)
    expect(status.stdout).toMatch(/Workers +none, 1 gone\nLevel +critical: .*\n +critical +101 tasks are queued and no/)
  })

  test('fault 13: a Redis that keeps nothing, or may evict tasks, is pointed out', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await (await createClient({ engine: redis.url })).close()
    const memory = await examined(shell(), '--engine', redis.url)
    expect(memory.of('durability')).toMatchObject([
      { state: 'warn', advice: expect.stringContaining('appendonly') as string },
    ])
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const evicting = await examined(shell(), '--engine', `${redis.url}?prefix=other`)
    expect(evicting.exitCode).toBe(1)
    expect(evicting.of('store')).toMatchObject([
      { state: 'fail', says: expect.stringContaining('noeviction') as string },
    ])
  })

  test('compares version and clock with the server', async () => {
    const now = Date.now() - 60_000
    const url = await pretender({ version: '0.0.1', now, engine: { kind: 'x', durability: 'survives much' } })
    const { of } = await examined(shell(), '--url', url)
    expect(of('server')).toMatchObject([{ state: 'ok' }])
    expect(of('version')).toMatchObject([{ state: 'warn', says: `The server is 0.0.1, this is ${VERSION}.` }])
    expect(of('clock')).toMatchObject([{ state: 'warn', says: expect.stringContaining('behind') as string }])
    expect(of('durability')).toMatchObject([{ state: 'ok', says: 'survives much' }])
  })

  test.each([
    [401, 'does not know who asks'],
    [200, 'not as a Reprise server would'],
  ])('a server that answers %i with nothing of ours fails', async (status, says) => {
    const { exitCode, of } = await examined(shell(), '--url', await pretender({}, status))
    expect(exitCode).toBe(1)
    expect(of('server')).toMatchObject([{ state: 'fail', says: expect.stringContaining(says) as string }])
  })

  test('a token that others can read is pointed out', async () => {
    const here = shell()
    await writeLocalServer(join(here.folder, '.reprise'), { url: 'http://127.0.0.1:9', token: 't' })
    expect((await examined(here)).of('privacy')).toEqual([])
    chmodSync(join(here.folder, '.reprise', 'local.json'), 0o644)
    expect((await examined(here)).of('privacy')).toMatchObject([{ state: 'warn' }])
  })
})

describe('where commands go', () => {
  async function target(env: Record<string, string>, flags = {}, local?: string) {
    const { folder } = shell({ files: { 'reprise.yaml': 'engine: sqlite:./file.db' } })
    if (local !== undefined) await writeLocalServer(join(folder, '.reprise'), { url: local, token: 'local-token' })
    return chooseTarget(await resolveConfiguration({ env, flags, cwd: folder }))
  }

  test('flags, then the environment, then the server that runs here, then the store', async () => {
    const running = await pretender({ status: 'ok' })
    const env = { REPRISE_URL: 'http://env:1', REPRISE_ENGINE: 'redis://env' }
    const url = 'http://flag:1'
    const engine = 'redis://flag'
    expect(await target(env, { url }, running)).toMatchObject({ kind: 'http', url })
    expect(await target(env, { engine }, running)).toMatchObject({ kind: 'engine', address: engine })
    expect(await target(env, {}, running)).toMatchObject({ kind: 'http', url: 'http://env:1' })
    expect(await target({ REPRISE_ENGINE: 'redis://env' }, {}, running)).toMatchObject({ address: 'redis://env' })
    expect(await target({ REDIS_URL: 'redis://env' }, {}, running)).toMatchObject({
      url: running,
      token: 'local-token',
    })
    expect(await target({ REDIS_URL: 'redis://env' })).toMatchObject({ address: 'redis://env' })
    expect(await target({}, {}, 'http://127.0.0.1:9')).toMatchObject({
      address: expect.stringContaining('file.db') as string,
    })
    await expect(target({}, { url, engine })).rejects.toThrow('Both --url and --engine')
  })

  test('nowhere is told with what to do', async () => {
    const { folder } = shell()
    const resolved = await resolveConfiguration({ env: {}, flags: {}, cwd: folder })
    await expect(chooseTarget(resolved)).rejects.toMatchObject({
      message: 'No server runs here, and none is configured.',
      hint: expect.stringMatching(/reprise up.*--engine <address> for the store itself/) as string,
    })
    mkdirSync(join(folder, '.reprise'))
    writeFileSync(join(folder, '.reprise/reprise.db'), '')
    await expect(chooseTarget(resolved)).rejects.toMatchObject({
      hint: expect.stringContaining(`--engine sqlite:${join(folder, '.reprise/reprise.db')} for`) as string,
    })
    await writeLocalServer(join(folder, '.reprise'), { url: 'http://127.0.0.1:9', token: 't' })
    await expect(chooseTarget(resolved)).rejects.toThrow('http://127.0.0.1:9) does not answer')
  })

  test('intruder 15: a local.json that points elsewhere gets no token', async () => {
    const { folder } = shell({ files: { '.reprise/local.json': '' } })
    writeFileSync(join(folder, '.reprise/local.json'), JSON.stringify({ url: 'http://evil.example', token: 't' }))
    const resolved = await resolveConfiguration({ env: {}, flags: {}, cwd: folder })
    await expect(chooseTarget(resolved)).rejects.toThrow('No server runs here')
  })
})
