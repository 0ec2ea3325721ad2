// Settlements on their way to the settle script, and its answers on their way back.

import {
  blamesWorker,
  type Decision,
  type Deferral,
  type Failure,
  type Outage,
  type RetryQuota,
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  type TaskStatus,
} from '@reprise/core'
import type { Reply } from './link/link.ts'
import { ALONE, asList, type Partition, type Position } from './partition.ts'
import { badEnd } from './records.ts'
import { settleScript } from './scripts.generated.ts'

/** The settlements of several calls, one after the other. */
export async function settle(
  partition: Partition,
  calls: readonly (readonly Settlement[])[],
): Promise<readonly (readonly SettleResult[])[]> {
  const answers = asList(await partition.run(settleScript, settlementArguments(calls.flat(), partition.position)))
  let at = 0
  return calls.map((settlements) => {
    const from = at
    at += settlements.length
    return settleResults(answers.slice(from, at))
  })
}

export function settlementArguments(settlements: readonly Settlement[], position: Position): string[] {
  const args: string[] = []
  let origin = ''
  /** The draw of the run of plain successes that the last settlement belongs to, and where its size stands. */
  let draw: string | null = null
  let sizeAt = 0
  for (const settlement of settlements) {
    if (settlement.kind === 'expired') {
      const { ref, failure, decision, quota } = settlement
      const ending = [...endingArguments(failure, decision), quotaArgument(quota, position)]
      args.push('expired', ref.taskId, String(ref.attempt), ...ending)
      draw = null
      continue
    }
    const { ref } = settlement
    const token = splitToken(ref.token)
    if (token.origin !== origin) {
      origin = token.origin
      draw = null
      args.push('from', token.worker, token.lane)
    }
    if (settlement.kind === 'succeeded' && settlement.result === null && ref.attempt === 1 && token.draw !== '') {
      if (token.draw !== draw) {
        draw = token.draw
        sizeAt = args.push('done', draw, '0') - 1
      }
      args.push(ref.taskId, token.number)
      args[sizeAt] = String(Number(args[sizeAt]) + 1)
      continue
    }
    draw = null
    args.push(settlement.kind, ref.taskId, String(ref.attempt), token.text)
    switch (settlement.kind) {
      case 'succeeded':
        args.push(settlement.result ?? '')
        break
      case 'released':
        args.push(settlement.reason, ...deferralArguments(settlement.deferral))
        break
      case 'failed':
      case 'lost':
        args.push(...endingArguments(settlement.failure, settlement.decision))
        args.push(quotaArgument(settlement.quota, position))
        if (settlement.kind === 'failed') args.push(...outageArguments(settlement.failure, settlement.outage))
    }
  }
  return args
}

interface Token {
  /** As records keep it: without the worker. */
  readonly text: string
  readonly draw: string
  /** In its draw, with a '-' before it. */
  readonly number: string
  readonly lane: string
  readonly worker: string
  /** Lane and worker. */
  readonly origin: string
}

const TOKEN = /^(?<draw>\d+)(?<number>-\d+)\.(?<origin>(?<lane>\d+)\.(?<worker>.*))$/s

/** A token is '<draw>-<number>.<lane>.<worker>'. One that we did not make holds no lease. */
function splitToken(token: string): Token {
  const { draw = '', number = '', lane = '0', worker = '', origin = ' ' } = TOKEN.exec(token)?.groups ?? {}
  return { text: draw === '' ? token : `${draw}${number}.${lane}`, draw, number, lane, worker, origin }
}

function deferralArguments(deferral: Deferral | undefined): string[] {
  return deferral === undefined ? ['', ''] : [String(deferral.delayMs), deferral.reason]
}

function endingArguments(failure: Failure, decision: Decision): string[] {
  return [
    decision.kind,
    decision.kind === 'retry' ? String(decision.delayMs) : '0',
    decision.reason,
    failure.fingerprint,
    decision.sentence,
    journalData(failure, decision),
    badEnd(failure, decision),
    blamesWorker(failure) ? '1' : '0',
  ]
}

/**
 * Results that say nothing about anybody's health: of attempts that were launched, or lost by a worker that has begun anew. Where
 * a store has several partitions, its home is told of a worker's health by what settlements came to.
 */
const unseen = new WeakSet<SettleResult>()

export const isUnseen = (result: SettleResult): boolean => unseen.has(result)

/** Of its entry in the journal, without the last brace: the script adds when it is due. */
function journalData({ code, reason, fingerprint }: Failure, decision: Decision): string {
  const data = JSON.stringify({ code, reason, fingerprint, decision: decision.kind, detail: decision.reason })
  return data.slice(0, -1)
}

/** A limit is dealt out among partitions, window by window; shares of what started in each add up by themselves. */
function quotaArgument(quota: RetryQuota | undefined, position: Position): string {
  if (quota === undefined) return ''
  const { name, windowMs, limit, share } = quota
  const { place, places } = limit === null ? ALONE : position
  return `${windowMs} ${limit ?? '-'} ${share ?? '-'} ${place} ${places} ${name}`
}

function outageArguments(failure: Failure, outage: Outage | undefined): string[] {
  if (outage === undefined || outage.breakers.length === 0) return ['0']
  const { breakers, park } = outage
  return [
    String(breakers.length),
    park.reason,
    park.sentence,
    journalData(failure, park),
    badEnd(failure, park),
    ...breakers.flatMap(({ name, settings }) => [name, JSON.stringify(settings)]),
  ]
}

const SUCCEEDED: SettleResult = { outcome: 'settled', status: 'succeeded', repeated: false }

export function settleResults(answers: readonly Reply[]): SettleResult[] {
  return answers.map((answer) => {
    if (answer === 1) return SUCCEEDED
    const [outcome, detail, mark] = String(answer).split(' ')
    if (outcome === 'superseded') return { outcome, because: detail as SupersededBecause }
    const result = { outcome: 'settled', status: detail as TaskStatus, repeated: outcome === 'repeated' } as const
    if (mark !== undefined) unseen.add(result)
    return result
  })
}
