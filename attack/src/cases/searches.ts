// Searches over large payloads: each is small, and all at once they cost the server time and memory.

import { type AttackCase, judged } from '../case.ts'
import type { Answer } from '../stage/api.ts'
import type { Scene } from '../stage/scene.ts'
import { atOnce, statusesOf } from './answers.ts'

/** Tasks with large payloads, as many as the tenant may store. */
async function stored({ a, amount }: Scene): Promise<readonly string[]> {
  const submitter = await a.as('operator')
  const payload = 'x'.repeat(amount(900_000, 20_000))
  const ids: string[] = []
  for (let number = 0; number < amount(60, 6); number++) {
    const id = `${a.tenant.replace(/\D/g, '')}.${number}`
    const { status } = await submitter.post('/api/v1/tasks', {
      id,
      action: 'nobody.runs-this',
      pool: 'nobody',
      payload,
    })
    if (status !== 201) break
    ids.push(id)
  }
  return ids
}

async function searched(scene: Scene, count: number, queryOf: (turn: number, ids: readonly string[]) => string) {
  const { a, keepUp } = scene
  const ids = await stored(scene)
  const viewer = await a.as('viewer')
  const answers: Answer[] = []
  let turn = 0
  await keepUp(async () => {
    answers.push(
      ...(await atOnce(count, () =>
        viewer.get(`/api/v1/tasks?limit=500&q=${encodeURIComponent(queryOf(++turn, ids))}`),
      )),
    )
  })
  return judged(
    answers.some(({ status }) => status === 0 || status >= 500),
    `${answers.length} searches over ${ids.length} payloads: ${statusesOf(answers)}`,
  )
}

export const searchCases: readonly AttackCase[] = [
  {
    name: 'searches-without-a-hit',
    tries: 'A viewer searches large payloads for words that none of them has, many times at once.',
    timed: true,
    run: (scene) => searched(scene, scene.amount(30, 4), (turn) => `"no such words ${turn}"`),
  },
  {
    name: 'searches-by-many-ids',
    tries: 'A viewer asks for hundreds of large tasks by their ids, many times at once.',
    timed: true,
    run: (scene) =>
      searched(scene, scene.amount(25, 4), (turn, ids) => `id:${manyIds(ids)} priority<${10 + (turn % 80)}`),
  },
  {
    name: 'exports-of-large-payloads',
    tries: 'A viewer exports large payloads, many times at once.',
    timed: true,
    run: async (scene) => {
      const { a, amount, keepUp } = scene
      await stored(scene)
      const viewer = await a.as('viewer')
      const answers: Answer[] = []
      await keepUp(async () => {
        answers.push(...(await atOnce(amount(10, 2), () => viewer.get('/api/v1/tasks/export?q='))))
      })
      return judged(
        answers.some(({ status }) => status === 0 || status >= 500),
        `${answers.length} exports: ${statusesOf(answers)}`,
      )
    },
  },
]

/** A query has at most a thousand characters. */
function manyIds(ids: readonly string[]): string {
  const some = Array.from({ length: 300 }, (_, index) => ids[index % Math.max(ids.length, 1)] ?? 'none')
  return some
    .join(',')
    .slice(0, 900)
    .replace(/,[^,]*$/, '')
}
