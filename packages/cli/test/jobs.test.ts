// reprise job, with a worker and the service that moves jobs: what a submitter and an operator see from the start of a job to its
// end, through a server and straight on a store.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createJobs } from '@reprise/orchestrator'
import { createWorker, defineAction, PermanentError, silentLogger } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serverAndStore, WAYS } from './server-and-store.ts'
import type { ShellOptions } from './shell.ts'

async function staged(columns?: number, stdin?: ShellOptions['stdin']) {
  const bad = new Set<number>()
  const here = await serverAndStore({
    ...(columns === undefined ? {} : { columns }),
    ...(stdin === undefined ? {} : { stdin }),
    files: { 'rows.ndjson': '1\n2\nnot json\n' },
  })
  const { engine } = here
  const check = defineAction({
    name: 'check',
    run: (n: number) => {
      if (bad.has(n)) throw new PermanentError(`${n} is bad`)
      return n
    },
  })
  const join = defineAction({ name: 'join', run: ({ succeeded }: { readonly succeeded: number }) => succeeded })
  const worker = await createWorker({ engine, actions: [check, join], log: silentLogger })
  const jobs = createJobs({ engine, log: silentLogger })
  await jobs.start()
  onTestFinished(async () => {
    await jobs.stop()
    await worker.stop()
  })
  return { ...here, bad }
}

describe.each(WAYS)('E6: reprise job over %s', (way) => {
  test('runs and follows a job, and its exit code says how it ended; a retry runs the failed chunks again', async () => {
    const { over, bad } = await staged()
    bad.add(3).add(5)
    const job = (...words: string[]) => over(way, 'job', ...words)
    const ran = await job(
      'run',
      'check',
      '--range',
      '0..8',
      '--id',
      'j1',
      '--final',
      'join',
      '--on-failure',
      'continue',
    )
    expect(ran).toMatchObject({ exitCode: 6 })
    expect(ran.stdout).toBe(
      'The job j1 has failed. 2 chunks failed; the job tolerates 0.\n6 succeeded, 2 failed, 0 open, of 8 chunks\n',
    )
    expect(ran.stderr).toContain('reprise job show j1 --failed')
    expect((await job('show', 'j1', '--failed')).stdout).toMatch(/ 3 +dead +job-j1-000000003 +3 is bad\n +5 +dead /)
    bad.clear()
    expect(await job('retry', 'j1')).toMatchObject({ exitCode: 0, stdout: 'The job j1 is running.\n' })
    const watched = await job('watch', 'j1', '-o', 'jsonl')
    expect(watched.exitCode).toBe(0)
    const last = JSON.parse(watched.stdout.trimEnd().split('\n').at(-1) ?? '') as object
    expect(last).toMatchObject({ status: 'succeeded', succeeded: 8, failed: 0 })
    // The first end had no final step: the retry opened the second round.
    expect((await job('show', 'j1')).stdout).toContain('final step: join, task job-j1-final-2\n')
    expect((await over(way, 'status', 'job-j1-final-2')).stdout).toMatch(/^Succeeded .*: 8$/m)
    const results = await job('show', 'j1', '--results', '-o', 'json')
    expect((JSON.parse(results.stdout) as { result: number }[]).map(({ result }) => result)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ])
  })

  test('lists those that have not ended, however many have', async () => {
    const { over, bad } = await staged()
    bad.add(0)
    for (const [id, range] of [
      ['done', '1..4'],
      ['held', '0..4'],
    ] as const) {
      await over(way, 'job', 'run', 'check', '--range', range, '--id', id)
    }
    const ids = async (...words: string[]) =>
      (JSON.parse((await over(way, 'job', 'list', '-o', 'json', ...words)).stdout) as { id: string }[]).map(
        ({ id }) => id,
      )
    expect([await ids(), await ids('--status', 'live'), await ids('--status', 'succeeded')]).toEqual([
      ['done', 'held'],
      ['held'],
      ['done'],
    ])
    expect(await over(way, 'job', 'list', '--status', 'moving')).toMatchObject({ exitCode: 2 })
    await over(way, 'job', 'cancel', 'held')
    await over(way, 'job', 'watch', 'held')
    expect((await over(way, 'job', 'show', 'held')).stdout).toMatch(/\d succeeded, \d cancelled or failed, 0 open/)
  })

  test('a file that is not there starts no job; one that is wrong leaves a job that the submitter can go on with', async () => {
    const { over, folder } = await staged()
    const list = async () => JSON.parse((await over(way, 'job', 'list', '-o', 'json')).stdout) as { id: string }[]
    const run = (...words: string[]) => over(way, 'job', 'run', 'check', '--file', ...words)
    expect(await run('nowhere.csv')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/nowhere\.csv can't be read/) as string,
    })
    expect(await list()).toEqual([])
    const wrong = await run('rows.ndjson')
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/Line 3 of .* is not JSON/) as string })
    const [{ id } = { id: '' }] = await list()
    expect(wrong.stderr).toContain(`with --id ${id}. To give it up: reprise job cancel ${id}`)
    writeFileSync(join(folder, 'rows.ndjson'), '1\n2\n3\n')
    expect(await run('rows.ndjson', '--id', id)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('3 succeeded, 0 failed') as string,
    })
  })
})

test('E6: a bar on a terminal shows how far the job is', async () => {
  const { over } = await staged(120)
  const { stderr, stdout } = await over('store', 'job', 'run', 'check', '--range', '0..4', '--id', 'j1')
  expect(stderr).toMatch(/chunks [█░]{24} \d+% [0-4]\/4/)
  // It is taken off again, and is not among the data.
  expect(stderr.endsWith('\r\u001b[K')).toBe(true)
  expect(stdout).toBe('The job j1 has succeeded.\n4 succeeded, 0 failed, 0 open, of 4 chunks\n')
})

test('a terminal that says it has no columns has eighty', async () => {
  const { over } = await staged(0)
  await over('store', 'job', 'run', 'check', '--range', '0..4', '--id', 'j1')
  expect((await over('store', 'job', 'list')).stdout).toMatch(/j1 +check +succeeded +100% +4 +0 +4 /)
})

test('E6: a submitter that is interrupted says how to go on', async () => {
  const { over, ask, folder } = await staged()
  writeFileSync(join(folder, 'rows.ndjson'), '1\n2\n')
  ask('SIGINT')
  const { exitCode, stderr } = await over('store', 'job', 'run', 'check', '--file', 'rows.ndjson', '--id', 'j1')
  expect(exitCode).toBe(130)
  expect(stderr).toMatch(/The job j1 has 0 chunks so far.* --id j1/)
})

test('E6: standard input is taken as it comes: its chunks run before it ends, and Ctrl-C does not wait for it', async () => {
  const more = Promise.withResolvers<string>()
  async function* lines() {
    yield '1\n2\n'
    yield await more.promise
  }
  const { over, ask, engine } = await staged(undefined, lines())
  const running = over('store', 'job', 'run', 'check', '--file', '-', '--format', 'ndjson', '--id', 'j1')
  while ((await engine.counts()).succeeded < 2) await engine.wait({ since: engine.mark() }, 20)
  ask('SIGINT')
  const { exitCode, stderr } = await running
  expect(exitCode).toBe(130)
  expect(stderr).toMatch(/The job j1 has 2 chunks so far.* --id j1/)
})
