// Small things that tell a caller limited to one tenant about others: what exists, who is held and why, how busy they are.

import { type AttackCase, judged } from '../case.ts'
import type { Answer } from '../stage/api.ts'
import { endedTask, submitted } from './tasks.ts'

const ACTION = { action: 'nobody.runs-this', pool: 'nobody' } as const

interface SeenCause {
  readonly fingerprint: string
  readonly sample: { readonly code: string }
}

const failing = (code: string) => ({ action: 'shared.work', payload: { fail: 'no', code } })

/** Without what differs from one answer to the next anyway. */
const comparable = ({ status, text }: Answer, ...names: readonly string[]): string =>
  `${status} ${names.reduce((rest, name) => rest.replaceAll(name, '*'), text).replace(/"(?:requestId|cursor|now)":("[^"]*"|\d+)/g, '')}`

export const tellTaleCases: readonly AttackCase[] = [
  {
    name: 'events-of-a-task',
    tries: "A viewer asks for the events of the victim's task, and sees whether there is one.",
    run: async ({ a, b }) => {
      const operator = await b.as('operator')
      const id = await submitted(operator, { ...ACTION, id: `known-${b.tenant}` })
      await operator.post(`/api/v1/tasks/${id}/cancel`, { reason: `because of ${b.tenant}` })
      const viewer = await a.as('viewer')
      const none = `unknown-${b.tenant}`
      const [there, missing] = await Promise.all(
        [id, none].map((task) => viewer.get(`/api/v1/events?task=${encodeURIComponent(task)}`)),
      )
      if (there === undefined || missing === undefined) throw new Error('No answer.')
      const cursors = [there, missing].map(({ text }) => /"cursor":"([^"]*)"/.exec(text)?.[1] ?? '')
      const isTold =
        comparable(there, id) !== comparable(missing, none) || (cursors[0] ?? '').length !== (cursors[1] ?? '').length
      return judged(isTold, isTold ? 'the answers differ' : 'both are answered alike')
    },
  },
  {
    name: 'metrics-of-the-whole-store',
    tries: 'A viewer of one tenant reads the metrics of all, from another host.',
    run: async ({ a, admin }) => {
      const viewer = await a.as('viewer')
      const headers = { 'x-forwarded-for': '203.0.113.9' }
      const [theirs, operators] = await Promise.all([
        viewer.get('/metrics', { headers }),
        admin.get('/metrics', { headers }),
      ])
      return judged(theirs.status === 200, `the viewer gets ${theirs.status}, the operator ${operators.status}`)
    },
  },
  {
    name: 'policies-about-others',
    tries: 'A viewer reads in the text of the policies what they say about other tenants.',
    run: async ({ a, b, admin }) => {
      const text = `# ${b.tenant} pays late\npolicies:\n  - { name: about-${b.tenant}, match: { tenants: ${b.tenant} }, retries: 1 }\n`
      const { status } = await admin.send('PUT', '/api/v1/policies', { body: { text } })
      if (status >= 400) throw new Error(`The policies were not taken: ${status}`)
      const attacker = await a.as('admin')
      const paths = [
        '/api/v1/policies',
        '/api/v1/policies/versions',
        '/api/v1/policies/versions/1',
        '/api/v1/events?limit=500',
      ]
      const answers = await Promise.all(paths.map((path) => attacker.get(path)))
      const told = paths.filter((_, index) => answers[index]?.text.includes(b.tenant))
      return judged(told.length > 0, told.length === 0 ? 'nothing is told' : `told at ${told.join(', ')}`)
    },
  },
  {
    name: 'reasons-of-holds',
    tries: 'A viewer reads why the platform holds lanes, which is about another tenant.',
    alone: true,
    run: async ({ a, b, admin }) => {
      const id = await submitted(await a.as(['submit']), ACTION)
      const canary = `incident at ${b.tenant}`
      await admin.post('/api/v1/lanes/pause', { pool: 'nobody', reason: canary })
      await admin.post('/api/v1/lanes/limit', { all: true, concurrency: 0, reason: canary })
      const viewer = await a.as('admin')
      const paths = [`/api/v1/tasks/${id}/explain`, '/api/v1/lanes', '/api/v1/events?limit=500']
      const answers = await Promise.all(paths.map((path) => viewer.get(path)))
      const told = paths.filter((_, index) => answers[index]?.text.includes(b.tenant))
      return judged(
        told.length > 0,
        told.length === 0 ? 'the reason stays with the platform' : `told at ${told.join(', ')}`,
      )
    },
  },
  {
    name: 'actors-of-flags',
    tries: 'A viewer reads who switched a feature.',
    run: async ({ a, admin }) => {
      const { body } = await admin.get<{ readonly actor: string }>('/api/v1/me')
      for (const on of [false, true]) {
        await admin.send('PUT', '/api/v1/flags/dlq-inspector', { body: { on, reason: 'to try' } })
      }
      const viewer = await a.as('viewer')
      const { text } = await viewer.get('/api/v1/flags')
      const isTold = text.includes(body.actor)
      return judged(isTold, isTold ? 'the operator is named' : 'nobody is named')
    },
  },
  {
    name: 'names-of-workers',
    tries: 'A viewer learns the names of workers and hosts from its own tasks.',
    run: async ({ a, admin }) => {
      const operator = await a.as('operator')
      const id = await submitted(operator, { action: 'shared.work', payload: {} })
      await operator.get(`/api/v1/tasks/${id}?wait=10s`)
      const running = await submitted(operator, { action: 'shared.work', payload: { ms: 2_000 } })
      await operator.get(`/api/v1/tasks/${running}?wait=300ms`)
      const { body } = await admin.get<{ readonly items: readonly { readonly worker: string }[] }>('/api/v1/workers')
      const names = body.items.map(({ worker }) => worker)
      const viewer = await a.as('admin')
      const ends = ['', '/executions', '/executions/latest', '/explain']
      const paths = [
        ...[id, running].flatMap((task) => ends.map((end) => `/api/v1/tasks/${task}${end}`)),
        '/api/v1/tasks',
        '/api/v1/tasks/export?q=',
        '/api/v1/events?limit=500',
      ]
      const answers = await Promise.all(paths.map((path) => viewer.get(path)))
      const told = paths.filter((_, index) => names.some((name) => answers[index]?.text.includes(name)))
      return judged(told.length > 0, told.length === 0 ? 'no worker is named' : `named at ${told.join(', ')}`)
    },
  },
  {
    name: 'names-of-tokens',
    tries: "A tenant's admin finds out the names of others' tokens, by making tokens of the same names.",
    run: async ({ a, b }) => {
      const name = `deploys-of-${b.tenant}`
      const victim = await b.as('admin')
      await victim.post('/api/v1/tokens', { name, role: 'viewer' })
      const attacker = await a.as('admin')
      const taken = await attacker.post('/api/v1/tokens', { name, role: 'viewer' })
      const free = await attacker.post('/api/v1/tokens', { name: `no-${name}`, role: 'viewer' })
      return judged(
        taken.status !== free.status,
        `a name that is taken gets ${taken.status}, a free one ${free.status}`,
      )
    },
  },
  {
    name: 'causes-that-were-merged',
    tries: "An operator asks about a cause of its tenant which the platform has merged into one of the victim's.",
    run: async ({ a, b, admin }) => {
      const operator = await a.as('operator')
      const [mine, also, theirs] = [`MINE_${a.tenant}`, `ALSO_${a.tenant}`, `THEIRS_${b.tenant}`]
      await endedTask(operator, failing(mine))
      await endedTask(operator, failing(also))
      await endedTask(await b.as('operator'), failing(theirs))
      const causes = await admin.get<{ readonly items: readonly SeenCause[] }>('/api/v1/failure-groups?limit=500')
      const [cause, other, into] = [mine, also, theirs].map(
        (code) => causes.body.items.find(({ sample }) => sample.code === code)?.fingerprint,
      )
      const merged = await admin.post(`/api/v1/failure-groups/${into}/merge`, { from: [cause, other] })
      if (merged.status !== 200) throw new Error(`The causes were not merged: ${merged.status} ${merged.text}`)
      const [told, found] = await Promise.all([
        operator.get(`/api/v1/failure-groups/${cause}/cause`),
        operator.post<{ readonly matched?: number }>('/api/v1/tasks/redrive', { fingerprint: cause, dryRun: true }),
      ])
      const isTold = into !== undefined && told.text.includes(into)
      return judged(
        isTold || found.body.matched !== 1,
        `${isTold ? "the victim's cause is named" : 'no other cause is named'}, ${found.body.matched} task would be sent`,
      )
    },
  },
  {
    name: 'names-of-notes-and-webhooks',
    tries: "A tenant's admin asks for notes, webhooks and tokens of others by their ids.",
    run: async ({ a, b }) => {
      const victim = await b.as('admin')
      const task = await submitted(victim, ACTION)
      const note = await victim.post<{ readonly id: string }>('/api/v1/notes', { task, text: `about ${b.tenant}` })
      const hook = await victim.post<{ readonly webhook: { readonly id: string } }>('/api/v1/webhooks', {
        url: 'http://127.0.0.1:9/hook',
        tenant: b.tenant,
      })
      const token = await victim.post<{ readonly id: string }>('/api/v1/tokens', {
        name: `t-${b.tenant}`,
        role: 'viewer',
      })
      const attacker = await a.as('admin')
      const attempts = [
        ['DELETE', `/api/v1/notes/${note.body.id}`],
        ['GET', `/api/v1/webhooks/${hook.body.webhook?.id}`],
        ['GET', `/api/v1/webhooks/${hook.body.webhook?.id}/deliveries`],
        ['DELETE', `/api/v1/webhooks/${hook.body.webhook?.id}`],
        ['DELETE', `/api/v1/tokens/${token.body.id}`],
      ] as const
      const answers = await Promise.all(attempts.map(([method, path]) => attacker.send(method, path)))
      const open = answers.filter(({ status }) => status !== 404 && status !== 403)
      return judged(open.length > 0, `answers ${answers.map(({ status }) => status).join(' ')}`)
    },
  },
]
