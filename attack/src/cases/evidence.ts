// One tenant stops another by what it makes the store believe: failures that it caused itself must not hold the work of
// others, by breakers, by quotas or by the health of workers.

import { type AttackCase, judged, succeeded } from '../case.ts'
import type { Api } from '../stage/api.ts'
import type { Scene } from '../stage/scene.ts'
import { atOnce, statusesOf } from './answers.ts'
import { endedTask, gatesOf, submitted, taskOf, until } from './tasks.ts'

const BREAKER_ON = `policies:
  - name: everything
    retries: 5
    backoff: { kind: fixed, delay: 1s, jitter: 0 }
    breaker: on
`
const QUOTA_WINDOW_MS = 10_000
const QUOTA_ON = `policies:
  - name: everything
    retries: 5
    backoff: { kind: fixed, delay: 1s, jitter: 0 }
    quota: { limit: 2, window: 10s }
`

async function published({ admin }: Scene, text: string): Promise<void> {
  const { status, text: said } = await admin.send('PUT', '/api/v1/policies', { body: { text } })
  if (status >= 400) throw new Error(`The policies were not taken: ${said.slice(0, 300)}`)
}

/** Whether the victim's task of the same action runs, and what holds it if not. */
async function victimRuns({ b }: Scene, action: string) {
  const victim = await b.as('operator')
  const id = await submitted(victim, { action, payload: {} })
  const gates = await gatesOf(victim, id)
  const held = gates.find(({ kind }) => kind === 'breaker' || kind === 'no_worker')
  const { state } = await taskOf(victim, id, '10s')
  const isRun = state.status === 'succeeded'
  return {
    isHeld: held !== undefined || !isRun,
    seen: `the victim's task is ${state.status}${held === undefined ? '' : `, held by ${held.kind}`}`,
  }
}

/** More than a rule tells of in an hour. */
const CAUSES = 520
const CAUSES_AT_ONCE = 20
const CAUSES_TOLD = 500

interface Alerts {
  readonly items: readonly { readonly says: string }[]
}

/** A word of its own for each number: digits are left out of a cause. */
const lettersOf = (number: number): string =>
  `CAUSE_${number
    .toString()
    .padStart(4, '0')
    .replaceAll(/\d/g, (digit) => 'ABCDEFGHIJ'.charAt(Number(digit)))}`

const FAILING = { action: 'shared.work', payload: { fail: 'connection reset', code: 'ECONNRESET' } }

/** Whether the retry of a victim's task has to wait for longer than a window of the quota. */
async function victimRetries({ b }: Scene) {
  const victim = await b.as('operator')
  const id = await submitted(victim, FAILING)
  let dueInMs = 0
  await until(async () => {
    const { state } = await taskOf(victim, id)
    if (state.status !== 'waiting') return false
    dueInMs = (state.dueAt ?? 0) - (state.since ?? 0)
    return true
  })
  return judged(
    dueInMs > QUOTA_WINDOW_MS,
    `the victim's retry waits for ${dueInMs} ms; a window has ${QUOTA_WINDOW_MS} ms`,
  )
}

const failureEvent = (scene: Scene, index: number, code: string) => ({
  specversion: '1.0',
  type: 'task.execution.failed',
  source: '/elsewhere',
  id: `event-${index}`,
  data: {
    errorCode: code,
    errorMessage: 'connection refused',
    retryable: true,
    idempotencyKey: `key-${index}`,
    action: 'shared.work',
    tenant: scene.a.tenant,
  },
})

async function reportedFailures(scene: Scene, submitter: Api, count: number) {
  const events = Array.from({ length: count }, (_, index) => failureEvent(scene, index, 'ECONNREFUSED'))
  const headers = { 'content-type': 'application/cloudevents-batch+json' }
  const { status, text } = await submitter.send('POST', '/api/v1/events', { body: events, headers })
  if (status >= 400) throw new Error(`The failures were not taken: ${text.slice(0, 300)}`)
}

export const evidenceCases: readonly AttackCase[] = [
  {
    name: 'made-up-dependencies',
    tries: 'A submitter names a dependency that the action does not have, and has its tasks time out.',
    alone: true,
    timed: true,
    run: async (scene) => {
      const { a, keepUp } = scene
      const submitter = await a.as('operator')
      const settings = { timeout: 1, uses: ['x'] }
      const answers: { readonly status: number }[] = []
      await keepUp(async () => {
        const some = await atOnce(20, () =>
          submitter.post('/api/v1/tasks', { action: 'shared.work', payload: { ms: 500 }, settings }),
        )
        answers.push(...some)
      })
      const { isHeld, seen } = await victimRuns(scene, 'shared.work')
      if (answers.some(({ status }) => status === 201)) return succeeded(`taken: ${statusesOf(answers)}; ${seen}`)
      return judged(isHeld, seen)
    },
  },
  {
    name: 'time-outs-open-a-breaker',
    tries: 'A submitter shortens the time-out of its own tasks until they look like an outage.',
    alone: true,
    timed: true,
    run: async (scene) => {
      await published(scene, BREAKER_ON)
      const submitter = await scene.a.as('operator')
      const submission = { action: 'shared.work', payload: { ms: 500 }, settings: { timeout: 1, retry: { max: 0 } } }
      const once = () => atOnce(20, () => submitter.post('/api/v1/tasks', submission))
      await scene.keepUp(once)
      await endedTask(submitter, submission)
      const { isHeld, seen } = await victimRuns(scene, 'shared.work')
      return judged(isHeld, seen)
    },
  },
  {
    name: 'own-failures-open-a-breaker',
    tries: "A tenant's own tasks fail as in an outage of what the action depends on.",
    alone: true,
    timed: true,
    run: async (scene) => {
      const { a, b, keepUp } = scene
      await published(scene, BREAKER_ON)
      // There are several tenants, and the others do well.
      const victim = await b.as('operator')
      await atOnce(3, () => endedTask(victim, { action: 'shared.dependent', payload: {} }))
      const submitter = await a.as('operator')
      const payload = { fail: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }
      const submission = { action: 'shared.dependent', payload }
      await keepUp(() => atOnce(20, () => submitter.post('/api/v1/tasks', submission)))
      const id = await submitted(submitter, submission)
      await until(async () => {
        const task = await taskOf(submitter, id)
        return task.failures > 0 || (await gatesOf(submitter, id)).some(({ kind }) => kind === 'breaker')
      })
      const { isHeld, seen } = await victimRuns(scene, 'shared.dependent')
      return judged(isHeld, seen)
    },
  },
  {
    name: 'reported-failures-open-a-breaker',
    tries: 'A submitter reports failures of tasks that run elsewhere, which look like an outage.',
    alone: true,
    timed: true,
    run: async (scene) => {
      await published(scene, BREAKER_ON)
      const submitter = await scene.a.as(['submit'])
      await scene.keepUp(() => reportedFailures(scene, submitter, 20))
      const { isHeld, seen } = await victimRuns(scene, 'shared.work')
      return judged(isHeld, seen)
    },
  },
  {
    name: 'reported-failures-book-quotas',
    tries: "A submitter reports failures until the quota of retries is used up for a long time, the victim's too.",
    alone: true,
    timed: true,
    run: async (scene) => {
      await published(scene, QUOTA_ON)
      const submitter = await scene.a.as(['submit'])
      await scene.keepUp(() => reportedFailures(scene, submitter, 20))
      return victimRetries(scene)
    },
  },
  {
    name: 'own-failures-book-quotas',
    tries: "A tenant's own failures use up a quota of retries that it shares with others, far ahead.",
    alone: true,
    timed: true,
    run: async (scene) => {
      await published(scene, QUOTA_ON)
      const submitter = await scene.a.as('operator')
      await scene.keepUp(() => atOnce(20, () => submitter.post('/api/v1/tasks', FAILING)))
      const last = await submitted(submitter, FAILING)
      await until(async () => (await taskOf(submitter, last)).failures > 0)
      return victimRetries(scene)
    },
  },
  {
    name: 'time-outs-make-workers-unhealthy',
    tries: 'A submitter gives its tasks a millisecond each, until their worker counts as unhealthy.',
    alone: true,
    timed: true,
    run: async (scene) => {
      const { a, admin, keepUp } = scene
      const submitter = await a.as('operator')
      const submission = { action: 'shared.work', payload: { ms: 500 }, settings: { timeout: 1, retry: { max: 0 } } }
      await keepUp(() => atOnce(40, () => submitter.post('/api/v1/tasks', submission)))
      await endedTask(submitter, submission)
      const { body } = await admin.get<{
        readonly items: readonly { readonly worker: string; readonly health: { readonly status: string } }[]
      }>('/api/v1/workers')
      const sick = body.items.find(({ health }) => health.status === 'unhealthy')
      const { isHeld, seen } = await victimRuns(scene, 'shared.work')
      return judged(
        isHeld || sick !== undefined,
        `${seen}; ${sick === undefined ? 'no worker is' : 'a worker is'} unhealthy`,
      )
    },
  },
  {
    name: 'causes-that-drown-others',
    tries: "An operator's tasks die of hundreds of causes, so that nobody is called for the victim's dead letter.",
    alone: true,
    slow: true,
    run: async ({ a, b, admin }) => {
      const attacker = await a.as('operator')
      const dies = (api: Api, code: string) => endedTask(api, { action: 'shared.work', payload: { fail: code, code } })
      for (let from = 0; from < CAUSES; from += CAUSES_AT_ONCE) {
        await atOnce(CAUSES_AT_ONCE, (at) => dies(attacker, lettersOf(from + at)))
      }
      const firing = async () =>
        (await admin.get<Alerts>('/api/v1/alerts?rule=dead_letters&status=firing&limit=1000')).body.items
      const isFull = await until(async () => (await firing()).length >= CAUSES_TOLD)
      await dies(await b.as('operator'), 'VICTIM')
      const isTold = await until(async () => (await firing()).some(({ says }) => says.includes('VICTIM')))
      return judged(
        isFull && !isTold,
        `${(await firing()).length} alerts; the victim's ${isTold ? 'is' : 'is not'} among them`,
      )
    },
  },
]
