// What it costs to decide about a failure, without any store: from what was thrown to the failure, the decision and
// the guards that its settlement carries.

import {
  DEFAULT_POOL,
  DEFAULT_PRIORITY,
  DEFAULT_TENANT,
  defineAction,
  type JudgedAttempt,
  judgeThrown,
  retryToken,
  taskId,
} from '@reprise/core'
import { MEASURED, POLICIES } from './policies.ts'
import { median } from './statistics.ts'

export interface DecideRequest {
  readonly rounds: number
}

const CALLS_PER_ROUND = 5_000

const { name, settings } = defineAction(MEASURED)

const ATTEMPT: JudgedAttempt = {
  snapshot: {
    id: taskId('task-1'),
    action: name,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    labels: {},
    priority: DEFAULT_PRIORITY,
    settings: { ...settings, maxRetries: 3 },
    retryToken: retryToken('task-1'),
    dedupeKey: null,
    deadlineAt: null,
  },
  generation: 1,
  failures: 0,
  losses: 0,
  parks: 0,
  acceptedAt: 0,
}

export function measureDecide(request: DecideRequest): Promise<{ readonly decideUs: number }> {
  const thrown = failures()
  const round = (): number => {
    const startedAt = performance.now()
    for (let call = 0; call < CALLS_PER_ROUND; call++) {
      const { decision } = judgeThrown(POLICIES.current(), ATTEMPT, thrown[call % thrown.length], { now: 0, roll: 0.5 })
      if (decision.sentence === '') throw new Error('Every decision has a sentence.')
    }
    return ((performance.now() - startedAt) * 1_000) / CALLS_PER_ROUND
  }
  round()
  return Promise.resolve({ decideUs: median(Array.from({ length: request.rounds }, round)) })
}

/** As handlers throw them: a system error, an answer of a server, a bug, and something only its words tell. */
function failures(): readonly unknown[] {
  return [
    Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED', errno: -111 }),
    Object.assign(new Error('Request failed with status code 503'), { status: 503 }),
    new TypeError("Cannot read properties of undefined (reading 'total')"),
    new Error('Deadlock found when trying to get lock; try restarting transaction 4711'),
  ]
}
