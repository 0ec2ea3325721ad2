// A server whose store is away, and one that died: commands say it at once, and doctor finds out.

import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { openFlags } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { ROLES } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { createServer as createReprise } from '@reprise/server'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Finding } from '../src/doctor/finding.ts'
import { writeLocalServer } from '../src/local-server.ts'
import { type Shell, shell } from './shell.ts'

async function found({ reprise }: Shell, ...argv: string[]): Promise<readonly Finding[]> {
  const { stdout } = await reprise('doctor', '-o', 'json', ...argv)
  return (JSON.parse(stdout) as { readonly findings: readonly Finding[] }).findings
}

/** Any web server. Counts what it is asked. */
async function webServer(status: number, body: object): Promise<{ readonly port: number; asked: () => number }> {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, asked: () => asked }
}

test('6: a command asks a server whose store is away once, and says what it says', async () => {
  const detail = 'The store (Redis) does not answer. Try again.'
  const { port, asked } = await webServer(503, { code: 'REPRISE_STORE_BUSY', detail })
  const { exitCode, stderr } = await shell().reprise('list', '--url', `http://127.0.0.1:${port}`)
  expect(exitCode).toBe(1)
  expect(stderr).toContain(detail)
  expect(stderr).toContain('reprise doctor')
  expect(asked()).toBe(1)
})

test('6: with Redis frozen, commands through the server name the store, and doctor repeats /readyz', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const engine = await openRedisEngine({ url: redis.url, patienceMs: 3_600_000, commandTimeoutMs: 3_600_000 })
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const about = { policies, flags, version: '0.0.0-test', maxRetries: 1, port: 0, storePatienceMs: 400 }
  const server = await createReprise({ engine, ...about })
  await server.start()
  onTestFinished(() => server.stop())
  redis.pause()
  onTestFinished(() => redis.resume())
  const token = `rpr_${'a'.repeat(16)}_${'b'.repeat(64)}`
  const there = ['--url', server.url(), '--token', token]
  const { exitCode, stderr } = await shell().reprise('list', ...there)
  expect(exitCode).toBe(1)
  expect(stderr).toContain('The store (Redis) does not answer.')
  const findings = await found(shell(), '--port', '0', ...there)
  const says = expect.stringContaining('The store (Redis) does not answer') as string
  expect(findings).toContainEqual(expect.objectContaining({ check: 'ready', state: 'fail', says }))
  expect(findings).toContainEqual(expect.objectContaining({ check: 'server', state: 'fail', says }))
})

test('6: doctor looks again at the eviction of a Redis that a server has opened', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const engine = await openRedisEngine({ url: redis.url })
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const server = await createReprise({ engine, policies, flags, version: '0.0.0-test', maxRetries: 1, port: 0 })
  await server.start()
  onTestFinished(() => server.stop())
  const everybody = {
    kind: 'user',
    actor: 'test:admin',
    name: 'admin',
    scopes: new Set(ROLES.admin),
    tenants: null,
  } as const
  const { token } = await server.access.tokens.create({ name: 'x', scopes: ROLES.admin, tenants: null }, everybody)
  const there = ['--url', server.url(), '--token', token, '--port', '0']
  const durability = async () => (await found(shell(), ...there)).filter(({ check }) => check === 'durability')
  expect(await durability()).toMatchObject([{ state: 'warn' }])
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  const says = expect.stringContaining("maxmemory-policy is 'allkeys-lru'") as string
  expect(await durability()).toMatchObject([{ state: 'fail', says }])
})

test('6: doctor takes no other program on the port for Reprise', async () => {
  const { port } = await webServer(200, { status: 'ok' })
  expect(await found(shell(), '--port', String(port))).toContainEqual(
    expect.objectContaining({ check: 'port', state: 'warn' }),
  )
  const ours = await webServer(401, { type: 'urn:reprise:problem:REPRISE_UNAUTHENTICATED' })
  expect(await found(shell(), '--port', String(ours.port))).toContainEqual(
    expect.objectContaining({ check: 'port', state: 'ok' }),
  )
})

test('6: doctor says that the server that ran here died, also where commands go elsewhere', async () => {
  const here = shell()
  const engine = `sqlite:${join(here.folder, 'store.db')}`
  await (await createClient({ engine })).close()
  await writeLocalServer(join(here.folder, '.reprise'), { url: 'http://127.0.0.1:9', token: 't' })
  const dead = expect.stringContaining('http://127.0.0.1:9) does not answer') as string
  expect(await found(here, '--port', '0', '--engine', engine)).toContainEqual(
    expect.objectContaining({ check: 'former', state: 'warn', says: dead }),
  )
  expect(await found(here, '--port', '0')).toContainEqual(
    expect.objectContaining({ check: 'server', state: 'warn', says: dead }),
  )
})

test('6: doctor looks at owner and mode of the data folder and of the store', async () => {
  const here = shell()
  const data = join(here.folder, '.reprise')
  mkdirSync(data, { mode: 0o700 })
  await (await createClient({ engine: `sqlite:${join(data, 'reprise.db')}` })).close()
  const rights = async (): Promise<readonly Finding[]> =>
    (await found(here, '--port', '0')).filter(({ check }) => check === 'rights')
  expect(await rights()).toMatchObject([{ state: 'ok' }])
  chmodSync(data, 0o777)
  chmodSync(join(data, 'reprise.db'), 0o644)
  expect(await rights()).toMatchObject([
    { state: 'warn', says: expect.stringContaining('mode 777') as string },
    { state: 'warn', says: expect.stringContaining('mode 644') as string },
  ])
  const own = vi.spyOn(process, 'getuid').mockReturnValue(statSync(data).uid + 1)
  onTestFinished(() => own.mockRestore())
  expect(await rights()).toContainEqual(
    expect.objectContaining({ says: expect.stringContaining('belongs to another user') as string }),
  )
})
