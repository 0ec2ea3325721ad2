// One submitter takes everything there is of something: bytes in the store, places in the backlog, the worker's slots.

import { type AttackCase, judged } from '../case.ts'
import type { Answer, Api } from '../stage/api.ts'
import { SLOTS } from '../stage/server.ts'
import { atOnce, statusesOf } from './answers.ts'
import { countsOf, submitted, taskOf, until } from './tasks.ts'

/** A refusal that says what to do, and not a failure of the server. */
const isClear = ({ status, body }: Answer): boolean =>
  status >= 400 &&
  status !== 500 &&
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  String(body.code).startsWith('REPRISE_')

const victimIsTaken = async (victim: Api): Promise<Answer> =>
  victim.post('/api/v1/tasks', { action: 'shared.work', payload: {} })

export const quotaCases: readonly AttackCase[] = [
  {
    name: 'bytes-without-end',
    tries: 'A submitter fills the store with large payloads.',
    timed: true,
    slow: true,
    run: async ({ a, b, amount, keepUp }) => {
      const submitter = await a.as(['submit'])
      const payload = 'x'.repeat(1_000_000)
      const answers: Answer[] = []
      const submission = { action: 'nobody.runs-this', pool: 'nobody', payload }
      await keepUp(async () => {
        for (let turn = 0; turn < amount(30, 0); turn++) {
          answers.push(...(await atOnce(10, () => submitter.post('/api/v1/tasks', submission))))
        }
      })
      const refusals = answers.filter(({ status }) => status !== 201)
      const other = await victimIsTaken(await b.as(['submit']))
      const isTaken = refusals.length === 0 || !refusals.every(isClear) || other.status !== 201
      return judged(isTaken, `${statusesOf(answers)}; the victim gets ${other.status}`)
    },
  },
  {
    name: 'backlog-without-end',
    tries: 'A submitter fills the backlog with small tasks that nobody runs.',
    timed: true,
    slow: true,
    run: async ({ a, b, amount, keepUp }) => {
      const submitter = await a.as(['submit'])
      const line = JSON.stringify({ action: 'nobody.runs-this', pool: 'nobody' })
      const lines = `${line}\n`.repeat(amount(10_500, 0))
      const headers = { 'content-type': 'application/x-ndjson' }
      let accepted = 0
      let turnedAway = 0
      await keepUp(async () => {
        const { text } = await submitter.send('POST', '/api/v1/tasks/bulk', { raw: lines, headers })
        accepted += text.split('"accepted"').length - 1
        turnedAway += text.split('"refused"').length - 1
      })
      const other = await victimIsTaken(await b.as(['submit']))
      return judged(
        turnedAway === 0 || other.status !== 201,
        `${accepted} taken, ${turnedAway} refused; the victim gets ${other.status}`,
      )
    },
  },
  {
    name: 'submissions-without-pause',
    tries: 'A submitter sends small tasks as fast as it can.',
    timed: true,
    slow: true,
    run: async ({ a, b, amount, keepUp }) => {
      const submitter = await a.as(['submit'])
      const answers: Answer[] = []
      const submission = { action: 'nobody.runs-this', pool: 'nobody' }
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(500, 0), () => submitter.post('/api/v1/tasks', submission))))
      })
      const refusals = answers.filter(({ status }) => status !== 201)
      const other = await victimIsTaken(await b.as(['submit']))
      const isTaken = refusals.length === 0 || !refusals.every(isClear) || other.status !== 201
      return judged(isTaken, `${statusesOf(answers)}; the victim gets ${other.status}`)
    },
  },
  {
    name: 'long-tasks-in-every-slot',
    tries: "A submitter's long tasks take every slot of the platform's worker.",
    alone: true,
    timed: true,
    run: async ({ a, b, amount }) => {
      const submitter = await a.as('operator')
      const ms = amount(6_000, 3_000)
      const first = await submitted(submitter, { action: 'shared.work', payload: { ms } })
      await atOnce(amount(100, SLOTS * 3) - 1, () => submitted(submitter, { action: 'shared.work', payload: { ms } }))
      await untilFull(submitter, a.tenant)
      const victim = await b.as('operator')
      const id = await submitted(victim, { action: 'shared.work', payload: {} })
      await taskOf(victim, id, '30s')
      const { body } = await victim.get<{ readonly dispatchedAt?: number }>(`/api/v1/tasks/${id}/executions/latest`)
      const { state } = await taskOf(submitter, first, '30s')
      // While the first long task runs, no slot that was taken comes free.
      const isBeside = body.dispatchedAt !== undefined && state.at !== undefined && body.dispatchedAt < state.at
      return judged(!isBeside, `the victim's task ${isBeside ? 'starts beside them' : 'waits for a slot'}`)
    },
  },
]

const LOOKS_ALIKE = 10

/** Until no more of its tasks start. */
async function untilFull(api: Api, tenant: string): Promise<void> {
  let running = 0
  let alike = 0
  await until(async () => {
    const now = (await countsOf(api, tenant)).running
    alike = now === running && now > 0 ? alike + 1 : 0
    running = now
    return alike >= LOOKS_ALIKE
  })
}
