// A runbook whose processes are killed by SIGKILL at every step in turn: when the step is written down, when its effect has happened,
// and when that is written down. Each effect happens once, or a person is asked whether it did.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@reprise/client'
import { DEFAULT_POOL, type Engine, succeeded, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

const PROCESS = fileURLToPath(new URL('./processes/runbooks-process.ts', import.meta.url))

const RUNBOOK = (url: string) => `
name: all-kinds
title: All kinds of steps
steps:
  - name: hold
    operation: pauseLanes
    with: { action: other }
  - name: post
    http: { url: '${url}' }
  - name: script
    script: { file: effect.sh }
  - name: replay
    redrive: { q: 'action:work', canary: [] }
  - name: clean
    check: { operation: countTasks, with: { q: 'status:dead' }, path: count, equals: 0, within: 1h }
`

/** Where a process ends, and what a person who looked would answer, if somebody is asked. */
const ALL_ENDS: readonly (readonly [end: string, answer: 'happened' | 'again' | null])[] = [
  ['begun:hold', null],
  ['acted:hold', null],
  ['ended:hold', null],
  ['begun:post', 'again'],
  ['acted:post', 'happened'],
  ['begun:script', 'again'],
  ['acted:script', 'happened'],
  ['begun:replay', null],
  ['acted:replay', null],
  ['ended:replay', null],
]
/** `npm run test:long -- runbooks` tries all of them; otherwise each step once, with its effect done and not written down. */
const ENDS = process.env.REPRISE_LONG === '1' ? ALL_ENDS : ALL_ENDS.filter(([end]) => end.startsWith('acted:'))

async function storeOf(
  kind: 'sqlite' | 'redis',
  folder: string,
): Promise<{ readonly engine: Engine; readonly address: string }> {
  if (kind === 'redis') {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return { engine: await openRedisEngine({ url: server.url }), address: server.url }
  }
  const path = join(folder, 'store.db')
  return { engine: await openSqliteEngine({ path, durability: 'fast' }), address: `sqlite:${path}` }
}

const soon = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20))

/** Until the process has ended itself. */
async function killedAt(address: string, scripts: string, end: string, run: () => Promise<boolean>): Promise<void> {
  const child = fork(PROCESS, [address, scripts, end], { execArgv: ['--conditions=reprise-source', '--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let isOver = false
  void exited.then(() => {
    isOver = true
  })
  while (!isOver && !(await run())) await soon()
  child.kill('SIGKILL')
  await exited
}

test.each(['sqlite', 'redis'] as const)('B4: a runbook killed at each step in turn (%s)', async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-runbooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const { engine, address } = await storeOf(kind, folder)
  onTestFinished(() => engine.close())
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  await deadLetters(engine, client, 3)
  const effects = join(folder, 'effects')
  writeFileSync(join(folder, 'effect.sh'), `#!/bin/sh\necho one >> ${effects}\n`)
  chmodSync(join(folder, 'effect.sh'), 0o755)
  let posts = 0
  const server = createServer((_, response) => {
    posts++
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await client.publishRunbook({ name: 'all-kinds', text: RUNBOOK(url) })
  const { id } = await client.startRunbook({ name: 'all-kinds', reason: 'a test' })

  const doubts: string[] = []
  for (const [end, answer] of ENDS) {
    const asks = async (): Promise<boolean> => (await client.getRunbookRun({ id })).state === 'waiting'
    await killedAt(address, folder, end, asks)
    // Another process finds what was left, and asks about what may not be repeated.
    if (answer === null) continue
    await killedAt(address, folder, 'never', asks)
    const { question } = await client.getRunbookRun({ id })
    expect([end, question?.kind]).toEqual([end, 'doubt'])
    doubts.push(end)
    await client.answerRunbookRun({ id, answer })
  }
  const isOver = async (): Promise<boolean> => {
    await work(engine)
    return (await client.getRunbookRun({ id })).state === 'succeeded'
  }
  await killedAt(address, folder, 'never', isOver)
  expect(posts).toBe(1)
  expect(existsSync(effects) ? readFileSync(effects, 'utf8') : '').toBe('one\n')
  expect((await client.listRedrives({})).items).toHaveLength(1)
  expect((await engine.holds({ limit: 10 })).items).toHaveLength(1)
  expect((await engine.counts()).succeeded).toBe(3)
  expect(doubts).toEqual(ENDS.filter(([, answer]) => answer !== null).map(([end]) => end))
})

test.each(['sqlite', 'redis'] as const)(
  'B4: a process that stands still before a step, until another has done it, does not do it again (%s)',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-runbooks-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const { engine, address } = await storeOf(kind, folder)
    onTestFinished(() => engine.close())
    const client = await createClient({ engine })
    onTestFinished(() => client.close())
    const effects = join(folder, 'effects')
    writeFileSync(effects, '')
    writeFileSync(join(folder, 'effect.sh'), `#!/bin/sh\necho "$REPRISE_RUN" >> ${effects}\n`)
    chmodSync(join(folder, 'effect.sh'), 0o755)
    const text = 'name: once\ntitle: Once\nsteps:\n  - { name: script, script: { file: effect.sh } }\n'
    await client.publishRunbook({ name: 'once', text })
    const stateOf = async (id: string): Promise<string> => (await client.getRunbookRun({ id })).state
    const started = async (): Promise<string> => (await client.startRunbook({ name: 'once', reason: 'a test' })).id
    const first = await started()
    const still = fork(PROCESS, [address, folder, 'begun:script', 'SIGSTOP'], {
      execArgv: ['--conditions=reprise-source', '--no-warnings'],
    })
    onTestFinished(() => void still.kill('SIGKILL'))
    const hasBegun = async (id: string): Promise<boolean> =>
      (await client.getRunbookRun({ id })).steps[0]?.state === 'running'
    while (!(await hasBegun(first))) await soon()
    await killedAt(address, folder, 'never', async () => (await stateOf(first)) === 'waiting')
    await client.answerRunbookRun({ id: first, answer: 'again' })
    await killedAt(address, folder, 'never', async () => (await stateOf(first)) === 'succeeded')
    expect(readFileSync(effects, 'utf8')).toBe(`${first}\n`)

    // It goes on where it was, and works as before.
    still.kill('SIGCONT')
    const second = await started()
    while (!(await hasBegun(second))) await soon()
    expect(readFileSync(effects, 'utf8')).toBe(`${first}\n`)
  },
)

const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
const pools = [DEFAULT_POOL]

async function deadLetters(engine: Engine, client: Client, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await client.submit('work', { at }, { id: `t${at}` })
  const worker = workerId('breaks')
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { describeFailure, failed } = await import('@reprise/core')
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 100, leaseMs: 60_000 })
  const failure = describeFailure(new TypeError('broken'), 'work' as never)
  const decision = { kind: 'dead', reason: 'not_retriable', rule: failure.rule, sentence: 'It is broken.' } as const
  await engine.settle(claimed.map((one) => failed(one, failure, decision)))
  await engine.deregister(worker, epoch)
}

async function work(engine: Engine): Promise<void> {
  const worker = workerId('works')
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 100, leaseMs: 60_000 })
  await engine.settle(claimed.map((one) => succeeded(one, null)))
}
