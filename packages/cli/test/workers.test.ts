// reprise workers, straight on a store: a table for people, JSON for programs, and --watch.

import { join } from 'node:path'
import { connectEngine } from '@reprise/connect'
import { VirtualClock } from '@reprise/core'
import { expect, onTestFinished, test } from 'vitest'
import { registered } from './server-and-store.ts'
import { type ShellOptions, shell } from './shell.ts'

async function staffed(options: ShellOptions, ...names: string[]) {
  const here = shell(options)
  const address = `sqlite:${join(here.folder, 'store.db')}`
  const { engine, ...connection } = await connectEngine(address)
  onTestFinished(() => connection.close())
  for (const name of names) await registered(engine, name)
  return { ...here, engine, workers: (...argv: string[]) => here.reprise('workers', '--engine', address, ...argv) }
}

test('lists them for people', async () => {
  const { workers } = await staffed({}, 'w1', 'w2')
  const { exitCode, stdout } = await workers()
  expect(exitCode).toBe(0)
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ['WORKER', 'HEALTH', 'RUNS', 'QUEUE'],
    ['w1', 'healthy', '0/4', '0'],
    ['w2', 'healthy', '0/4', '0'],
    [''],
  ])
})

test('as many as were asked for, and says that there are more', async () => {
  const { workers } = await staffed({}, 'w1', 'w2', 'w3')
  const { stdout, stderr } = await workers('-n', '2', '-o', 'jsonl')
  expect(stdout.trim().split('\n')).toHaveLength(2)
  expect(stderr).toContain('There are more')
  expect(await workers('-n', '0')).toMatchObject({ exitCode: 2, stdout: '' })
})

test('none is an empty list, and a sentence for people', async () => {
  const { workers } = await staffed({})
  expect(await workers('-o', 'json')).toMatchObject({ exitCode: 0, stdout: '[]\n', stderr: '' })
  expect(await workers()).toMatchObject({ stdout: '', stderr: expect.stringContaining('There is no worker') as string })
  expect((await workers()).stderr).toContain('reprise workers --left')
})

test('--watch shows them again and again, until it is interrupted with 130', async () => {
  const clock = new VirtualClock()
  const { workers, heard, ask } = await staffed({ clock }, 'w1')
  const running = workers('--watch')
  await heard(/w1/, running)
  await clock.advance(2_000)
  ask('SIGINT')
  const { exitCode, stdout } = await running
  expect(exitCode).toBe(130)
  expect(stdout).toContain('w1')
})

test('shows the version of each', async () => {
  const { workers } = await staffed({}, 'w1')
  const { stdout } = await workers()
  const [titles = '', row = ''] = stdout.split('\n')
  const at = titles.indexOf('VERSION')
  expect(at).toBeGreaterThan(0)
  expect(row.slice(at)).toMatch(/^\S+ /)
})

test('--left lists those that left, apart from the others', async () => {
  const { workers, engine } = await staffed({}, 'w1', 'w2')
  const one = (await engine.workers()).items.find(({ worker }) => worker === 'w1')
  if (one === undefined) throw new Error('w1 was to be registered.')
  await engine.deregister(one.worker, one.epoch)
  expect((await workers('-o', 'jsonl')).stdout).not.toContain('"w1"')
  const { exitCode, stdout } = await workers('--left')
  expect(exitCode).toBe(0)
  expect(stdout.split('\n')[0]?.split(/ {2,}/)).toEqual(['WORKER', 'LEFT', 'JOINED', 'VERSION', 'HOST', 'POOLS'])
  expect(stdout).toContain('w1')
  expect(stdout).not.toContain('w2')
  const left = JSON.parse((await workers('--left', '-o', 'json')).stdout) as unknown
  expect(left).toMatchObject([{ worker: 'w1', version: one.version, leftAt: expect.any(Number) as number }])
})
