// A deployment that fell into two halves says so: at the start of a role, and in doctor, with both sides named (A17).

import { join } from 'node:path'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { announceRole, presentRoles, storeIdentity } from '@reprise/orchestrator'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../src/doctor/finding.ts'
import { serverAndStore } from './server-and-store.ts'
import { type Shell, shell } from './shell.ts'

/** As a module in a folder of its own finds it. */
const WORKER = join(import.meta.dirname, '../../worker/src/index.ts')
const HALVES = /Two halves of a deployment do not share a store/

async function redisUrl(): Promise<string> {
  const redis = await startRedis({ appendonly: true })
  onTestFinished(() => redis.stop())
  return redis.url
}

/** A role that runs until the test is over. */
async function running(here: Shell, says: RegExp, ...argv: string[]): Promise<void> {
  const ran = here.reprise(...argv)
  onTestFinished(async () => {
    here.ask()
    await ran
  })
  await here.heard(says, ran)
}

async function sharedFindings({ reprise }: Shell, ...argv: readonly string[]): Promise<readonly Finding[]> {
  const { stdout } = await reprise('doctor', '-o', 'json', '--port', '0', ...argv)
  return (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(({ check }) => check === 'shared')
}

const startOrchestrator = (here: Shell, engine: string) =>
  running(here, /The orchestrator runs/, 'orchestrator', '--engine', engine, '--health-port', '0')

test('A17: an orchestrator on another prefix than the core says so at its start and in doctor, and names both sides', async () => {
  const url = await redisUrl()
  const [core, other] = [shell(), shell()]
  await running(core, /The core listens/, 'core', '--engine', `${url}?prefix=one`, '--port', '0')
  await running(other, HALVES, 'orchestrator', '--engine', `${url}?prefix=two`, '--health-port', '0')
  const [finding, ...more] = await sharedFindings(shell(), '--engine', `${url}?prefix=two`)
  expect(more).toEqual([])
  expect(finding?.state).toBe('fail')
  expect(finding?.says).toMatch(
    /orchestrator on .*prefix=two \(store \w{8}\), and core on .*prefix=one \(store \w{8}\)/,
  )
})

test('A17: halves that share a store have nothing to say, nor have two whole deployments on one server', async () => {
  const url = await redisUrl()
  const [core, orchestrator, whole] = [shell(), shell(), shell()]
  await running(core, /The core listens/, 'core', '--engine', `${url}?prefix=one`, '--port', '0')
  await startOrchestrator(orchestrator, `${url}?prefix=one`)
  await running(whole, /Reprise runs at/, 'up', '--engine', `${url}?prefix=two`, '--port', '0')
  const [finding] = await sharedFindings(shell(), '--engine', `${url}?prefix=one`)
  expect(finding).toMatchObject({ state: 'ok', says: expect.stringMatching(/core on .*orchestrator on /) as string })
})

test('A17: REDIS_URL and TASK_TRACKING_REDIS_URL that lead to two halves are found', async () => {
  const [one, two] = [await redisUrl(), await redisUrl()]
  await startOrchestrator(shell(), one)
  const env = { TASK_TRACKING_REDIS_URL: two, REDIS_URL: one }
  await running(shell({ env }), HALVES, 'core', '--port', '0')
  const [finding] = await sharedFindings(shell({ env }), '--engine', two)
  expect(finding?.state).toBe('fail')
})

test('A17: a server on another store than the configuration names is found by doctor, and by an orchestrator whose workers call back there', async () => {
  const there = await serverAndStore()
  const here = shell({ files: { 'reprise.yaml': 'engine: sqlite:./other.db' } })
  const file = join(here.folder, 'other.db')
  await (await openSqliteEngine({ path: file })).close()
  const words = await there.there('http')
  const [finding] = await sharedFindings(here, ...words)
  expect(finding).toMatchObject({ state: 'fail', says: expect.stringContaining('keeps another store') as string })
  const [, address = ''] = await there.there('store')
  const alike = shell({ files: { 'reprise.yaml': `engine: ${address}` } })
  const [same] = await sharedFindings(alike, ...words)
  expect(same).toMatchObject({ state: 'ok' })
  const [, url = ''] = words
  const pools = {
    launch: [
      {
        pool: 'jobs',
        slots: 1,
        process: { commands: { a: { argv: ['true'] } }, callback_url: `${url}/task-complete` },
      },
    ],
  }
  const other = shell({ files: { 'reprise.yaml': JSON.stringify({ pools }) } })
  await running(other, /keeps another store/, 'orchestrator', '--engine', `sqlite:${file}`, '--health-port', '0')
})

test('A17: an orchestrator and a worker on another file than the server of their folder say so at their start', async () => {
  const module = `import { defineAction } from '${WORKER}'\nexport const a = defineAction({ name: 'a', run: () => 1 })\n`
  const files = { 'actions.ts': module }
  const [server, here] = [shell({ files }), shell({ files })]
  await running(server, /Reprise runs at/, 'up', '--port', '0')
  const data = ['--data', join(server.folder, '.reprise')]
  const says =
    /The server of this folder keeps another store: http:\S+ \(store \w{8}\), and (?:orchestrator|worker) on .*other\.db/
  for (const role of [['orchestrator'], ['worker', './actions.ts']]) {
    await running(shell({ files }), says, ...role, '--engine', 'sqlite:./other.db', '--health-port', '0', ...data)
  }
  // On the store of that server there is nothing to say.
  const own = `sqlite:${join(server.folder, '.reprise', 'reprise.db')}`
  const ran = here.reprise('orchestrator', '--engine', own, '--health-port', '0', ...data)
  await here.heard(/The orchestrator runs/, ran)
  const [finding] = await sharedFindings(here, '--engine', own)
  expect(finding).toMatchObject({ state: 'ok' })
  here.ask()
  expect((await ran).stderr).not.toMatch(says)
})

test('A17: a store keeps its identity, and roles that died are not counted', async () => {
  const path = join(shell().folder, 'store.db')
  let now = Date.now()
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: queueMicrotask,
  }
  const [one, two] = [await openSqliteEngine({ path, clock }), await openSqliteEngine({ path, clock })]
  onTestFinished(async () => {
    await one.close()
    await two.close()
  })
  expect(await Promise.all([storeIdentity(one), storeIdentity(two)])).toEqual([
    await storeIdentity(two),
    await storeIdentity(one),
  ])
  await announceRole(one, { role: 'core', host: 'a', pid: 1 })
  await announceRole(two, { role: 'core', host: 'a', pid: 1 })
  expect(await presentRoles(two)).toEqual([{ role: 'core', host: 'a', pid: 1 }])
  now += 30_000
  expect(await presentRoles(two)).toEqual([])
})
