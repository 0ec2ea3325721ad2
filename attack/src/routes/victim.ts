// The victim of random requests: a bit of everything, with a word in it that nobody else may ever see, and a picture of it all
// that must not change.

import { endedTask, submitted } from '../cases/tasks.ts'
import type { Scene } from '../stage/scene.ts'

export interface Victim {
  /** In everything that it has, and in no request. */
  readonly canary: string
  /** Names of what it has, for requests to ask for. */
  readonly names: readonly string[]
  /** The same text as long as nothing was changed. */
  readonly picture: () => Promise<string>
}

interface Identified {
  readonly id: string
}

export async function settledVictim({ b, admin }: Scene, canary: string): Promise<Victim> {
  const own = await b.as('admin')
  const labels = { note: canary }
  const queued = await submitted(own, {
    id: `b-queued-${b.tenant}`,
    action: 'b.waits',
    pool: 'b-pool',
    payload: { canary },
    labels,
  })
  const waiting = await submitted(own, {
    id: `b-waiting-${b.tenant}`,
    action: 'b.waits',
    pool: 'b-pool',
    delay: '10d',
    payload: canary,
  })
  const dead = await endedTask(own, {
    action: 'shared.work',
    payload: { fail: canary },
    settings: { retry: { max: 0 } },
    labels,
  })
  await own.post('/api/v1/lanes/pause', { tenant: b.tenant, action: 'b.waits', reason: canary })
  const hook = await own.post<{ readonly webhook: Identified }>('/api/v1/webhooks', {
    url: 'http://127.0.0.1:9/hook',
    tenant: b.tenant,
    description: canary,
    enabled: false,
  })
  const note = await own.post<Identified>('/api/v1/notes', { task: queued, text: canary })
  const token = await own.post<Identified>('/api/v1/tokens', { name: `b-spare-${b.tenant}`, role: 'viewer' })
  const events = await own.get<{ readonly cursor: string }>('/api/v1/events?limit=1')
  const cursor = await own.get<{ readonly next: string | null }>('/api/v1/tasks?limit=1')
  const looked = [
    '/api/v1/tasks?limit=100',
    '/api/v1/counts',
    '/api/v1/lanes',
    '/api/v1/webhooks',
    `/api/v1/tasks/${queued}`,
    `/api/v1/tasks/${waiting}`,
    `/api/v1/tasks/${dead.id}/executions`,
    '/api/v1/tokens',
  ]
  return {
    canary,
    names: [
      queued,
      waiting,
      dead.id,
      `${dead.id}:1`,
      b.tenant,
      'b.waits',
      'b-pool',
      hook.body.webhook?.id ?? 'none',
      note.body.id,
      token.body.id,
      events.body.cursor,
      cursor.body.next ?? 'none',
    ],
    picture: async () => {
      const answers = await Promise.all(looked.map((path) => own.get(path)))
      const policies = await admin.get('/api/v1/policies')
      const flags = await admin.get('/api/v1/flags')
      return [...answers, policies, flags]
        .map(({ status, text }) => `${status} ${text.replaceAll(/"lastUsedAt":(?:\d+|null)/g, '')}`)
        .join('\n')
    },
  }
}
