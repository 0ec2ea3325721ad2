// Jobs as weapons: jobs that never end in every place, and chunks whose results are slow to show.

import { type AttackCase, judged } from '../case.ts'
import type { Answer, Api } from '../stage/api.ts'
import { atOnce, statusesOf } from './answers.ts'
import { until } from './tasks.ts'

interface SeenJob {
  readonly id: string
  readonly status: string
}

const start = (api: Api, body: Readonly<Record<string, unknown>>): Promise<Answer<SeenJob>> =>
  api.post<SeenJob>('/api/v1/jobs', { action: 'shared.work', ...body })

const isEnded = (api: Api, id: string): Promise<boolean> =>
  until(async () => (await api.get<SeenJob>(`/api/v1/jobs/${id}`)).body.status === 'succeeded')

export const jobCases: readonly AttackCase[] = [
  {
    name: 'jobs-in-every-place',
    tries: 'A submitter starts jobs that wait for chunks for ever, and the victim wants one.',
    alone: true,
    run: async ({ a, b, amount }) => {
      const attacker = await a.as('operator')
      const answers = await atOnce(amount(150, 110), () => start(attacker, {}))
      const victim = await b.as('operator')
      const { body, status } = await start(victim, { range: { to: 3 } })
      const isMoved = status === 201 && (await isEnded(victim, body.id))
      return judged(!isMoved, `${statusesOf(answers)}; the victim's job ${isMoved ? 'ends' : 'is not moved'}`)
    },
  },
  {
    name: 'chunks-with-slow-results',
    tries: 'A viewer lists chunks whose results are large and slow to redact, many times at once.',
    timed: true,
    run: async ({ a, amount, keepUp }) => {
      const operator = await a.as('operator')
      const { body } = await start(operator, {})
      const payload = { reply: '4 '.repeat(2_000), repeat: amount(200, 20) }
      const payloads = Array.from({ length: amount(10, 3) }, () => payload)
      await operator.post(`/api/v1/jobs/${body.id}/chunks`, { from: 0, payloads, last: true })
      if (!(await isEnded(operator, body.id))) throw new Error('The job did not end.')
      const viewer = await a.as('viewer')
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(20, 2), () => viewer.get(`/api/v1/jobs/${body.id}/chunks`))))
      })
      const isBroken = answers.some(({ status }) => status === 0 || (status >= 500 && status !== 503))
      return judged(isBroken, `answers: ${statusesOf(answers)}`)
    },
  },
]
