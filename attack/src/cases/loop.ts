// One caller freezes everybody: requests that cost the server far more than their sender.

import { connect } from 'node:net'
import { type AttackCase, judged, refused, succeeded } from '../case.ts'
import type { Answer } from '../stage/api.ts'
import { atOnce, statusesOf } from './answers.ts'
import { endedTask } from './tasks.ts'

const COSTLY_PATTERN = '(a?a?){200}Z'
const LONG_TEXT = 'a'.repeat(4_000)

const costlyRules = (count: number): string =>
  `rules:\n${Array.from({ length: count }, (_, number) => `  - { name: r${number}, when: { message: "${COSTLY_PATTERN}" }, then: { reason: transient } }`).join('\n')}\npolicies: []\n`

/** Many small members and one escape, which makes a careless reader look at each of them. */
const manyMembers = (count: number): string =>
  `{"\\u0041":1,${Array.from({ length: count }, (_, number) => `"k${number}":1`).join(',')}}`

/** Payloads that look like secrets over and over, and hold none; or that have more names to be judged than anybody needs. */
const SLOW_TO_REDACT: Readonly<Record<string, (length: number) => unknown>> = {
  lists: (length) => filled('token:[1,', length),
  objects: (length) => filled('token={a ', length),
  quotes: (length) => filled(`token:\\"x x x x `, length),
  addresses: (length) => filled('redis://a', length),
  users: (length) => filled('a://b ', length),
  digits: (length) => filled('4 ', length),
  words: (length) => `${filled('pin', length)}:`,
  names: (length) => `${filled('api_key ', length)}=`,
  webTokens: (length) => filled('eyJa.b-c', length),
  certificates: (length) => filled('-----BEGIN A-----', length),
  members: (length) =>
    Object.fromEntries(Array.from({ length: Math.floor(length / 16) }, (_, at) => [`aB${at}cD`, `x${at}`])),
  texts: (length) => Array.from({ length: Math.floor(length / 16) }, (_, at) => `token: ${at}`),
}

const filled = (part: string, length: number): string => part.repeat(Math.ceil(length / part.length)).slice(0, length)

export const loopCases: readonly AttackCase[] = [
  {
    name: 'costly-patterns-as-viewer',
    tries: 'A viewer has policies of its own tried out, with patterns that take for ever.',
    timed: true,
    run: async ({ a, amount, keepUp }) => {
      const viewer = await a.as('viewer')
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(
          await viewer.post('/api/v1/policies/simulate', {
            action: 'shared.work',
            text: costlyRules(amount(200, 20)),
            failure: { message: LONG_TEXT },
            attempts: amount(100, 2),
          }),
        )
      })
      return judged(
        answers.some(({ status }) => status === 200 || status === 0),
        `a viewer's own text gets ${statusesOf(answers)}`,
      )
    },
  },
  {
    name: 'costly-patterns-as-admin',
    tries: 'An admin of the whole store, who may try policies out, has costly ones tried out.',
    timed: true,
    run: async ({ admin, amount, keepUp }) => {
      const answers: Answer[] = []
      await keepUp(async () => {
        const body = {
          action: 'shared.work',
          text: costlyRules(20),
          failure: { message: LONG_TEXT },
          attempts: amount(100, 2),
        }
        answers.push(await admin.post('/api/v1/policies/simulate', body))
      })
      return judged(
        answers.some(({ status }) => status === 0 || status >= 500),
        `answers ${statusesOf(answers)}`,
      )
    },
  },
  {
    name: 'costly-patterns-at-run-time',
    tries: 'Failures with long texts meet policies that somebody wrote with costly patterns.',
    alone: true,
    timed: true,
    prepare: async ({ admin, amount }) => {
      const { status } = await admin.send('PUT', '/api/v1/policies', { body: { text: costlyRules(amount(200, 20)) } })
      if (status >= 400) throw new Error(`The policies were refused with ${status}.`)
    },
    run: async ({ a, amount, keepUp }) => {
      const submitter = await a.as('operator')
      const payload = { fail: LONG_TEXT }
      let failed = 0
      await keepUp(async () => {
        const tasks = await atOnce(amount(10, 2), () => endedTask(submitter, { action: 'shared.work', payload }))
        failed += tasks.filter(({ state }) => state.status === 'dead').length
      })
      return refused(`${failed} failures were classified`)
    },
  },
  {
    name: 'large-bodies-of-strangers',
    tries: 'Strangers send large bodies of many members to a route that is open to the outside.',
    timed: true,
    run: async ({ anyone, server, amount, keepUp }) => {
      const body = manyMembers(amount(99_000, 9_000))
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(50, 5), () => anyone.send('POST', '/task-complete', { raw: body }))))
      })
      const isAnsweredEarly = await answersBeforeBody(server.url, '/task-complete', 1_000_000)
      if (!isAnsweredEarly) return succeeded('a stranger has a megabyte read before anything is checked')
      return judged(
        answers.some(({ status }) => status < 400 && status !== 0),
        'refused before the body is read',
      )
    },
  },
  {
    name: 'flood-of-readiness-checks',
    tries: 'Strangers ask over and over whether the server is ready, which asks the store.',
    timed: true,
    run: async ({ anyone, amount, keepUp }) => {
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(200, 20), () => anyone.get('/readyz'))))
      })
      return judged(
        answers.some(({ status }) => status !== 200),
        `${answers.length} answers: ${statusesOf(answers)}`,
      )
    },
  },
  {
    name: 'payloads-that-nearly-hold-secrets',
    tries: 'A viewer looks at payloads that are made to be slow to redact.',
    timed: true,
    run: async ({ a, amount, keepUp }) => {
      const operator = await a.as('operator')
      const length = amount(1_000_000, 20_000)
      const ids: string[] = []
      for (const [name, payloadOf] of Object.entries(SLOW_TO_REDACT)) {
        const id = `nearly-${name}`
        const submitted = await operator.post('/api/v1/tasks', {
          id,
          action: 'nobody.runs-this',
          pool: 'nobody',
          payload: { value: payloadOf(length) },
        })
        if (submitted.status === 201) ids.push(id)
      }
      const answers: Answer[] = []
      await keepUp(async () => {
        for (const id of ids) answers.push(...(await atOnce(amount(10, 2), () => operator.get(`/api/v1/tasks/${id}`))))
      })
      return judged(
        answers.some(({ status }) => status === 0 || status >= 500),
        `${answers.length} answers: ${statusesOf(answers)}`,
      )
    },
  },
]

/** Whether a stranger is turned away before the body that it promises has come. */
function answersBeforeBody(origin: string, path: string, bytes: number): Promise<boolean> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const done = (isAnswered: boolean): void => {
      socket.destroy()
      resolve(isAnswered)
    }
    const head = `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`
    socket.once('connect', () => socket.write(`${head}{"taskId":"x"`))
    socket.once('data', (data: Buffer) => done(/^HTTP\/1\.1 4\d\d /.test(data.toString('latin1'))))
    socket.once('error', () => done(false))
    socket.setTimeout(EARLY_MS, () => done(false))
  })
}

/** The rest of the body never comes: a server that waits for it does so until its own limit. */
const EARLY_MS = 10_000
