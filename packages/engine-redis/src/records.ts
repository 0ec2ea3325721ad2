// Reads what the scripts write about a task: its text (what was asked), its state, and the records of its attempts.
// docs/redis-layout.md describes them; this file and the Lua includes are the two that must agree with it.

import {
  type ActionName,
  DEFAULT_PRIORITY,
  type DeadReason,
  type Decision,
  type Execution,
  type Failure,
  type Fingerprint,
  type JsonText,
  type LastWorker,
  type LeaseStage,
  type LeaseToken,
  type PoolName,
  type Priority,
  type RetryToken,
  type Snapshot,
  type TaskId,
  type TaskStatus,
  type TenantId,
  type WaitReason,
  type WorkerBuild,
  type WorkerId,
} from '@reprise/core'
import { DECISION_MEMBER, PAYLOAD_NAME, STAGE_LETTERS } from './layout.ts'
import type { Names } from './names.ts'

/** The first line of a task's text. What has its usual value is left out. */
export interface Head {
  readonly seq: number
  readonly acceptedAt: number
  readonly lane: number
  readonly profile: number
  readonly expires?: number
  readonly deadlineAt?: number
  readonly priority?: Priority
  readonly retryToken?: string
  readonly dedupeKey?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** A task's text starts with a head in JSON; its payload follows a line break, which the head can't contain. */
export function parseText(text: string): { readonly head: Head; readonly payload: JsonText } {
  const stop = text.indexOf('\n')
  return {
    head: JSON.parse(`${text.slice(0, stop - 1)}}`) as Head,
    payload: text.slice(stop + PAYLOAD_NAME.length, -1) as JsonText,
  }
}

/** The part of a task's text that its submitter writes; what the store decides comes before it. */
export function textRest(spec: {
  readonly id: string
  readonly priority: Priority
  readonly retryToken: string
  readonly dedupeKey: string | null
  readonly labels: Readonly<Record<string, string>>
  readonly payload: string
}): string {
  let rest = ''
  if (spec.priority !== DEFAULT_PRIORITY) rest += `,"priority":${spec.priority}`
  if (spec.retryToken !== spec.id) rest += `,"retryToken":${safeJson(spec.retryToken)}`
  if (spec.dedupeKey !== null) rest += `,"dedupeKey":${safeJson(spec.dedupeKey)}`
  for (const _ in spec.labels) {
    const safe = Object.entries(spec.labels).map(([name, value]) => `${safeJson(name)}:${safeJson(value)}`)
    rest += `,"labels":{${safe.join()}}`
    break
  }
  return `${rest},${PAYLOAD_NAME}${spec.payload}}`
}

/** The scripts decode a head; half of a surrogate pair, which core refuses anyway, would make them fail. */
const safeJson = (text: string): string => JSON.stringify(text.toWellFormed())

/** The snapshot of a task whose lane and profile are among these names. */
export function snapshotOf(names: Names, id: string, head: Head, payload: JsonText): Snapshot {
  const { pool, action, tenant } = names.lane(head.lane)
  return {
    id: id as TaskId,
    action: action as ActionName,
    pool: pool as PoolName,
    tenant: tenant as TenantId,
    payload,
    labels: head.labels ?? {},
    priority: head.priority ?? DEFAULT_PRIORITY,
    settings: names.profile(head.profile),
    retryToken: (head.retryToken ?? id) as RetryToken,
    dedupeKey: head.dedupeKey ?? null,
    deadlineAt: head.deadlineAt ?? null,
  }
}

/** Where a task stands. A plain task has none stored: see `plainState`. */
export interface State {
  readonly status: TaskStatus
  readonly attempt: number
  readonly generation: number
  /** Attempts of earlier generations. */
  readonly before: number
  readonly failures: number
  readonly losses: number
  /** Missing for 0. */
  readonly parks?: number
  readonly deferrals?: number
  readonly retryReason?: WaitReason
  readonly rank?: number
  readonly since?: number
  readonly expires?: number
  readonly retired?: boolean
  readonly dueAt?: number
  readonly reason?: WaitReason | DeadReason
  /** The retry quota that moved it. */
  readonly quota?: string
  readonly at?: number
  readonly fingerprint?: Fingerprint
  /** Another task has its dedupe key. */
  readonly keyLost?: true
  /** Its settings ask for an event at its end. */
  readonly notify?: true
  /** The one that an operator's retry named. */
  readonly policy?: string
}

export const FRESH = { generation: 1, before: 0, failures: 0, losses: 0 } as const

/** The state of a task that has none stored: queued since it was accepted, or in or through its first attempt. */
export function plainState(head: Head, first: AttemptRecord | null): State {
  const { seq: rank, acceptedAt: since, expires } = head
  const { generation, before, failures, losses } = FRESH
  if (first === null) {
    const queued = { status: 'queued', attempt: 0, generation, before, failures, losses, rank, since } as const
    return expires === undefined ? queued : { ...queued, expires }
  }
  const { resolvedAt: at } = first
  const status = first.status === 'running' ? 'running' : 'succeeded'
  const claimed = { status, attempt: 1, generation, before, failures, losses, rank } as const
  return at === undefined ? claimed : { ...claimed, at }
}

/** What a claim makes of a plain task. */
export const CLAIMED_PLAIN: State = { ...FRESH, status: 'running', attempt: 1 }

/** What was spent in a task's generation, and the policy that was named for it, as callers see it. */
export const spentOf = ({
  generation,
  failures,
  losses,
  parks = 0,
  deferrals = 0,
  policy,
}: Omit<State, 'status' | 'attempt'>) => ({
  generation,
  failures,
  losses,
  parks,
  deferrals,
  ...(policy === undefined ? {} : { policy }),
})

export const parseState = (text: string): State => JSON.parse(text) as State

/** A lease as it is stored, without what its key and the record of its attempt say. */
export interface Lease {
  readonly stage: LeaseStage
  readonly startedAt: number
  readonly leaseUntil: number
  readonly timeoutAt: number
  readonly handle: string | null
}

// '<kind><start> <token> <attempt> <end> <time-out> <last renewal or ->'; a token contains no blank here: it has no worker.
const LEASE = /^(?<kind>\w)(?<startedAt>\d+) \S+ \d+ (?<leaseUntil>\d+) (?<timeoutAt>\d+) \S+ *(?:\n(?<handle>.*))?$/s

/** By what a lease begins with; a plain task's letter runs, too. */
const STAGES: ReadonlyMap<string, LeaseStage> = new Map(
  Object.entries(STAGE_LETTERS).map(([stage, letter]) => [letter, stage as LeaseStage]),
)

export function parseLease(text: string): Lease {
  const { kind = '', startedAt, leaseUntil, timeoutAt, handle } = LEASE.exec(text)?.groups ?? {}
  return {
    stage: STAGES.get(kind) ?? 'run',
    startedAt: Number(startedAt),
    leaseUntil: Number(leaseUntil),
    timeoutAt: Number(timeoutAt),
    handle: handle ?? null,
  }
}

/** An attempt as it is stored (A1). The snapshot is stored once, beside it. */
export interface AttemptRecord {
  readonly status: Execution['status']
  readonly attempt: number
  readonly token: string
  readonly worker: string | null
  readonly dispatchedAt: number
  readonly generation?: number
  readonly retryReason?: WaitReason
  /** The build of its worker; missing if that is not known. */
  readonly version?: string
  readonly host?: string
  readonly runtimes?: readonly string[]
  /** These three are missing while it runs. */
  readonly errorCode?: string | null
  readonly errorMessage?: string | null
  readonly resolvedAt?: number
  readonly failure?: Omit<Failure, 'code' | 'message'>
  readonly decision?: Decision
}

const RESULT_NAME = '\n"result":'

export function parseRecord(text: string): { readonly record: AttemptRecord; readonly result: JsonText | null } {
  const stop = text.indexOf('\n')
  if (stop === -1) return { record: JSON.parse(text) as AttemptRecord, result: null }
  return {
    record: JSON.parse(`${text.slice(0, stop - 1)}}`) as AttemptRecord,
    result: text.slice(stop + RESULT_NAME.length, -1) as JsonText,
  }
}

/** What a bad end adds to a record: the failure, with its code and message in their places of A1, and the decision. */
export function badEnd(failure: Failure, decision: Decision): string {
  const { code, message, ...rest } = failure
  const { kind, ...decided } = decision
  const decisionText = `${DECISION_MEMBER}"${kind}",${JSON.stringify(decided).slice(1)}`
  return `,"errorCode":${JSON.stringify(code)},"errorMessage":${JSON.stringify(message)},"failure":${JSON.stringify(rest)},${decisionText}`
}

/** The failure in a record, or in the tail that `badEnd` wrote. */
export function failureOf(record: Pick<AttemptRecord, 'errorCode' | 'errorMessage' | 'failure'>): Failure | null {
  const { errorCode, errorMessage, failure } = record
  if (failure === undefined) return null
  return { code: errorCode ?? '', message: errorMessage ?? '', ...failure }
}

/** Records keep a token without the worker they name anyway. */
export function tokenOf({ token, worker }: Pick<AttemptRecord, 'token' | 'worker'>): LeaseToken {
  return (worker === null ? token : `${token}.${worker}`) as LeaseToken
}

/** Members of an attempt's JSON, from the comma before the first one on: scripts put them behind the others. */
export function buildMembers({ version, host, runtimes }: WorkerBuild): string {
  return `,"version":${safeJson(version)},"host":${safeJson(host)},"runtimes":${JSON.stringify(runtimes)}`
}

function buildOf({ version, host, runtimes }: AttemptRecord): WorkerBuild | null {
  return version === undefined || host === undefined || runtimes === undefined ? null : { version, host, runtimes }
}

export function lastWorkerOf(record: AttemptRecord | null): LastWorker | null {
  if (record === null || record.worker === null) return null
  return { worker: record.worker as WorkerId, version: record.version ?? null, host: record.host ?? null }
}

export function executionOf(record: AttemptRecord, snapshot: Snapshot): Execution {
  const known = {
    taskId: snapshot.id,
    attempt: record.attempt,
    generation: record.generation ?? 1,
    worker: record.worker as WorkerId | null,
    build: buildOf(record),
    token: tokenOf(record),
    dispatchedAt: record.dispatchedAt,
    retryReason: record.retryReason ?? null,
    taskSnapshot: snapshot,
  }
  const failure = failureOf(record)
  if (record.status === 'running') {
    return {
      ...known,
      status: 'running',
      resolvedAt: null,
      errorCode: null,
      errorMessage: null,
      failure: null,
      decision: null,
    }
  }
  const resolvedAt = record.resolvedAt ?? 0
  if (failure === null || record.decision === undefined) {
    const status = record.status === 'cancelled' ? 'cancelled' : 'succeeded'
    return { ...known, status, resolvedAt, errorCode: null, errorMessage: null, failure: null, decision: null }
  }
  const status = record.status === 'lost' ? 'lost' : 'failed'
  const { code: errorCode, message: errorMessage } = failure
  return { ...known, status, resolvedAt, errorCode, errorMessage, failure, decision: record.decision }
}
