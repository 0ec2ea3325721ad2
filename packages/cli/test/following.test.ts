// Commands that wait or follow: submit --wait, watch, and --watch on lists; in this process, and as processes that get signals.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createClient } from '@reprise/client'
import { type Engine, VirtualClock } from '@reprise/core'
import { OPERATIONS } from '@reprise/operations'
import { createWorker, defineAction, PermanentError, silentLogger } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SLOW, seeded, serverAndStore, WAYS } from './server-and-store.ts'

const TaskView = OPERATIONS.getTask.output

const greet = defineAction({ name: 'greet', run: (input: { readonly name: string }) => ({ hello: input.name }) })
const refuse = defineAction({
  name: 'refuse',
  run: () => {
    throw new PermanentError('no address')
  },
})

const other = defineAction({ name: 'other', run: () => refuse.run?.(null, {} as never) })

async function staffed(engine: Engine): Promise<void> {
  const worker = await createWorker({ engine, actions: [greet, refuse, other], log: silentLogger })
  onTestFinished(() => worker.stop())
}

describe.each(WAYS)('over %s', (way) => {
  test('submit --wait tells by its exit code how the task ended', async () => {
    const { engine, over } = await serverAndStore()
    await staffed(engine)
    const fine = await over(way, 'submit', 'greet', '{"name":"Ann"}', '--wait', '60s', '-q')
    expect(fine).toEqual({ exitCode: 0, stdout: '{"hello":"Ann"}\n', stderr: '' })
    const json = await over(way, 'submit', 'greet', '{"name":"Ann"}', '--wait', '-o', 'json')
    expect(TaskView.parse(JSON.parse(json.stdout)).state).toMatchObject({
      status: 'succeeded',
      result: { hello: 'Ann' },
    })
    const failed = await over(way, 'submit', 'refuse', '--wait', '60s', '-o', 'json')
    expect(failed.exitCode).toBe(6)
    expect(TaskView.parse(JSON.parse(failed.stdout)).state.status).toBe('dead')
    expect(failed.stderr).toContain('REPRISE_TASK_FAILED')
    const late = await over(way, 'submit', 'nobody.does.this', '--wait', '20ms')
    expect(late).toMatchObject({ exitCode: 7, stdout: '' })
  })

  test('watch shows what happens, by type, task and query, and says where to go on', async () => {
    const { engine, over, heard, ask } = await serverAndStore()
    const client = await createClient({ engine })
    await staffed(engine)
    const running = over(way, 'watch', '--cursor', '0', '--type', 'execution.*,task.*', '-o', 'jsonl', 'action:refuse')
    const unlike = await client.submit(other, null)
    await unlike.result().catch(() => undefined)
    const dead = await client.submit(refuse, null)
    await dead.result().catch(() => undefined)
    const event = JSON.parse(await heard(/execution\.failed/, running)) as { subject: string; cursor: string }
    expect(event.subject).toBe(dead.id)
    ask('SIGINT')
    const { exitCode, stdout, stderr } = await running
    expect([exitCode, stdout.trim().split('\n').length]).toEqual([130, 1])
    expect(stderr).toContain('--cursor ')
    await client.close()
  })

  test('events are read since a moment and by query; their lines begin with action, task and cause', async () => {
    const { engine, over } = await serverAndStore()
    const client = await createClient({ engine })
    await staffed(engine)
    for (const action of [refuse, other]) await (await client.submit(action, null)).result().catch(() => undefined)
    const dead = await client.submit(refuse, null, { notify: true })
    await dead.result().catch(() => undefined)
    const { stdout, exitCode } = await over(way, 'events', '--since', '1h', 'action:refuse', '-o', 'jsonl', '-q')
    expect(exitCode).toBe(0)
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; data: { details: { action: string } } })
    expect(found.map(({ type, data }) => [type, data.details.action])).toEqual([
      ['reprise.execution.failed', 'refuse'],
      ['reprise.execution.failed', 'refuse'],
      ['reprise.task.dead', 'refuse'],
    ])
    const later = await over(way, 'events', '--since', '2999-01-01T00:00:00Z', '-o', 'jsonl', '-q')
    expect(later).toMatchObject({ exitCode: 0, stdout: '' })
    const lines = (await over(way, 'events', '--task', dead.id, '-o', 'table')).stdout
    expect(lines).toContain(`execution.failed refuse ${dead.id}#1 no address. `)
    expect(lines).toContain(`task.dead refuse ${dead.id}#1 no address. `)
    await client.close()
  })

  test('watch --count ends by itself, and a cursor goes on after it', async () => {
    const { engine, over } = await serverAndStore()
    await seeded(engine)
    const first = await over(way, 'watch', '--cursor', '0', '--count', '1', '-o', 'jsonl')
    expect(first).toMatchObject({ exitCode: 0 })
    const all = (await over(way, 'events', '-o', 'jsonl', '-q')).stdout.trim().split('\n')
    expect(JSON.parse(first.stdout)).toMatchObject(JSON.parse(all[0] ?? '') as object)
    const on = await over(way, 'events', '--cursor', '2', '-n', '1', '-o', 'jsonl', '-q')
    expect(on.stdout).toBe(`${all[2]}\n`)
  })

  test('--watch without a terminal writes each row that is new or changed as one line of JSON', async () => {
    const clock = new VirtualClock()
    const { engine, over, heard, ask } = await serverAndStore({ clock })
    await seeded(engine)
    const running = over(way, 'workers', '--watch')
    expect(OPERATIONS.getWorker.output.parse(JSON.parse(await heard(/"w1"/, running)))).toMatchObject({
      draining: false,
    })
    const { items } = await engine.workers()
    await engine.register({ ...registrationOf(items[0]), worker: 'w2' as never })
    const seen = { yet: false }
    const hearing = heard(/"w2"/, running).then(() => {
      seen.yet = true
    })
    // It reads between two beats, in real time: beat until it has seen the second one.
    while (!seen.yet) await clock.advance(2_000)
    await hearing
    ask('SIGINT')
    const { exitCode, stdout } = await running
    expect(exitCode).toBe(130)
    expect(stdout.match(/"worker":"w1"/g)).toHaveLength(1)
  })
})

function registrationOf(worker: Awaited<ReturnType<Engine['workers']>>['items'][number] | undefined) {
  if (worker === undefined) throw new Error('There is no worker.')
  const { pools, actions, host, version, runtimes, endpoint } = worker
  return { pools, actions, host, version, runtimes, endpoint }
}

test.each([
  [['status'], /HELD/],
  [['lanes'], /HELD BY/],
  [['list', `action:${SLOW}`], /report\.build/],
])('%j --watch draws the screen of a terminal again', async (argv, shown) => {
  const clock = new VirtualClock()
  const { engine, over, heard, ask } = await serverAndStore({ columns: 80, clock })
  await seeded(engine)
  const running = over('store', ...argv, '--watch')
  await heard(shown, running)
  await clock.advance(2_000)
  ask('SIGINT')
  const { exitCode, stdout } = await running
  expect([exitCode, stdout.startsWith('\u001b[H\u001b[2J')]).toEqual([130, true])
  expect(stdout).not.toContain('{')
})

describe('as a process, without a terminal', () => {
  const BIN = join(import.meta.dirname, '..', 'bin', 'reprise.mjs')
  const start = (...argv: string[]): ChildProcess =>
    spawn(process.execPath, [BIN, ...argv], { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] })
  async function ended(child: ChildProcess) {
    if (child.stdout === null || child.stderr === null) throw new Error('The process was started without pipes.')
    const exit = once(child, 'exit') as Promise<[number | null]>
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit])
    return { code, stdout, stderr }
  }

  test('what changes much asks nobody and does nothing without --yes', async () => {
    const { engine, there } = await serverAndStore()
    const tasks = await seeded(engine)
    const outcome = await ended(start('cancel', '--all', ...(await there('http'))))
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toContain('Add --yes')
    expect((await engine.task(tasks.queued))?.state.status).toBe('queued')
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends the waiting with %i, and the task goes on', async (signal, code) => {
    const { engine, there } = await serverAndStore()
    const child = start('submit', 'nobody.does.this', '--id', 'here', '--wait', ...(await there('http')))
    const said = once(child.stderr ?? child, 'data')
    const outcome = ended(child)
    await said
    child.kill(signal)
    expect(await outcome).toMatchObject({ code, stdout: '' })
    expect((await engine.task('here' as never))?.state.status).toBe('queued')
  })
})
