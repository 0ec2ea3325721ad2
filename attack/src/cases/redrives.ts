// Redrives as weapons: patches that grow without end or read what is hidden, schemas that take for ever, plans that take every
// place, and dead letters that nobody can send back.

import { type AttackCase, judged } from '../case.ts'
import type { Answer, Api } from '../stage/api.ts'
import { atOnce, statusesOf } from './answers.ts'
import { endedTask, submitted, until } from './tasks.ts'

const REASON = 'the cause is gone'

interface SeenRedrive {
  readonly id: string
  readonly state: string
  readonly total: number
  readonly preflight: { readonly estimatedMs: number | null } | null
}

const FAILS = { action: 'shared.work', settings: { retry: { max: 0 } } } as const

/** A dead letter of the attacker with this payload. */
async function deadLetter(api: Api, payload: Readonly<Record<string, unknown>>): Promise<string> {
  const { id, state } = await endedTask(api, { ...FAILS, payload: { ...payload, fail: 'no' } })
  if (state.status !== 'dead') throw new Error(`The task is ${state.status}.`)
  return id
}

const plan = (api: Api, body: Readonly<Record<string, unknown>>): Promise<Answer<SeenRedrive>> =>
  api.post<SeenRedrive>('/api/v1/redrives', { reason: REASON, ...body })

async function itemsOf(api: Api, { body }: Answer<SeenRedrive>): Promise<Answer> {
  return api.get(`/api/v1/redrives/${body.id}/items`)
}

const isBroken = (answers: readonly Answer[]): boolean =>
  answers.some(({ status }) => status === 0 || (status >= 500 && status !== 503))

const shown = (answers: readonly Answer[]) => judged(isBroken(answers), `answers: ${statusesOf(answers)}`)

/** Plans redrives of a dead letter with these patches, and looks at what they change. */
async function patched(operator: Api, id: string, patches: readonly unknown[]): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (const patch of patches) {
    const planned = await plan(operator, { ids: [id], patch })
    answers.push(planned)
    if (planned.status !== 201) continue
    answers.push(await itemsOf(operator, planned))
    await operator.post(`/api/v1/redrives/${planned.body.id}/abort`, { reason: REASON })
  }
  return answers
}

const nested = (leaf: unknown, depth: number): Readonly<Record<string, unknown>> =>
  Array.from({ length: depth }).reduce<Readonly<Record<string, unknown>>>((inner) => ({ inner }), { leaf })

const wide = (count: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]))

const SECRET = 'c0ffee4711'

export const redriveCases: readonly AttackCase[] = [
  {
    name: 'patch-that-copies-itself',
    tries: 'An operator patches a payload with a hundred copies, each of all that was there before.',
    run: async ({ a, anyone }) => {
      const operator = await a.as('operator')
      const id = await deadLetter(operator, { text: 'x'.repeat(100) })
      const copies = Array.from({ length: 100 }, (_, index) => ({ op: 'copy', from: '', path: `/a${index}` }))
      const answers = await patched(operator, id, [copies])
      const { status } = await anyone.get('/healthz')
      return judged(isBroken(answers) || status !== 200, `answers: ${statusesOf(answers)}; alive: ${status}`)
    },
  },
  {
    name: 'patch-of-a-large-payload',
    tries: 'An operator looks at what patches change in a payload that is deep, wide and large.',
    timed: true,
    run: async ({ a, amount, keepUp }) => {
      const operator = await a.as('operator')
      const many = Array.from({ length: amount(90_000, 20_000) }, () => 0)
      const deep = await deadLetter(operator, nested(many, 80))
      const pairs = await deadLetter(operator, { wide: wide(amount(9_000, 5_000)) })
      const leaf = `${'/inner'.repeat(80)}/leaf`
      const each = <T>(operation: (index: number) => T): T[] =>
        Array.from({ length: 100 }, (_, index) => operation(index))
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(
          ...(await patched(operator, deep, [[{ op: 'add', path: `${leaf}/-`, value: 1 }]])),
          ...(await patched(operator, deep, [each(() => ({ op: 'add', path: `${leaf}/0`, value: 1 }))])),
          ...(await patched(operator, pairs, [
            each((index) => ({ op: 'remove', path: `/wide/k${index}` })),
            each((index) => ({ op: 'copy', from: '/wide/k0', path: `/wide/x${index}` })),
            each(() => ({ op: 'test', path: '/wide/k0', value: 0 })),
          ])),
        )
      })
      return shown(answers)
    },
  },
  {
    name: 'items-of-large-payloads',
    tries: 'A viewer lists what a patch changes in many large payloads, many times at once.',
    timed: true,
    slow: true,
    run: async ({ a, amount, keepUp }) => {
      const operator = await a.as('operator')
      const text = 'x'.repeat(900_000)
      const ids = await atOnce(amount(10, 0), () => deadLetter(operator, { text }))
      const planned = await plan(operator, { ids, patch: [{ op: 'replace', path: '', value: {} }] })
      const viewer = await a.as('viewer')
      const answers: Answer[] = []
      await keepUp(async () => void answers.push(...(await atOnce(8, () => itemsOf(viewer, planned)))))
      const longest = Math.max(...answers.map((answer) => answer.text.length))
      return judged(
        isBroken(answers) || longest > 3_000_000,
        `${statusesOf(answers)}, the longest ${longest} characters`,
      )
    },
  },
  {
    name: 'schema-that-takes-for-ever',
    tries: 'A worker publishes a JSON Schema that is slow to check, and an operator patches payloads of its action.',
    timed: true,
    slow: true,
    run: async ({ a, amount, keepUp, wholeStore }) => {
      const worker = await wholeStore('worker')
      const parts = [
        ...Array.from({ length: 200 }, () => ({ $ref: '#/$defs/slow' })),
        ...Array.from({ length: 200 }, () => ({ $ref: '#/$defs/all' })),
        { $ref: '#' },
      ]
      const text = { pattern: '(a?a?){200}Z' }
      const schema = {
        $defs: {
          slow: { properties: { text, list: { items: {}, enum: [0] } } },
          all: { enum: [{}], additionalProperties: {} },
        },
        allOf: parts,
      }
      const settings = {
        timeoutMs: 1_000,
        maxRetries: 0,
        maxLosses: 0,
        queueTtlMs: null,
        backoff: { kind: 'fixed', delayMs: 0, jitter: 0 },
        retryUnknown: false,
      }
      const action = { name: 'shared.work', pool: 'default', settings, inputSchema: JSON.stringify(schema) }
      const published = await worker.send('POST', '/api/v1/actions', { body: { actions: [action] } })
      if (published.status >= 400) throw new Error(`Nothing was published: ${published.text.slice(0, 300)}`)
      const size = amount(90_000, 20_000)
      const payload = { text: 'a'.repeat(size), list: Array.from({ length: size }, () => 0) }
      const operator = await a.as('operator')
      const id = await deadLetter(operator, payload)
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await patched(operator, id, [[{ op: 'add', path: '/b', value: 1 }]])))
      })
      return shown(answers)
    },
  },
  {
    name: 'patch-that-moves-a-secret',
    tries: 'An operator who sees a secret redacted has a patch move it under another name, or test guesses at it.',
    run: async ({ a }) => {
      const operator = await a.as('operator')
      const id = await deadLetter(operator, { api_key: SECRET, account: { password: [SECRET] } })
      const patches = [
        [{ op: 'copy', from: '/api_key', path: '/note' }],
        [{ op: 'move', from: '/account/password/0', path: '/note' }],
        [{ op: 'move', from: '/account/password', path: '/note' }],
        [{ op: 'test', path: '/api_key', value: SECRET }],
        [{ op: 'test', path: '/account', value: { password: [SECRET] } }],
      ]
      const answers: string[] = []
      for (const patch of patches) {
        const planned = await plan(operator, { ids: [id], patch })
        // A plan that is refused, or not, whatever the secret is, tells nothing.
        if (planned.status === 201) answers.push((await itemsOf(operator, planned)).text)
      }
      const isTold = answers.some((text) => text.includes(SECRET) || text.includes('"problem":null'))
      return judged(isTold, isTold ? 'the secret is shown, or a guess confirmed' : 'nothing was learnt')
    },
  },
  {
    name: 'redrives-in-every-place',
    tries: 'An operator of one tenant plans redrives and never starts them, and the victim wants one.',
    alone: true,
    slow: true,
    run: async ({ a, b, amount, admin }) => {
      const attacker = await a.as('operator')
      const id = await deadLetter(attacker, {})
      const answers = await atOnce(amount(600, 100), () => plan(attacker, { ids: [id] }))
      const made = answers.filter(({ status }) => status === 201).length
      const victim = await b.as('operator')
      const own = await submitted(victim, { ...FAILS, payload: { fail: 'no' } })
      await victim.get(`/api/v1/tasks/${own}?wait=20s`)
      const theirs = await plan(victim, { ids: [own], start: true, canary: [] })
      const platform = await plan(admin, { ids: [id] })
      const isMoved =
        theirs.status === 201 &&
        (await until(async () => {
          const { body } = await victim.get<SeenRedrive>(`/api/v1/redrives/${theirs.body.id}`)
          return body.state === 'done'
        }))
      return judged(
        !isMoved || platform.status !== 201 || made > 40,
        `${made} of ${answers.length} made; the victim's ${isMoved ? 'is moved' : `is not (${theirs.status})`}, the operator gets ${platform.status}`,
      )
    },
  },
  {
    name: 'how-busy-others-are',
    tries: "A viewer reads off a plan, or off the ledger, how much the victim's tasks do.",
    run: async ({ a, b, amount }) => {
      const attacker = await a.as('operator')
      const id = await deadLetter(attacker, {})
      const estimate = async (): Promise<number | null | undefined> =>
        (await plan(attacker, { ids: [id] })).body.preflight?.estimatedMs
      const before = await estimate()
      const victim = await b.as('operator')
      await atOnce(amount(100, 30), () => submitted(victim, { action: 'shared.work', payload: {} }))
      await until(async () => {
        const { body } = await victim.get<{ readonly succeeded: number }>(`/api/v1/counts?tenant=${b.tenant}`)
        return body.succeeded >= amount(100, 30)
      })
      const after = await estimate()
      const ledger = await attacker.get<{ readonly checked: { readonly checked: number | null } | null }>(
        '/api/v1/ledger',
      )
      const isTold = before !== after || typeof ledger.body.checked?.checked === 'number'
      return judged(isTold, `the estimate is ${before}, then ${after}; checked: ${ledger.body.checked?.checked}`)
    },
  },
]
