// What cases do with many answers: ask at once, and say in a few words what came back.

import type { Answer } from '../stage/api.ts'

export const atOnce = <T>(count: number, ask: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

/** Such as `200 x 30, 429 x 20`. */
export function statusesOf(answers: readonly Pick<Answer, 'status'>[]): string {
  const counts = new Map<number, number>()
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${status === 0 ? 'none' : status} x ${count}`).join(', ')
}
