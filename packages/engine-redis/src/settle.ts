// Settlements on their way to the settle script, and its answers on their way back.

import {
  type Decision,
  type Failure,
  type Outage,
  type RetryQuota,
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  speaksAgainstWorker,
  type TaskStatus,
} from '@reprise/core'
import { badEndData } from '@reprise/core/engine'
import {
  BREAKER_REF,
  type ENDING,
  OUTAGE,
  ordered,
  SETTLE_DONE,
  SETTLE_EXPIRED,
  SETTLE_FAILED,
  SETTLE_FROM,
  SETTLE_LOST,
  SETTLE_RELEASED,
  SETTLE_SUCCEEDED,
} from './layout.ts'
import type { Reply } from './link/link.ts'
import { ALONE, asList, type Partition, type Position } from './partition.ts'
import { badEnd } from './records.ts'
import { settleScript } from './scripts.generated.ts'

/** What a partition says of a settlement. */
export interface Settled {
  readonly result: SettleResult
  /**
   * False for what says nothing about anybody's health: attempts that were launched, or lost by a worker that has begun anew.
   * Where a store has several partitions, its home is told of a worker's health by what settlements came to.
   */
  readonly isSeen: boolean
}

export const resultOf = ({ result }: Settled): SettleResult => result

/** The settlements of several calls, one after the other. */
export async function settle(
  partition: Partition,
  calls: readonly (readonly Settlement[])[],
): Promise<readonly (readonly SettleResult[])[]> {
  return inGroups(calls, (await settleThere(partition, calls.flat())).map(resultOf))
}

/** The answers to what several calls asked together, for each of them. */
export function inGroups<Answer>(calls: readonly (readonly unknown[])[], answers: readonly Answer[]): Answer[][] {
  let at = 0
  return calls.map(({ length }) => {
    at += length
    return answers.slice(at - length, at)
  })
}

export async function settleThere(partition: Partition, settlements: readonly Settlement[]): Promise<Settled[]> {
  return settledOf(asList(await partition.run(settleScript, settlementArguments(settlements, partition.position))))
}

export function settlementArguments(settlements: readonly Settlement[], position: Position): string[] {
  const args: string[] = []
  let origin = ''
  /** The draw of the run of plain successes that the last settlement belongs to, and where its size stands. */
  let draw: string | null = null
  let sizeAt = 0
  for (const settlement of settlements) {
    if (settlement.kind === 'expired') {
      const { kind, ref, failure, decision, quota } = settlement
      const known = { kind, id: ref.taskId, attempt: String(ref.attempt) }
      args.push(...ordered(SETTLE_EXPIRED, { ...known, ...endingOf(failure, decision, quota, position), blames: '0' }))
      draw = null
      continue
    }
    const { ref } = settlement
    const token = splitToken(ref.token)
    if (token.origin !== origin) {
      origin = token.origin
      draw = null
      args.push(...ordered(SETTLE_FROM, { kind: 'from', ...claimantOf(origin) }))
    }
    if (settlement.kind === 'succeeded' && settlement.result === null && ref.attempt === 1 && token.draw !== '') {
      if (token.draw !== draw) {
        draw = token.draw
        args.push(...ordered(SETTLE_DONE, { kind: 'done', draw, count: '0' }))
        sizeAt = args.length - 1
      }
      args.push(ref.taskId, token.number)
      args[sizeAt] = String(Number(args[sizeAt]) + 1)
      continue
    }
    draw = null
    const known = { kind: settlement.kind, id: ref.taskId, attempt: String(ref.attempt), token: token.text }
    switch (settlement.kind) {
      case 'succeeded':
        args.push(...ordered(SETTLE_SUCCEEDED, { ...known, result: settlement.result ?? '' }))
        break
      case 'released': {
        const { reason, deferral } = settlement
        const later = { delayMs: String(deferral?.delayMs ?? ''), waitReason: deferral?.reason ?? '' }
        args.push(...ordered(SETTLE_RELEASED, { ...known, reason, ...later }))
        break
      }
      case 'failed':
      case 'lost': {
        const { failure, decision, quota } = settlement
        const blames = isBlamed(settlement) ? '1' : '0'
        const ending = { ...known, ...endingOf(failure, decision, quota, position), blames }
        if (settlement.kind === 'lost') {
          args.push(...ordered(SETTLE_LOST, { ...ending, gone: settlement.gone === true ? '1' : '' }))
        }
        if (settlement.kind === 'failed') args.push(...failedArguments(ending, failure, settlement.outage))
      }
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
  /** Lane and worker. */
  readonly origin: string
}

const TOKEN = /^\d+-\d+\.\d+\./
const FOREIGN_ORIGIN = '0.'

/** A token is '<draw>-<number>.<lane>.<worker>'. One that we did not make holds no lease. */
function splitToken(token: string): Token {
  if (!TOKEN.test(token)) return { text: token, draw: '', number: '', origin: FOREIGN_ORIGIN }
  const dash = token.indexOf('-')
  const dot = token.indexOf('.', dash)
  return {
    text: token.slice(0, token.indexOf('.', dot + 1)),
    draw: token.slice(0, dash),
    number: token.slice(dash, dot),
    origin: token.slice(dot + 1),
  }
}

function claimantOf(origin: string): { readonly lane: string; readonly worker: string } {
  const dot = origin.indexOf('.')
  return { lane: origin.slice(0, dot), worker: origin.slice(dot + 1) }
}

type Ending = Readonly<Record<Exclude<(typeof ENDING)[number], 'blames'>, string>>

/** Whether a settlement speaks against the worker of its attempt. */
export const isBlamed = (settlement: Settlement): boolean =>
  settlement.kind === 'lost' || (settlement.kind === 'failed' && speaksAgainstWorker(settlement))

function endingOf(failure: Failure, decision: Decision, quota: RetryQuota | undefined, position: Position): Ending {
  return {
    decision: decision.kind,
    delayMs: decision.kind === 'retry' ? String(decision.delayMs) : '0',
    reason: decision.reason,
    fingerprint: failure.fingerprint,
    sentence: decision.sentence,
    data: journalData(failure, decision),
    tail: badEnd(failure, decision),
    quota: quotaText(quota, position),
  }
}

/** Of its entry in the journal, without the last brace: the script adds when it is due. */
const journalData = (failure: Failure, decision: Decision): string =>
  JSON.stringify(badEndData(failure, decision)).slice(0, -1)

/** A limit is dealt out among partitions; shares of what started in each add up by themselves. */
function quotaText(quota: RetryQuota | undefined, position: Position): string {
  if (quota === undefined) return ''
  const { name, windowMs, limit, share, allTenants } = quota
  const { place, places } = limit === null ? ALONE : position
  return `${windowMs} ${limit ?? '-'} ${share ?? '-'} ${place} ${places} ${allTenants === true ? 'all' : 'each'} ${name}`
}

function failedArguments(
  ending: Readonly<Record<Exclude<(typeof SETTLE_FAILED)[number], 'breakers'>, string>>,
  failure: Failure,
  outage: Outage | undefined,
): string[] {
  const breakers = outage?.breakers ?? []
  const args = ordered(SETTLE_FAILED, { ...ending, breakers: String(breakers.length) })
  if (outage === undefined || breakers.length === 0) return args
  const { park } = outage
  const { reason, sentence } = park
  args.push(...ordered(OUTAGE, { reason, sentence, data: journalData(failure, park), tail: badEnd(failure, park) }))
  for (const { name, settings } of breakers) {
    args.push(...ordered(BREAKER_REF, { name, settings: JSON.stringify(settings) }))
  }
  return args
}

const SUCCEEDED: Settled = { result: { outcome: 'settled', status: 'succeeded', repeated: false }, isSeen: true }

export function settledOf(answers: readonly Reply[]): Settled[] {
  const settled: Settled[] = []
  for (const answer of answers) {
    if (typeof answer === 'number') for (let left = answer; left > 0; left--) settled.push(SUCCEEDED)
    else settled.push(settledAs(String(answer)))
  }
  return settled
}

function settledAs(answer: string): Settled {
  const [outcome, detail, mark] = answer.split(' ')
  const isSeen = mark === undefined
  if (outcome === 'superseded') return { result: { outcome, because: detail as SupersededBecause }, isSeen }
  const repeated = outcome === 'repeated'
  return { result: { outcome: 'settled', status: detail as TaskStatus, repeated }, isSeen }
}
