// Callers who open more than they need, and keep it: streams, exports, long polls, lanes.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AttackCase, judged } from '../case.ts'
import type { Answer } from '../stage/api.ts'
import { type Held, hold } from '../stage/held.ts'
import type { Scene } from '../stage/scene.ts'
import { atOnce, statusesOf } from './answers.ts'
import { submitted } from './tasks.ts'

const STREAM = '/api/v1/events/stream'

/** Opens as many as asked for, a few at a time, and lets go of them when the case is over. */
async function opened(
  { later }: Scene,
  count: number,
  open: (index: number) => Promise<Held>,
): Promise<readonly Held[]> {
  const all: Held[] = []
  later(() => {
    for (const one of all) one.close()
  })
  for (let at = 0; at < count; at += STEP) {
    all.push(...(await atOnce(Math.min(STEP, count - at), (index) => open(at + index))))
  }
  return all
}

const STEP = 100

async function bulk(scene: Scene, lineOf: (index: number) => Readonly<Record<string, unknown>>, count: number) {
  const { a, b } = scene
  const submitter = await a.as(['submit'])
  const lines = Array.from({ length: count }, (_, index) => JSON.stringify(lineOf(index))).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { text } = await submitter.send('POST', '/api/v1/tasks/bulk', { raw: lines, headers })
  const outcomes = text.split('\n').filter((line) => line !== '')
  const accepted = outcomes.filter((line) => line.includes('"accepted"')).length
  const other: Answer = await (await b.as(['submit'])).post('/api/v1/tasks', { action: 'b.own', pool: 'b-own' })
  return { accepted, refused: outcomes.length - accepted, other }
}

export const greedCases: readonly AttackCase[] = [
  {
    name: 'streams-by-many-tokens',
    tries: "A tenant's admin makes many tokens, and opens as many live streams with each as it may.",
    timed: true,
    run: async (scene) => {
      const { a, b, admin, amount, keepUp } = scene
      const maker = await a.as('admin')
      const tokens: string[] = []
      for (let number = 0; number < amount(51, 51); number++) {
        const made = await maker.post<{ readonly token: string }>('/api/v1/tokens', {
          name: `${a.tenant}-greedy-${number}`,
          role: 'viewer',
        })
        if (made.status === 201) tokens.push(made.body.token)
      }
      const streams = await opened(scene, tokens.length * 10, (index) =>
        hold(maker.as(tokens[index % tokens.length] ?? null), STREAM),
      )
      await keepUp(pause)
      const [theirs, operators] = await Promise.all([hold(await b.as('viewer'), STREAM), hold(admin, STREAM)])
      scene.later(() => [theirs.close(), operators.close()])
      const isShut = theirs.status !== 200 || operators.status !== 200
      const open = streams.filter(({ status }) => status === 200).length
      return judged(
        isShut,
        `${open} of ${streams.length} opened; the victim gets ${theirs.status}, the operator ${operators.status}`,
      )
    },
  },
  {
    name: 'stalled-exports',
    tries: 'A viewer begins many exports and reads none of them.',
    timed: true,
    run: async (scene) => {
      const { a, amount, keepUp } = scene
      const operator = await a.as('operator')
      const payload = 'x'.repeat(amount(500_000, 100_000))
      for (let number = 0; number < 20; number++) {
        await operator.post('/api/v1/tasks', { action: 'nobody.runs-this', pool: 'nobody', payload })
      }
      const exports = await opened(scene, amount(300, 100), () => hold(operator, '/api/v1/tasks/export?q='))
      await keepUp(pause)
      return judged(
        !exports.some(({ status }) => status === 429),
        `${exports.length} exports at once: ${statusesOf(exports)}`,
      )
    },
  },
  {
    name: 'long-polls-without-end',
    tries: 'A viewer waits for one task thousands of times at once.',
    timed: true,
    slow: true,
    run: async (scene) => {
      const { a, amount, keepUp } = scene
      const operator = await a.as('operator')
      const id = await submitted(operator, { action: 'nobody.runs-this', pool: 'nobody' })
      const polls = await opened(scene, amount(3_000, 0), () => hold(operator, `/api/v1/tasks/${id}?wait=60s`))
      await keepUp(pause)
      return judged(!polls.some(({ status }) => status === 429), `${polls.length} long polls: ${statusesOf(polls)}`)
    },
  },
  {
    name: 'lanes-without-end',
    tries: 'A submitter names a new pool and action with each task.',
    timed: true,
    slow: true,
    run: async (scene) => {
      const count = scene.amount(5_000, 0)
      const line = (index: number) => ({ action: `made.up-${index}`, pool: `made-up-${index}` })
      const { accepted, refused, other } = await bulk(scene, line, count)
      await scene.keepUp(pause)
      return judged(
        accepted >= count || other.status !== 201,
        `${accepted} lanes taken, ${refused} refused; the victim gets ${other.status}`,
      )
    },
  },
  {
    name: 'settings-without-end',
    tries: 'A submitter gives each task settings that no other has.',
    timed: true,
    slow: true,
    run: async (scene) => {
      const count = scene.amount(5_000, 0)
      const line = (index: number) => ({
        action: 'nobody.runs-this',
        pool: 'nobody',
        settings: { timeout: 1_000 + index, sla: 3_600_000 + index },
      })
      const { accepted, refused, other } = await bulk(scene, line, count)
      await scene.keepUp(pause)
      return judged(
        accepted >= count || other.status !== 201,
        `${accepted} settings taken, ${refused} refused; the victim gets ${other.status}`,
      )
    },
  },
]

/** What was opened stays open meanwhile. */
const pause = (): Promise<void> => sleep(500)
