// What people read at a terminal: lists that stay readable at 80 columns, tables that hide nothing, words in place of codes,
// and what can be done next.

import { createServer } from 'node:net'
import { type Engine, VirtualClock } from '@reprise/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { roomText } from '../src/output/times.ts'
import { connection, type Target } from '../src/session.ts'
import { eventLine } from '../src/views/events.ts'
import { deadText, tellAdvice } from '../src/views/story.ts'
import { registered, seeded, serverAndStore, WAYS } from './server-and-store.ts'
import { shell } from './shell.ts'

const words = (text: string): string => text.replaceAll(/\s+/g, ' ')

async function reporting(engine: Engine, id: string): Promise<Parameters<Engine['beat']>[0]> {
  const { worker, epoch } = await registered(engine, id)
  const figures = { inFlight: 0, queueDepth: 0, loopLagMs: 0, memoryBytes: 0, maxQuietMs: 0, outlook: null }
  return { worker, epoch, ...figures, draining: false }
}

describe.each(WAYS)('over %s', (way) => {
  test('D6: at 80 columns a task has two lines: its whole id with the figures, then action, tenant and note', async () => {
    const here = await serverAndStore({ columns: 80 })
    const tasks = await seeded(here.engine)
    const { stdout } = await here.over(way, 'list', '--no-color')
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^TASK +STATUS +TRY +AGE$/)
    const at = lines.findIndex((line) => line.startsWith(tasks.deadToo))
    expect(lines[at]).toMatch(/ dead +1 +\d+s$/)
    expect(lines[at + 1]).toBe('  invoice.send (acme) · not_retriable: the customer has no address\\u001b[31m')
    const wide = await serverAndStore({ columns: 120 })
    const same = await seeded(wide.engine)
    const one = (await wide.over(way, 'list', '--no-color')).stdout.split('\n')
    expect(one.find((line) => line.startsWith(same.deadToo))).toMatch(
      /dead +invoice\.send \(acme\) +1 .*the customer has/,
    )
  })

  test('a terminal of 140 columns shows labels and worker, a narrower one does not', async () => {
    for (const [columns, isWide] of [
      [140, true],
      [139, false],
    ] as const) {
      const here = await serverAndStore({ columns })
      const { running, succeeded, dead } = await seeded(here.engine)
      const [head = '', ...lines] = (await here.over(way, 'list', '--no-color')).stdout.split('\n')
      expect([columns, /WORKER +VERSION +LABELS/.test(head)]).toEqual([columns, isWide])
      if (!isWide) continue
      expect(lines.find((line) => line.startsWith(succeeded))).toContain('customer=c1')
      expect(lines.find((line) => line.startsWith(running))?.slice(head.indexOf('WORKER'))).toMatch(/^w1 /)
      // Of one that has ended: the worker that ran it last.
      expect(lines.find((line) => line.startsWith(dead))?.slice(head.indexOf('WORKER'))).toMatch(/^\S{2,} +\S/)
    }
  })

  test('D6: tables of 80 columns hide no part of what a flag, a sum or a template says', async () => {
    const here = await serverAndStore({ columns: 80 })
    await seeded(here.engine)
    const flags = await here.over(way, 'flags', '--no-color')
    const items = JSON.parse((await here.over(way, 'flags', '-o', 'json')).stdout) as { description: string }[]
    const [head = '', ...lines] = flags.stdout.split('\n')
    const last = words(lines.map((line) => line.slice(head.indexOf('WHAT'))).join(' '))
    for (const { description } of items) expect(last).toContain(words(description))
    const scaling = await here.over(way, 'scaling', '--no-color')
    expect(scaling.stdout).not.toContain('…')
    expect(words(scaling.stdout)).toMatch(/ slots?\. $/)
    const templates = await here.over(way, 'policy', 'templates', '--no-color')
    expect(templates.stdout).not.toContain('…')
    expect(templates.stdout).toContain('multiplier')
  })

  test('D6: how to go on stands after the list', async () => {
    const here = await serverAndStore({ columns: 80 })
    await seeded(here.engine)
    const running = here.over(way, 'list', '-n', '2', '--no-color')
    expect(await here.heard(/^TASK|There are more/, running)).toMatch(/^TASK/)
    expect((await running).stderr).toMatch(/^There are more: [\s\S]*--cursor\s/)
  })

  test('A8, A9: a dead task says what it died of and what can be done; workers are no part of that', async () => {
    const here = await serverAndStore()
    const { dead } = await seeded(here.engine)
    const { stdout } = await here.over(way, 'explain', dead)
    expect(stdout).toContain('It is dead (not_retriable): the customer has no address')
    expect(stdout).not.toContain('WORKER')
    for (const verb of ['retry', 'redrive', 'discard']) expect(stdout).toContain(`reprise ${verb} ${dead}`)
    const story = await here.over(way, 'status', dead)
    expect(story.stdout).toContain(`reprise retry ${dead}`)
    await here.over(way, 'retry', dead)
    expect((await here.over(way, 'status', dead)).stdout).not.toContain(`reprise retry ${dead}`)
  })

  test('A8: a retry that an operator asked for is told as that', async () => {
    const here = await serverAndStore()
    const { dead } = await seeded(here.engine)
    await here.over(way, 'retry', dead)
    const { worker, epoch, pools } = await registered(here.engine, 'w2')
    await here.engine.claim({ worker, epoch, pools, actions: null, limit: 9, leaseMs: 600_000 })
    const { stdout } = await here.over(way, 'status', dead)
    expect(stdout).toContain('a retry that an operator asked for')
    expect(stdout).not.toContain('manual')
  })

  test('D6: events of no known type are refused with what may be meant; patterns are fine', async () => {
    const here = await serverAndStore()
    await seeded(here.engine)
    for (const command of ['events', 'watch']) {
      const wrong = await here.over(way, command, '--type', 'execution.faild')
      expect(wrong).toMatchObject({ exitCode: 2, stdout: '' })
      expect(wrong.stderr).toContain("Did you mean 'execution.failed'?")
      const pattern = await here.over(way, command, '--type', 'bogus.*')
      expect(pattern).toMatchObject({ exitCode: 2, stdout: '' })
    }
    expect((await here.over(way, 'events', '--type', 'exec*,note')).exitCode).toBe(0)
  })

  test('D6: events name the action of a task also where its entry does not', async () => {
    const here = await serverAndStore()
    const { queued } = await seeded(here.engine)
    await here.over(way, 'cancel', queued, '--reason', 'not needed')
    const { stdout } = await here.over(way, 'events', '--type', 'task.cancelled')
    expect(stdout).toMatch(new RegExp(`task\\.cancelled [a-z.]+ ${queued}\\S* not needed\n`))
  })

  test('D6: status says when nothing ran, when nobody takes work, and why the level is what it is', async () => {
    const here = await serverAndStore()
    const empty = await here.over(way, 'status')
    expect(empty.stdout).toContain('nothing ran yet')
    expect(empty.stdout).not.toContain('- of')
    await seeded(here.engine)
    const served = await here.over(way, 'status')
    expect(served.stdout).toMatch(/Workers +1 healthy, 0 degraded, 0 unhealthy\n/)
    expect(served.stdout).not.toContain('no worker')
    const report = await reporting(here.engine, 'w1')
    await here.engine.beat({ ...report, draining: true })
    const drained = await here.over(way, 'status')
    expect(drained.stdout).toMatch(
      /Workers +1 healthy, 0 degraded, 0 unhealthy, 1 of them draining: no worker takes work\n/,
    )
    expect(drained.stdout).toMatch(/\n +warning +\d tasks? (?:is|are) queued and no worker takes work; the oldest/)
    await registered(here.engine, 'w9')
    const staffed = await here.over(way, 'status')
    expect(staffed.stdout).toMatch(/Workers +2 healthy, 0 degraded, 0 unhealthy, 1 of them draining\n/)
    expect(staffed.stdout).not.toContain('no worker')
  })
})

test('D6: an event for people has times as times, and says nothing twice', () => {
  const lines: string[] = []
  const people = {
    line: (text = '') => lines.push(text),
    prose: (text: string, { indent = 0 } = {}) => lines.push(`${' '.repeat(indent)}${text}`),
    paint: (_: string, text: string) => text,
    columns: null,
  }
  eventLine(
    {
      specversion: '1.0',
      id: '1',
      source: 'reprise',
      type: 'reprise.execution.failed',
      time: '2030-01-01T00:00:00.000Z',
      subject: 't1',
      datacontenttype: 'application/json',
      data: {
        taskId: 't1',
        attempt: 1,
        actor: 'worker:w1',
        reason: 'Retry 1 of 2 in 5s, by the backoff.',
        details: {
          code: 'connection',
          reason: 'connection',
          fingerprint: 'a5f3',
          decision: 'retry',
          detail: 'connection',
          dueAt: Date.parse('2030-01-01T00:00:05Z'),
          until: null,
          leaseMs: 90_000,
        },
      },
    },
    people as never,
  )
  expect(lines).toEqual([
    '2030-01-01T00:00:00.000Z execution.failed t1#1 Retry 1 of 2 in 5s, by the backoff.',
    '    by worker:w1  code=connection fingerprint=a5f3 decision=retry due=2030-01-01T00:00:05Z lease=1m 30s',
  ])
})

describe('D6: one of this machine that refuses connections is given up soon, and not in silence', () => {
  /** Where nobody listens any more. */
  async function closedPort(): Promise<number> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    await new Promise((resolve) => server.close(resolve))
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** The error, when it came, and what was said until then. */
  async function tried(target: Target) {
    const clock = new VirtualClock(0)
    const said: string[] = []
    const waiting = { clock, say: (text: string) => void said.push(text) }
    const failing = connection(target, { values: { tenant: null } } as never, waiting).then(async (client) => {
      onTestFinished(() => client.close())
      await client.counts()
      return null
    })
    let ended = false
    const error = failing.catch((thrown: unknown) => thrown).finally(() => (ended = true))
    while (!ended) {
      await new Promise((resolve) => setImmediate(resolve))
      const next = clock.nextAt()
      // A connection is refused in real time: the timer that gives up on the whole call must not come first.
      if (next !== null && next - clock.now() <= 1_000) await clock.advance(Math.min(next - clock.now(), 1))
    }
    return { error: await error, afterMs: clock.now(), said }
  }

  test('a server: within 2 s, after a word about it', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`
    const { error, afterMs, said } = await tried({ kind: 'http', url, token: null, from: 'test' })
    expect(error).toMatchObject({ code: 'REPRISE_UNREACHABLE' })
    expect(afterMs).toBeLessThanOrEqual(2_000)
    expect(said).toEqual([`Still trying to reach ${url} …`])
  })

  test('a Redis: within 2 s, after a word about it', async () => {
    const address = `redis://127.0.0.1:${await closedPort()}`
    const { error, afterMs, said } = await tried({ kind: 'engine', address, from: 'test' })
    expect(error).toMatchObject({ code: 'REPRISE_STORE_UNREACHABLE' })
    expect(afterMs).toBeLessThanOrEqual(2_000)
    expect(said).toEqual(['Still trying to reach the store …'])
  })

  test('a port that no request may go to is told at once', async () => {
    const { error, afterMs } = await tried({ kind: 'http', url: 'http://127.0.0.1:1', token: null, from: 'test' })
    expect(error).toMatchObject({ code: 'REPRISE_UNREACHABLE' })
    expect(String(error)).toContain('port 1 is kept')
    expect(afterMs).toBeLessThan(500)
  })
})

test('A9: a retry is suggested only while the budget allows it', () => {
  const told = (retryable: boolean, columns: number | null): readonly string[] => {
    const lines: string[] = []
    tellAdvice({ id: 't1', retryable }, { line: (text = '') => lines.push(text), paint: (_, text) => text, columns })
    return lines
  }
  const verbs = (retryable: boolean): readonly string[] =>
    told(retryable, null).flatMap((line) => /reprise (\w+)/.exec(line)?.[1] ?? [])
  expect(verbs(true)).toEqual(['retry', 'redrive', 'discard'])
  expect(verbs(false)).toEqual(['redrive', 'discard'])
  // Without room for both, a command has a line of its own: it is copied as a whole.
  expect(told(false, 40)).toContain('  reprise redrive t1')
})

test('why a task is dead is told in the words of its decision: no retries were used where none are allowed', () => {
  const decision = { kind: 'dead', reason: 'retries_exhausted', rule: 'x', sentence: 'No automatic retry is allowed.' }
  expect(deadText('retries_exhausted', { decision } as never)).toBe('No automatic retry is allowed.')
  expect(deadText('retries_exhausted', undefined)).toBe('no automatic retry is left.')
})

test('D6: room on a disk is told in the unit that fits', () => {
  expect([50 * 1_048_576, 20_000 * 1_048_576].map(roomText)).toEqual(['50 MB', '19.5 GB'])
})

test('the help of watch says what -o json writes', async () => {
  const { stdout } = await shell().reprise('watch', '--help')
  expect(words(stdout)).toContain('With -o json or jsonl it writes one line of JSON for each event.')
})
