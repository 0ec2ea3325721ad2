// Getting at secrets that are not shown: by search, by sorting out answers, by names that nobody redacts.

import { type AttackCase, judged } from '../case.ts'
import type { Api } from '../stage/api.ts'
import type { Scene } from '../stage/scene.ts'
import { endedTask, submitted } from './tasks.ts'

const SECRET = 'c0ffee4711'
const ALPHABET = '0123456789abcdef'.split('')

/** How much of a secret a viewer learns by asking for longer and longer beginnings of it. */
async function recovered(viewer: Api, queryFor: (beginning: string) => string, length: number): Promise<string> {
  let known = ''
  while (known.length < length) {
    const found = await Promise.all(
      ALPHABET.map(async (digit) => {
        const query = encodeURIComponent(queryFor(known + digit))
        const { body } = await viewer.get<{ readonly items?: readonly unknown[] }>(`/api/v1/tasks?limit=1&q=${query}`)
        return (body.items?.length ?? 0) > 0
      }),
    )
    const hits = found.filter(Boolean).length
    // All or none tells nothing.
    if (hits !== 1) return known
    known += ALPHABET[found.indexOf(true)]
  }
  return known
}

interface Hidden {
  readonly name: string
  readonly tries: string
  readonly submission: Readonly<Record<string, unknown>>
  readonly queryFor: (beginning: string) => string
  /** It has to fail first. */
  readonly fails?: true
}

const HIDDEN: readonly Hidden[] = [
  {
    name: 'search-for-a-redacted-message',
    tries: 'A viewer recovers a key from the message of a failure, character by character, by searching for it.',
    submission: {
      action: 'shared.work',
      payload: { fail: `invalid api_key=${SECRET}` },
      settings: { retry: { max: 0 } },
    },
    queryFor: (beginning) => `"api_key=${beginning}"`,
    fails: true,
  },
  {
    name: 'search-for-a-redacted-label',
    tries: 'A viewer recovers a secret label, character by character, by searching for it.',
    submission: { action: 'nobody.runs-this', pool: 'nobody', labels: { api_key: SECRET } },
    queryFor: (beginning) => `label.api_key:${beginning}*`,
  },
  {
    name: 'search-for-a-redacted-word',
    tries: 'A viewer recovers a secret label by searching for words.',
    submission: { action: 'nobody.runs-this', pool: 'nobody', labels: { api_key: SECRET } },
    queryFor: (beginning) => `"api_key=${beginning}"`,
  },
  {
    name: 'search-for-a-redacted-dedupe-key',
    tries: 'A viewer recovers a secret that stands in a dedupe key.',
    submission: { action: 'nobody.runs-this', pool: 'nobody', dedupeKey: `token=${SECRET}` },
    queryFor: (beginning) => `dedupeKey:"token=${beginning}*"`,
  },
  {
    name: 'search-for-a-redacted-retry-token',
    tries: 'A viewer recovers a secret that stands in a retry token.',
    submission: { action: 'nobody.runs-this', pool: 'nobody', retryToken: `password=${SECRET}` },
    queryFor: (beginning) => `retryToken:"password=${beginning}*"`,
  },
  {
    name: 'search-for-a-redacted-code',
    tries: 'A viewer recovers a secret that stands in the code of a failure.',
    submission: {
      action: 'shared.work',
      payload: { fail: 'no', code: `password=${SECRET}` },
      settings: { retry: { max: 0 } },
    },
    queryFor: (beginning) => `code:"password=${beginning}*"`,
    fails: true,
  },
]

const searchCase = ({ name, tries, submission, queryFor, fails }: Hidden): AttackCase => ({
  name,
  tries,
  run: async ({ a, amount }: Scene) => {
    const operator = await a.as('operator')
    if (fails === true) await endedTask(operator, submission)
    else await submitted(operator, submission)
    const known = await recovered(await a.as('viewer'), queryFor, amount(SECRET.length, 2))
    return judged(known !== '' && SECRET.startsWith(known), known === '' ? 'nothing was learnt' : `learnt '${known}'`)
  },
})

export const leakCases: readonly AttackCase[] = [
  ...HIDDEN.map(searchCase),
  {
    name: 'secrets-in-plain-sight',
    tries: 'A viewer looks for secrets in everything that is shown of tasks.',
    run: async ({ a }) => {
      const operator = await a.as('operator')
      const word = `hunter2-${a.tenant}`
      await endedTask(operator, {
        action: 'shared.work',
        payload: { fail: `GET https://ann:${word}@example.com failed`, code: `password=${word}`, password: word },
        labels: { secret: word },
        dedupeKey: `password=${word}`,
        retryToken: `password=${word}`,
        settings: { retry: { max: 0 } },
      })
      const viewer = await a.as('viewer')
      const { body } = await viewer.get<{ readonly items: readonly { readonly id: string }[] }>('/api/v1/tasks')
      const [task] = body.items
      const ends = ['', '/executions', '/executions/latest', '/explain']
      const paths = [
        '/api/v1/tasks',
        '/api/v1/tasks/export?q=',
        '/api/v1/events?limit=500',
        ...ends.map((end) => `/api/v1/tasks/${task?.id}${end}`),
      ]
      const answers = await Promise.all(paths.map((path) => viewer.get(path)))
      const shown = paths.filter((_, index) => answers[index]?.text.includes(word))
      return judged(shown.length > 0, shown.length === 0 ? 'nothing is shown' : `shown at ${shown.join(', ')}`)
    },
  },
]
