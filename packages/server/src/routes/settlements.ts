// How attempts ended, as workers over HTTP report it, and what becomes of that in the store. The ends of a batch are judged together:
// the store is asked once, however many there are, and what is wrong with one is told of that one.

import {
  encodeJson,
  isRepriseError,
  type JsonText,
  type JudgedAttempt,
  type LeaseRef,
  released,
  type Settlement,
  type SettleResult,
  succeeded,
  type TaskId,
  turnsOf,
  type Work,
} from '@reprise/core'
import type { Context } from '@reprise/operations'
import { failedSettlement, type ReportedError } from './reported-failure.ts'

/** What an entry of a batch gets without the store being asked. */
export type EntryAnswer = { readonly outcome: 'superseded'; readonly because: 'unknown' } | Refused
interface Refused {
  readonly outcome: 'refused'
  readonly code: string
  readonly detail: string
}

export const UNKNOWN = { outcome: 'superseded', because: 'unknown' } as const

/** The entries that are requests get what `ask` says of them, the others have their answers already. */
export async function answered<Request extends object, Result>(
  entries: readonly (Request | EntryAnswer)[],
  ask: (requests: readonly Request[]) => Promise<readonly Result[]>,
): Promise<readonly (Result | EntryAnswer | undefined)[]> {
  const requests = entries.filter((entry): entry is Request => !isEntryAnswer(entry))
  const results = requests.length === 0 ? [] : await ask(requests)
  let next = 0
  return entries.map((entry) => (isEntryAnswer(entry) ? entry : results[next++]))
}

export const isEntryAnswer = (entry: object): entry is EntryAnswer => 'outcome' in entry

/** What is wrong with one entry is told of that one. What is wrong with the store is not about an entry. */
function refusable<T>(step: () => T): T | Refused {
  try {
    return step()
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): Refused {
  if (!isRepriseError(error) || error.status >= 500) throw error
  return { outcome: 'refused', code: error.code, detail: error.message }
}

/** All at once; one by one if the store refuses what one of them says. */
export async function settled(
  { engine }: Context,
  settlements: readonly Settlement[],
): Promise<readonly (SettleResult | Refused | undefined)[]> {
  const results = await engine.settle(settlements).catch(refused)
  if (!('outcome' in results)) return results
  if (settlements.length === 1) return [results]
  const each: (SettleResult | Refused | undefined)[] = []
  for (const one of settlements) {
    const result = await engine.settle([one]).catch(refused)
    each.push('outcome' in result ? result : result[0])
  }
  return each
}

/** A worker that did not judge its failures can't say what was decided about them. */
export function withSentences<Result extends SettleResult | Refused>(
  settlements: readonly Settlement[],
  results: readonly (Result | undefined)[],
): readonly (Result | SettleResult | undefined)[] {
  return results.map((result, at) => {
    const settlement = settlements[at]
    if (result?.outcome !== 'settled' || result.repeated || settlement?.kind !== 'failed') return result
    return { ...result, sentence: settlement.decision.sentence }
  })
}

export type ReportedEnd =
  | { readonly outcome: 'succeeded'; readonly result?: unknown }
  | { readonly outcome: 'failed'; readonly error: ReportedError }
  | { readonly outcome: 'released'; readonly reason?: string | undefined }

/** How a worker says that an attempt ended; the lease is null if the credential is not the attempt's. */
interface Report {
  readonly end: ReportedEnd
  readonly ref: LeaseRef | null
}

/** The store is asked once, however many of them failed. */
export async function settlementsOf(
  context: Context,
  reports: readonly Report[],
): Promise<readonly (Settlement | EntryAnswer)[]> {
  const standings = await standingsFor(context.engine, reports)
  const turns = turnsOf(context.clock)
  const settlements: (Settlement | EntryAnswer)[] = []
  for (const { end, ref } of reports) {
    // A thousand failures with long messages are a lot to judge.
    if (turns.isSpent) await turns.wait()
    settlements.push(ref === null ? UNKNOWN : refusable(() => settlementOf(context, ref, end, standings)))
  }
  return settlements
}

/** Where the tasks stand whose failures are to be judged, and the store's time. */
interface Standings {
  readonly of: ReadonlyMap<TaskId, JudgedAttempt>
  readonly now: number
}

export async function standingsFor(engine: Pick<Work, 'standings'>, reports: readonly Report[]): Promise<Standings> {
  const ids = new Set(reports.flatMap(({ end, ref }) => (end.outcome === 'failed' && ref !== null ? ref.taskId : [])))
  if (ids.size === 0) return { of: new Map(), now: 0 }
  const { standings, now } = await engine.standings([...ids])
  const known = standings.filter((standing) => standing !== null)
  return { of: new Map(known.map((standing) => [standing.snapshot.id, standing])), now }
}

export function settlementOf(
  context: Context,
  ref: LeaseRef,
  end: ReportedEnd,
  { of, now }: Standings,
): Settlement | typeof UNKNOWN {
  switch (end.outcome) {
    case 'succeeded':
      return succeeded(ref, resultText(end.result))
    case 'released':
      return released(ref, end.reason ?? 'The worker gave it back.')
    case 'failed': {
      const standing = of.get(ref.taskId)
      return standing === undefined ? UNKNOWN : failedSettlement(context, ref, end.error, standing, now)
    }
  }
}

export const resultText = (result: unknown): JsonText | null =>
  result === undefined || result === null ? null : encodeJson(result, 'result')
