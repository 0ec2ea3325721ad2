// A tenant's operator undoes what the platform decided about that tenant, or takes names that are another tenant's.

import { type AttackCase, judged } from '../case.ts'
import type { Scene } from '../stage/scene.ts'
import { gatesOf, submitted, taskOf } from './tasks.ts'

const ACTION = { action: 'nobody.runs-this', pool: 'nobody' } as const

async function gateKinds({ admin, a }: Scene): Promise<readonly string[]> {
  const id = await submitted(await a.as(['submit']), ACTION)
  return (await gatesOf(admin, id)).map(({ kind }) => kind)
}

export const holdCases: readonly AttackCase[] = [
  {
    name: 'lift-a-pause-of-the-platform',
    tries: "A tenant's operator lets lanes go on that the platform holds.",
    run: async (scene) => {
      const { a, admin } = scene
      await admin.post('/api/v1/lanes/pause', { tenant: a.tenant, reason: 'unpaid' })
      const operator = await a.as('operator')
      const answer = await operator.post('/api/v1/lanes/resume', { tenant: a.tenant })
      const isLifted = !(await gateKinds(scene)).includes('paused')
      return judged(isLifted, `answered ${answer.status}; the lanes are ${isLifted ? 'free' : 'held'}`)
    },
  },
  {
    name: 'take-over-a-pause-of-the-platform',
    tries: "A tenant's operator pauses what the platform holds already, and lets its own pause go.",
    run: async (scene) => {
      const { a, admin } = scene
      await admin.post('/api/v1/lanes/pause', { tenant: a.tenant, reason: 'unpaid' })
      const operator = await a.as('operator')
      await operator.post('/api/v1/lanes/pause', { tenant: a.tenant, reason: 'mine now' })
      await operator.post('/api/v1/lanes/resume', { tenant: a.tenant })
      const isLifted = !(await gateKinds(scene)).includes('paused')
      return judged(isLifted, `the lanes are ${isLifted ? 'free' : 'held'}`)
    },
  },
  {
    name: 'lift-a-limit-of-the-platform',
    tries: "A tenant's operator raises and lifts a limit that the platform set.",
    run: async (scene) => {
      const { a, admin } = scene
      const operator = await a.as('operator')
      await submitted(operator, ACTION)
      await admin.post('/api/v1/lanes/limit', { tenant: a.tenant, concurrency: 0, reason: 'noisy' })
      const raised = await operator.post('/api/v1/lanes/limit', { tenant: a.tenant, concurrency: 1_000 })
      const lifted = await operator.post('/api/v1/lanes/limit', { tenant: a.tenant, concurrency: null })
      const isLifted = !(await gateKinds(scene)).includes('concurrency')
      return judged(
        isLifted,
        `answered ${raised.status} and ${lifted.status}; the limit ${isLifted ? 'is gone' : 'holds'}`,
      )
    },
  },
  {
    name: 'squat-an-id',
    tries: 'A submitter takes the id that the victim will use for its next task.',
    run: async ({ a, b }) => {
      const id = `invoice-${a.tenant}`
      await submitted(await a.as(['submit']), { ...ACTION, id })
      const victim = await b.as('operator')
      const answer = await victim.post<{ readonly id: string; readonly outcome: string }>('/api/v1/tasks', {
        ...ACTION,
        id,
      })
      const isTaken = answer.status !== 201
      const seen = isTaken ? null : await taskOf(victim, answer.body.id)
      return judged(isTaken || seen === null, `the victim gets ${answer.status}`)
    },
  },
  {
    name: 'ask-for-an-id',
    tries: 'A submitter finds out whether another tenant has a task of some id, by submitting it.',
    run: async ({ a, b }) => {
      const id = `secret-project-${b.tenant}`
      await submitted(await b.as(['submit']), { ...ACTION, id })
      const submitter = await a.as('operator')
      const taken = await submitter.post('/api/v1/tasks', { ...ACTION, id })
      const free = await submitter.post('/api/v1/tasks', { ...ACTION, id: `no-${id}` })
      const lines = [id, `none-${id}`].map((one) => JSON.stringify({ ...ACTION, id: `${one}` })).join('\n')
      const headers = { 'content-type': 'application/x-ndjson' }
      const second = await b.as(['submit'])
      await submitted(second, { ...ACTION, id: `bulk-${id}` })
      const bulk = await submitter.send('POST', '/api/v1/tasks/bulk', {
        raw: lines.replaceAll('"secret-', '"bulk-secret-').replaceAll('"none-', '"bulk-none-'),
        headers,
      })
      const isTold = taken.status !== free.status || bulk.text.includes('refused')
      return judged(isTold, `a taken id gets ${taken.status}, a free one ${free.status}`)
    },
  },
  {
    name: 'read-by-the-id-of-another',
    tries: "A viewer asks for the victim's tasks by their ids, in every way there is.",
    run: async ({ a, b }) => {
      const canary = `canary-${b.tenant}`
      const id = await submitted(await b.as(['submit']), { ...ACTION, id: `task-${b.tenant}`, payload: { canary } })
      const attacker = await a.as('admin')
      const paths = ['', '/executions', '/executions/latest', '/explain'].map((end) => `/api/v1/tasks/${id}${end}`)
      const asked = [
        ...paths,
        `/api/v1/tasks?q=id:${id}`,
        `/api/v1/tasks/export?q=id:${id}`,
        `/api/v1/tasks?q=tenant:${b.tenant}`,
        `/api/v1/counts?tenant=${b.tenant}`,
        `/api/v1/lanes?tenant=${b.tenant}`,
        `/api/v1/series?tenant=${b.tenant}`,
      ]
      const answers = await Promise.all(asked.map((path) => attacker.get(path)))
      const told = answers.find(
        ({ status, text }) => text.includes(canary) || (status === 200 && text.includes(b.tenant)),
      )
      const changed = await Promise.all([
        attacker.post(`/api/v1/tasks/${id}/cancel`, {}),
        attacker.post('/api/v1/tasks/cancel', { ids: [id] }),
        attacker.post('/api/v1/lanes/pause', { tenant: b.tenant }),
        attacker.post(`/api/v1/executions/${id}/retry`, {}),
      ])
      const { state } = await taskOf(await b.as('viewer'), id)
      const isChanged = changed.some(({ status }) => status < 400) || state.status !== 'queued'
      return judged(
        told !== undefined || isChanged,
        `answers ${answers.map(({ status }) => status).join(' ')}; the task is ${state.status}`,
      )
    },
  },
]
