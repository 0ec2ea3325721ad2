// API tokens: that outlive their makers, inherit from others of the same name, or look like them.

import { type AttackCase, judged } from '../case.ts'
import type { Api } from '../stage/api.ts'
import { atOnce } from './answers.ts'
import { submitted } from './tasks.ts'

interface Made {
  readonly id: string
  readonly token: string
  readonly expiresAt: number | null
}

const TOKENS_MAX = 1_000
/** Of the 5,000 requests that a caller may send at once. */
const NEARLY_FULL = 4_990

/** As the answer to a request says. */
async function requestsLeft(api: Api): Promise<number> {
  const { headers } = await api.get('/api/v1/me')
  return Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1])
}

export const tokenCases: readonly AttackCase[] = [
  {
    name: 'token-that-outlives-its-maker',
    tries: 'A token that expires makes one that does not.',
    run: async ({ a }) => {
      const maker = await a.as('admin', { expiresIn: '1h' })
      const made = await maker.post<Made>('/api/v1/tokens', { name: `heir-of-${a.tenant}`, role: 'viewer' })
      const longer = await maker.post<Made>('/api/v1/tokens', {
        name: `later-than-${a.tenant}`,
        role: 'viewer',
        expiresIn: '10d',
      })
      const isForEver = (made.status === 201 && made.body.expiresAt === null) || outlives(longer.body.expiresAt)
      return judged(isForEver, `without an end ${made.status}, with a later one ${longer.status}`)
    },
  },
  {
    name: 'token-with-more-than-its-maker',
    tries: 'A token gives away rights and tenants that it does not have.',
    run: async ({ a, b }) => {
      const maker = await a.as(['read', 'tokens'])
      const wishes = [
        { scopes: ['configure'] },
        { role: 'operator' },
        { role: 'viewer', tenants: [b.tenant] },
        { role: 'viewer', tenants: null },
        { role: 'worker' },
        { scopes: ['read', 'work'] },
        { role: 'viewer', tenants: [a.tenant, b.tenant] },
      ]
      const answers = await Promise.all(
        wishes.map((wish, index) => maker.post('/api/v1/tokens', { name: `more-${a.tenant}-${index}`, ...wish })),
      )
      const given = answers.filter(({ status }) => status < 400)
      return judged(given.length > 0, `answers ${answers.map(({ status }) => status).join(' ')}`)
    },
  },
  {
    name: 'token-with-requests-of-its-own',
    tries: 'A caller who has used up its requests makes a token, which has all of them again.',
    run: async ({ a }) => {
      const maker = await a.as('admin')
      for (let turn = 0; turn < 5; turn++) await atOnce(40, () => maker.get('/api/v1/me'))
      const made = await maker.post<Made>('/api/v1/tokens', { name: `fresh-${a.tenant}`, scopes: ['read', 'tokens'] })
      const child = maker.as(made.body.token)
      const again = await child.post<Made>('/api/v1/tokens', { name: `fresher-${a.tenant}`, scopes: ['read'] })
      const [own = 0, ...others] = await Promise.all([maker, child, maker.as(again.body.token)].map(requestsLeft))
      // Buckets fill up all the time: only one that was never used is full where the maker's is not.
      const isFull = own < NEARLY_FULL && others.some((left) => left > NEARLY_FULL)
      const left = [own, ...others]
      return judged(isFull, `left ${left.join(', ')}`)
    },
  },
  {
    name: 'tokens-without-end',
    tries: 'A caller has tokens make tokens, each with a bound of its own.',
    slow: true,
    run: async ({ a, amount }) => {
      const maker = await a.as('admin')
      const first = await maker.post<Made>('/api/v1/tokens', { name: `chain-${a.tenant}`, scopes: ['read', 'tokens'] })
      const child = maker.as(first.body.token)
      let made = 1
      for (let turn = 0; turn < amount(22, 0); turn++) {
        const answers = await atOnce(50, (index) => {
          const name = `chain-${a.tenant}-${turn}-${index}`
          return (index % 2 === 0 ? maker : child).post('/api/v1/tokens', { name, scopes: ['read'] })
        })
        made += answers.filter(({ status }) => status === 201).length
      }
      // Those that are asked for at once do not see each other.
      return judged(made > TOKENS_MAX + 50, `${made} were made`)
    },
  },
  {
    name: 'token-that-inherits-keys',
    tries: 'A token of the name of one that was revoked finds the tasks of its idempotency keys.',
    run: async ({ a }) => {
      const maker = await a.as('admin')
      const name = `deploys-${a.tenant}`
      const submission = { action: 'nobody.runs-this', pool: 'nobody', payload: { of: 'the first' } }
      const headers = { 'idempotency-key': 'monday' }
      const first = await maker.post<Made>('/api/v1/tokens', { name, scopes: ['submit'] })
      const before = await maker
        .as(first.body.token)
        .post<{ readonly id: string }>('/api/v1/tasks', submission, { headers })
      await maker.send('DELETE', `/api/v1/tokens/${first.body.id}`)
      const second = await maker.post<Made>('/api/v1/tokens', { name, scopes: ['submit'] })
      if (second.status >= 400) return judged(false, `the name is not given again: ${second.status}`)
      const after = await maker
        .as(second.body.token)
        .post<{ readonly id: string }>('/api/v1/tasks', submission, { headers })
      return judged(
        after.status !== 201 || after.body.id === before.body.id,
        `first ${before.status}, then ${after.status}`,
      )
    },
  },
  {
    name: 'token-that-looks-like-another',
    tries: 'A token gets a name that people take for that of another: with characters nobody sees, or Cyrillic ones.',
    run: async ({ a }) => {
      const maker = await a.as('admin')
      await maker.post('/api/v1/tokens', { name: 'deploy', role: 'viewer' })
      const names = [
        'dep\u200bloy',
        'depl\u043ey',
        'deploy\u00ad',
        '\u202edeploy',
        'dep\u2060loy',
        'ｄeploy',
        'deploy\ufe0f',
      ]
      const answers = await Promise.all(names.map((name) => maker.post('/api/v1/tokens', { name, role: 'viewer' })))
      const taken = names.filter((_, index) => (answers[index]?.status ?? 0) < 400)
      return judged(
        taken.length > 0,
        taken.length === 0 ? 'all are refused' : `taken: ${taken.map(escaped).join(', ')}`,
      )
    },
  },
  {
    name: 'names-that-turn-text-around',
    tries: 'Ids, actions, tenants and labels hold characters that change how a terminal shows what follows.',
    run: async ({ a, admin }) => {
      const operator = await a.as('operator')
      const base = { action: 'nobody.runs-this', pool: 'nobody' }
      const taken: string[] = []
      for (const mark of ['\u202e', '\u2066', '\u200f', '\u009b', '\u061c', '\u200b', '\ufeff']) {
        const word = `x${mark}y-${a.tenant}`
        const wishes: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
          ['id', { ...base, id: word }],
          ['action', { ...base, action: word }],
          ['pool', { ...base, pool: word }],
          ['label', { ...base, labels: { name: word } }],
          ['name of a label', { ...base, labels: { [word]: 'x' } }],
          ['dedupe key', { ...base, dedupeKey: word }],
          ['retry token', { ...base, retryToken: word }],
        ]
        for (const [what, submission] of wishes) {
          if ((await operator.post('/api/v1/tasks', submission)).status < 400) taken.push(`${what} ${escaped(mark)}`)
        }
        if ((await admin.post('/api/v1/tasks', { ...base, tenant: word })).status < 400)
          taken.push(`tenant ${escaped(mark)}`)
      }
      await submitted(operator, base)
      return judged(
        taken.length > 0,
        taken.length === 0 ? 'all are refused' : `${taken.length} taken: ${taken.slice(0, 4).join(', ')}`,
      )
    },
  },
]

const DAY_MS = 86_400_000

/** Later than a maker that has an hour. */
const outlives = (expiresAt: number | null | undefined): boolean =>
  typeof expiresAt === 'number' && expiresAt > Date.now() + DAY_MS

const escaped = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
