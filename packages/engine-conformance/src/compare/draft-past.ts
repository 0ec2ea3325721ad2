// The pasts that drawn tasks come with: few, so that they meet each other's groups, budgets and generations.

import type { ActionName, PastAttempt, TaskPast } from '@reprise/core'
import { BY, failureOf, workerOf } from './draft.ts'

type Ending = 'retry' | 'park' | 'dead'

/** Attempts by generation, how each ended, and whether the last has ended the task. */
const DRAWN: readonly (readonly [generations: readonly (readonly Ending[])[], isDead: boolean])[] = [
  [[[]], false],
  [[['retry']], false],
  [[['retry', 'dead']], true],
  [[['dead'], []], false],
  [[['dead'], ['retry', 'dead']], true],
  [[['retry', 'park']], false],
  [[['dead']], true],
  [[['retry', 'dead']], false],
]

export const PASTS = DRAWN.length

export function pastOf(number: number, action: ActionName, now: number): TaskPast {
  const [generations, isDead] = DRAWN[number % PASTS] ?? [[[]], false]
  let attempt = 0
  const attempts = generations.flatMap((endings, before) =>
    endings.map((ending): PastAttempt => {
      attempt++
      const failure = failureOf(number + attempt, action)
      const around = { rule: 'drawn', sentence: 'So it went elsewhere.' }
      return {
        attempt,
        generation: before + 1,
        status: 'failed',
        worker: attempt % 2 === 0 ? null : workerOf(0),
        build: attempt === 1 ? { version: '1', host: 'elsewhere', runtimes: [] } : null,
        dispatchedAt: now - 100_000 + attempt * 10_000,
        resolvedAt: now - 95_000 + attempt * 10_000,
        retryReason: attempt === 1 ? null : 'timeout',
        failure,
        decision: decisionOf(ending, failure, around),
      }
    }),
  )
  return { by: BY, generation: generations.length, attempts, isDead }
}

function decisionOf(
  ending: Ending,
  { reason }: PastAttempt['failure'],
  around: Pick<PastAttempt['decision'], 'rule' | 'sentence'>,
): PastAttempt['decision'] {
  if (ending === 'retry') return { kind: 'retry', delayMs: 1_000, reason, ...around }
  return ending === 'park'
    ? { kind: 'park', reason, ...around }
    : { kind: 'dead', reason: 'retries_exhausted', ...around }
}
