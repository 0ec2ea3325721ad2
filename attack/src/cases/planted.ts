// Things that somebody plants, so that showing or changing them takes long: notes without end, texts of digits, thousands of tasks.

import { type AttackCase, judged } from '../case.ts'
import type { Answer, Api } from '../stage/api.ts'
import type { Scene } from '../stage/scene.ts'
import { atOnce, statusesOf } from './answers.ts'
import { submitted } from './tasks.ts'

/** Each digit may begin the number of a card. */
const DIGITS = '4 '.repeat(2_000)
const EVENTS = { headers: { 'content-type': 'application/cloudevents-batch+json' } } as const
const LINES = { 'content-type': 'application/x-ndjson' } as const

const letters = (number: number): string =>
  String(number).replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '')

const report = (number: number, data: Readonly<Record<string, unknown>>) => ({
  specversion: '1.0',
  type: 'task.execution.failed',
  source: '/planted',
  id: `e${number}`,
  data: { errorCode: `E${letters(number)}`, idempotencyKey: `k${number}`, ...data },
})

const isBroken = (answers: readonly Answer[]): boolean =>
  answers.some(({ status }) => status === 0 || (status >= 500 && status !== 503))

const shown = (answers: readonly Answer[]) =>
  judged(isBroken(answers), `${answers.length} answers: ${statusesOf(answers)}`)

async function manyTasks({ a, amount }: Scene, submitter: Api, fieldsOf: (index: number) => object): Promise<void> {
  const count = amount(1_000, 50)
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ pool: `nobody-${a.tenant}`, ...fieldsOf(index) }),
  )
  await submitter.send('POST', '/api/v1/tasks/bulk', { raw: lines.join('\n'), headers: LINES })
}

export const plantedCases: readonly AttackCase[] = [
  {
    name: 'reports-about-one-task',
    tries: 'A submitter reports failures of a task of its own over and over, and each is looked for among all before.',
    timed: true,
    run: async ({ a, amount, keepUp }) => {
      const submitter = await a.as(['submit'])
      const taskId = await submitted(submitter, { action: 'nobody.runs-this', pool: 'nobody', id: 'reported' })
      const answers: Answer[] = []
      const send = async (from: number): Promise<void> => {
        const events = Array.from({ length: 100 }, (_, index) => report(from + index, { retryable: true, taskId }))
        answers.push(await submitter.send('POST', '/api/v1/events', { raw: JSON.stringify(events), ...EVENTS }))
      }
      for (let from = 0; from < amount(1_000, 100); from += 100) await send(from)
      await keepUp(() => Promise.all([send(0), send(100), send(900)]))
      return shown(answers)
    },
  },
  {
    name: 'failure-groups-of-digits',
    tries: 'A submitter plants dead letters whose messages are slow to redact, and a viewer of all lists their groups.',
    timed: true,
    run: async ({ a, amount, keepUp, wholeStore }) => {
      const submitter = await a.as(['submit'])
      const groups = amount(300, 20)
      for (let from = 0; from < groups; from += 50) {
        const data = { errorMessage: DIGITS, retryable: false, action: 'nobody.runs-this' }
        const events = Array.from({ length: Math.min(50, groups - from) }, (_, index) => report(from + index, data))
        await submitter.send('POST', '/api/v1/events', { raw: JSON.stringify(events), ...EVENTS })
      }
      const viewer = await wholeStore('viewer')
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(3, 1), () => viewer.get('/api/v1/failure-groups?limit=300'))))
      })
      return shown(answers)
    },
  },
  {
    name: 'events-in-thousands',
    tries: 'A viewer of one tenant reads a thousand events at once.',
    timed: true,
    run: async (scene) => {
      const { a, amount, keepUp } = scene
      const operator = await a.as('operator')
      await manyTasks(scene, operator, () => ({ action: 'nobody.runs-this' }))
      await operator.post('/api/v1/tasks/cancel', { tenant: a.tenant, reason: DIGITS.slice(0, 400) })
      const viewer = await a.as('viewer')
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(5, 1), () => viewer.get('/api/v1/events?limit=1000&newest=true'))))
      })
      return shown(answers)
    },
  },
  {
    name: 'thousand-tasks-cancelled-at-once',
    tries: 'An operator of one tenant cancels a thousand tasks in one request.',
    timed: true,
    run: async (scene) => {
      const { a, keepUp } = scene
      const operator = await a.as('operator')
      const answers: Answer[] = []
      await keepUp(async () => {
        await manyTasks(scene, operator, () => ({ action: 'nobody.runs-this' }))
        answers.push(await operator.post('/api/v1/tasks/cancel', { tenant: a.tenant, limit: 1_000 }))
      })
      return shown(answers)
    },
  },
  {
    name: 'all-lanes-held-and-let-go',
    tries: 'An operator of one tenant holds all of its lanes and lets them go, over and over.',
    timed: true,
    run: async (scene) => {
      const { a, keepUp } = scene
      const operator = await a.as('operator')
      await manyTasks(scene, operator, (index) => ({ action: `made.up-${index}` }))
      const answers: Answer[] = []
      await keepUp(async () => {
        for (const verb of ['pause', 'resume']) {
          answers.push(await operator.post(`/api/v1/lanes/${verb}`, { tenant: a.tenant }))
        }
      })
      return shown(answers)
    },
  },
  {
    name: 'logs-of-digits',
    tries: 'A viewer reads logs that are slow to redact.',
    timed: true,
    run: async ({ a, amount, keepUp, wholeStore }) => {
      const operator = await a.as('operator')
      const pool = `logs-${a.tenant}`
      const id = await submitted(operator, { action: 'nobody.runs-this', pool })
      const worker = await wholeStore('worker')
      const name = `logs-${a.tenant}`
      const { body } = await worker.post<{ readonly epoch: number }>('/api/v1/workers', { worker: name, pools: [pool] })
      const claims = await worker.post<{ readonly claimed: readonly Record<string, unknown>[] }>('/api/v1/claims', {
        worker: name,
        epoch: body.epoch,
        pools: [pool],
      })
      const [{ taskId, attempt, token } = {}] = claims.body.claimed
      const log = { lines: Array.from({ length: 4 }, () => ({ text: DIGITS })) }
      await worker.post('/api/v1/leases/renew', { leases: [{ taskId, attempt, token, log }] })
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(20, 2), () => operator.get(`/api/v1/tasks/${id}/logs`))))
      })
      return shown(answers)
    },
  },
]
