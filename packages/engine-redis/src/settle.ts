// Settlements on their way to the settle script, and its answers on their way back.

import {
  blamesWorker,
  type Decision,
  type Failure,
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  type TaskStatus,
} from '@reprise/core'
import type { Reply } from './link/link.ts'
import { asList, type Partition } from './partition.ts'
import { badEnd } from './records.ts'
import { settleScript } from './scripts.generated.ts'

/** The settlements of several calls, one after the other. */
export async function settle(
  partition: Partition,
  calls: readonly (readonly Settlement[])[],
): Promise<readonly (readonly SettleResult[])[]> {
  const answers = asList(await partition.run(settleScript, settlementArguments(calls.flat())))
  let at = 0
  return calls.map((settlements) => {
    const from = at
    at += settlements.length
    return settleResults(answers.slice(from, at))
  })
}

export function settlementArguments(settlements: readonly Settlement[]): string[] {
  const args: string[] = []
  for (const settlement of settlements) {
    const { kind, ref } = settlement
    const isDone = settlement.kind === 'succeeded' && settlement.result === null
    args.push(isDone ? 'done' : kind, ref.taskId, String(ref.attempt))
    switch (settlement.kind) {
      case 'succeeded':
        args.push(settlement.ref.token)
        if (settlement.result !== null) args.push(settlement.result)
        break
      case 'released':
        args.push(settlement.ref.token, settlement.reason)
        break
      case 'expired':
        args.push(...endingArguments(settlement.failure, settlement.decision))
        break
      case 'failed':
      case 'lost':
        args.push(settlement.ref.token, ...endingArguments(settlement.failure, settlement.decision))
    }
  }
  return args
}

function endingArguments(failure: Failure, decision: Decision): string[] {
  const { code, reason, fingerprint } = failure
  const data = JSON.stringify({ code, reason, fingerprint, decision: decision.kind, detail: decision.reason })
  return [
    decision.kind,
    decision.kind === 'retry' ? String(decision.delayMs) : '0',
    decision.reason,
    fingerprint,
    decision.sentence,
    data.slice(0, -1),
    badEnd(failure, decision),
    blamesWorker(failure) ? '1' : '0',
  ]
}

const SUCCEEDED: SettleResult = { outcome: 'settled', status: 'succeeded', repeated: false }

export function settleResults(answers: readonly Reply[]): SettleResult[] {
  return answers.map((answer) => {
    if (answer === 1) return SUCCEEDED
    const [outcome, detail] = String(answer).split(' ')
    if (outcome === 'superseded') return { outcome, because: detail as SupersededBecause }
    return { outcome: 'settled', status: detail as TaskStatus, repeated: outcome === 'repeated' }
  })
}
