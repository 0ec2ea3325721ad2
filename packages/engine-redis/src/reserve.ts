// Reserving one attempt that an outside message asks for: the same step as a claim, with the message's attempt number
// as the idempotency gate (A2) and the ceiling checked for every sender (A6).

import {
  BudgetExhaustedError,
  type Claimed,
  ConflictError,
  DuplicateExecutionError,
  NoAvailableSlotError,
  type ReserveRequest,
  type Scope,
  StoreFailedError,
  TaskConflictError,
} from '@reprise/core'
import { checkReserve, scopeText } from '@reprise/core/engine'
import { claimResult } from './claim.ts'
import { STAGE_LETTERS } from './layout.ts'
import { type Reply, ScriptRefusal } from './link/link.ts'
import { asTexts, type Partition } from './partition.ts'
import { textRest } from './records.ts'
import { reserveScript } from './scripts.generated.ts'
import { differencesNamed, settingsText } from './submit.ts'

export async function reserve(partition: Partition, request: ReserveRequest): Promise<Claimed> {
  checkReserve(request)
  const answer = await reserveThere(partition, request, request.task.dedupeKey)
  if ('lease' in answer) return answer.lease
  throw refusal(request, answer)
}

/** Why there is no lease: a word, then details. */
export interface ReserveRefusal {
  readonly what: string
  readonly details: readonly string[]
}

/** `key` is the dedupe key; in a store with several partitions, the ticket in its place. */
export async function reserveThere(
  partition: Partition,
  request: ReserveRequest,
  key: string | null,
): Promise<{ readonly lease: Claimed } | ReserveRefusal> {
  const reply = await answerTo(partition, reserveArguments(request, key))
  const [what = '', ...details] = asTexts(reply)
  if (!/^\d+$/.test(what)) return { what, details }
  const [lease] = (await claimResult(partition, reply, request)).claimed
  if (lease === undefined) throw new StoreFailedError('A reservation was answered without a lease.')
  return { lease }
}

/** The script's answer. What it refuses as an error comes as any other answer: the word, then the details. */
async function answerTo(partition: Partition, args: readonly string[]): Promise<Reply> {
  try {
    return await partition.once(reserveScript, args)
  } catch (error) {
    if (error instanceof ScriptRefusal) return error.message.split(' ')
    throw error
  }
}

function reserveArguments(request: ReserveRequest, key: string | null): string[] {
  const { task, attempt, maxRetries, worker, leaseMs, stage = 'run' } = request
  return [
    task.id,
    String(attempt),
    String(maxRetries),
    worker,
    JSON.stringify(worker),
    String(leaseMs),
    ...sentenceAroundCeiling(task.id, attempt),
    task.pool,
    task.action,
    task.tenant,
    settingsText(task.settings),
    textRest(task),
    task.deadlineAt === null ? '' : String(task.deadlineAt),
    task.deadlineMs === null ? '' : String(task.deadlineMs),
    key ?? '',
    STAGE_LETTERS[stage],
    task.dedupeMs === undefined ? '' : String(task.dedupeMs),
  ]
}

/** What the error about a dropped message says before and after the ceiling, which only the script knows. */
function sentenceAroundCeiling(id: string, attempt: number): readonly [string, string] {
  const [one, two] = [1, 2].map((ceiling) => new BudgetExhaustedError(id, attempt, ceiling).message)
  if (one === undefined || two === undefined) return ['', '']
  let at = 0
  while (at < one.length && one[at] === two[at]) at++
  return [one.slice(0, at), one.slice(at + 1)]
}

export function refusal({ task: { id }, attempt }: ReserveRequest, { what, details }: ReserveRefusal): Error {
  const [detail = '', more] = details
  switch (what) {
    case 'dropped':
      return new BudgetExhaustedError(id, attempt, Number(detail))
    case 'differs':
      return new TaskConflictError(more ?? id, differencesNamed(detail))
    case 'duplicate':
      return new DuplicateExecutionError(id, attempt)
    case 'conflict':
      return new ConflictError(`Task '${id}' can't start attempt ${attempt} now: it is at attempt ${detail}.`)
    case 'held':
      if (isOfBreaker(detail)) return new NoAvailableSlotError(`${breakerScope(detail)} (its breaker is open)`, 0)
      return new NoAvailableSlotError(`${scopeText(scopeNamed(detail))} (paused)`, 0)
    case 'full':
      if (isOfBreaker(detail)) {
        return new NoAvailableSlotError(`${breakerScope(detail)} (its breaker lets few through)`, Number(more))
      }
      return new NoAvailableSlotError(scopeText(scopeNamed(detail)), Number(more))
    default:
      return new StoreFailedError(`A reservation was refused: ${[what, ...details].join(' ')}`)
  }
}

/** What breakers have on an action is named like a scope, with this as its pool. */
const BREAKERS = '\r\n'

export const isOfBreaker = (name: string): boolean => name.startsWith(BREAKERS)

const breakerScope = (name: string): string => scopeText(scopeNamed(name.replace(BREAKERS, '\n')))

/** A scope as a script spells it: three parts, empty where it says nothing. */
export function scopeNamed(name: string): Scope {
  const [pool, action, tenant] = name.split('\n')
  return Object.fromEntries(Object.entries({ pool, action, tenant }).filter(([, value]) => value !== ''))
}
