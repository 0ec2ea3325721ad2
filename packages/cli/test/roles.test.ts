// Orchestrator and worker as the command line runs them, over one embedded store, in this process.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { OPERATIONS } from '@reprise/operations'
import { expect, test } from 'vitest'
import { readLocalServer } from '../src/local-server.ts'
import { shell } from './shell.ts'

const ACTIONS = `
import { defineAction } from '${join(import.meta.dirname, '../../worker/src/index.ts')}'
export const greet = defineAction({ name: 'greet', run: (input) => ({ hello: input.name }) })
export default greet
export const others = [defineAction({ name: 'twice', run: (input) => input.value * 2 })]
export const declared = defineAction({ name: 'elsewhere' })
`

const fieldOf = (line: string, name: string): string => String((JSON.parse(line) as Record<string, unknown>)[name])

async function status(url: string): Promise<readonly [number, string]> {
  const response = await fetch(url)
  return [response.status, await response.text()]
}

test('A13: an orchestrator answers for its health and metrics, and for nothing else', async () => {
  const { ask, heard, reprise } = shell({ env: { REPRISE_ENGINE: 'sqlite:store.db' } })
  const running = reprise('orchestrator')
  const url = fieldOf(await heard(/The orchestrator runs/, running), 'health')
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await status(`${url}/healthz`)).toEqual([200, '{"status":"ok"}'])
  expect(await status(`${url}/readyz`)).toEqual([200, '{"status":"ready"}'])
  expect(await status(`${url}/metrics`)).toEqual([200, expect.stringContaining('process_cpu')])
  expect((await status(`${url}/api/v1/tasks`))[0]).toBe(404)
  expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405)
  ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0, stdout: '' })
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
})

test('a worker runs the actions that its module exports, each once, and drains when asked', async () => {
  const { folder, ask, heard, reprise } = shell({ files: { 'actions.ts': ACTIONS } })
  const engine = `sqlite:${join(folder, 'store.db')}`
  const running = reprise('worker', './actions.ts', '--engine', engine, '--id', 'w1')
  const health = fieldOf(await heard(/The worker takes tasks/, running), 'health')
  const client = await createClient({ engine })
  const greeting = await client.submit<{ hello: string }>('greet', { name: 'Ann' })
  const doubled = await client.submit<number>('twice', { value: 21 })
  expect(await greeting.result({ timeout: '20s' })).toEqual({ hello: 'Ann' })
  expect(await doubled.result({ timeout: '20s' })).toBe(42)
  const { items } = await client.listWorkers()
  expect(items.map(({ worker, actions }) => [worker, actions])).toEqual([['w1', ['greet', 'twice']]])
  expect(items[0]?.endpoint).toBe(`${health}/readyz`)
  expect(await status(`${health}/readyz`)).toEqual([200, '{"status":"ready"}'])
  ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0, stdout: '' })
  expect((await client.listWorkers()).items).toEqual([])
  await client.close()
})

test.each([
  ['nowhere.ts', 2, 'There is no module'],
  ['empty.ts', 2, 'exports no action with a handler'],
  ['broken.ts', 2, "can't be loaded. broken.ts:1: on purpose"],
])('a module %s ends with %i', async (module, exitCode, message) => {
  const { reprise } = shell({
    files: { 'empty.ts': 'export const one = 1', 'broken.ts': "throw new Error('on purpose')" },
  })
  const ran = await reprise('worker', module, '--engine', 'sqlite::memory:')
  expect(ran).toMatchObject({ exitCode, stdout: '' })
  expect(ran.stderr).toContain(message)
})

test('up serves, moves and runs tasks in one process, and leaves word of itself while it runs', async () => {
  const here = shell({ files: { 'actions.ts': ACTIONS } })
  const running = here.reprise('up', './actions.ts', '--port', '0', '-o', 'json')
  const url = fieldOf(await here.heard(/The core listens/, running), 'url')
  await here.heard(/"link"/, running)
  const local = await readLocalServer(join(here.folder, '.reprise'))
  expect(local?.url).toBe(url)
  expect(statSync(join(here.folder, '.reprise/local.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(here.folder, '.reprise')).mode & 0o777).toBe(0o700)
  expect(await status(`${url}/readyz`)).toEqual([
    200,
    expect.stringMatching(/^\{"status":"ready","store":"[\w-]{36}"\}$/),
  ])
  const authorization = `Bearer ${local?.token}`
  expect((await fetch(`${url}/api/v1/info`)).status).toBe(401)
  expect((await fetch(`${url}/api/v1/info`, { headers: { authorization } })).status).toBe(200)
  const client = await createClient({ engine: `sqlite:${join(here.folder, '.reprise/reprise.db')}` })
  const greeting = await client.submit<{ hello: string }>('greet', { name: 'Ann' })
  expect(await greeting.result({ timeout: '20s' })).toEqual({ hello: 'Ann' })
  await client.close()
  // Commands in the same folder find it by themselves. Another shell, so that asking this one ends only the server.
  const beside = shell({ env: { REPRISE_DATA: join(here.folder, '.reprise') } })
  const listed = await beside.reprise('workers', '-o', 'json')
  expect(listed).toMatchObject({ exitCode: 0, stderr: '' })
  const page = OPERATIONS.listWorkers.output.parse({ items: JSON.parse(listed.stdout) as unknown, next: null })
  expect(page.items).toMatchObject([{ actions: ['greet', 'twice'] }])
  const examined = await beside.reprise('doctor', '--port', '0')
  expect(examined).toMatchObject({ exitCode: 0 })
  expect(examined.stdout).toMatch(/ok {4}server: .*ok {4}version: .*ok {4}clock: .*ok {4}workers: 1 worker\./s)
  const wrong = await beside.reprise('workers', '--url', url, '--token', 'rpr_wrong')
  expect(wrong).toMatchObject({ exitCode: 4, stdout: '' })
  here.ask('SIGTERM')
  const { exitCode, stdout } = await running
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    url,
    link: expect.stringContaining(`${url}/auth/link/`) as string,
    store: `sqlite:${join(here.folder, '.reprise', 'reprise.db')}`,
    storeFrom: null,
  })
  expect(await readLocalServer(join(here.folder, '.reprise'))).toBeNull()
  // Its token ends with it: whoever has a copy gets nothing from the next server.
  const store = await createClient({ engine: `sqlite:${join(here.folder, '.reprise/reprise.db')}` })
  expect((await store.listTokens({})).items).toEqual([])
  await store.close()
})

test.each(['up', 'core'])('intruder 3: %s prints no sign-in link where other hosts can reach it', async (role) => {
  const here = shell()
  const running = here.reprise(role, '--port', '0', '--host', '0.0.0.0')
  await here.heard(/There is no sign-in link/, running)
  here.ask('SIGTERM')
  const { exitCode, stdout } = await running
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/reprise token create.*--admin-link anywhere/)])
  expect(stdout).not.toContain('/auth/link/')
  const asked = shell()
  const offering = asked.reprise(role, '--port', '0', '--host', '0.0.0.0', '--admin-link', 'anywhere')
  await asked.heard(/\/auth\/link\//, offering)
  asked.ask('SIGTERM')
  expect(await offering).toMatchObject({ exitCode: 0 })
})

test('core serves and moves nothing; where its port is taken it says what to do', async () => {
  const here = shell()
  const running = here.reprise('core', '--port', '0')
  const url = fieldOf(await here.heard(/The core listens/, running), 'url')
  const { port } = new URL(url)
  const second = await here.reprise('core', '--port', port)
  expect(second).toMatchObject({ exitCode: 1, stdout: '' })
  expect(second.stderr).toMatch(/can't listen on 127\.0\.0\.1:\d+: somebody else has it\.\n {2}hint: .*--port/)
  expect(await readLocalServer(join(here.folder, '.reprise'))).toBeNull()
  here.ask('SIGINT')
  expect(await running).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`The API is at ${url}.`) as string,
  })
})
