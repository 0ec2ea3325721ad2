// What the scripts and this package's TypeScript must agree on, written down once: the order of the fields in every record that
// they hand each other or that is stored, and the letters and patterns by which stored texts are told apart. The compiler puts
// them into Lua (scripts/lua-facts.ts says how); here they are read and written by name.

import type { LeaseStage, SeriesPoint, TaskDifference, TaskStatus } from '@reprise/core'

type Names = readonly string[]

type Split<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? readonly [First, ...Split<Rest>]
  : readonly [Text]

/** The fields of a record, in order. */
const fields = <Text extends string>(names: Text): Split<Text> => names.split(' ') as unknown as Split<Text>

/** The values of a record in its order. */
export function ordered<Fields extends Names>(
  fields: Fields,
  values: Readonly<Record<Fields[number], string>>,
): string[] {
  return fields.map((field) => values[field as Fields[number]])
}

/** Records that follow one another in a script's answer, from a place on. */
export function records<Fields extends Names>(
  fields: Fields,
  texts: readonly string[],
  from = 0,
): Record<Fields[number], string>[] {
  const found: Record<Fields[number], string>[] = []
  for (let at = from; at < texts.length; at += fields.length) found.push(recordOf(fields, texts, at))
  return found
}

export function recordOf<Fields extends Names>(
  fields: Fields,
  texts: readonly string[],
  from = 0,
): Record<Fields[number], string> {
  const record: Record<string, string> = {}
  for (let place = 0; place < fields.length; place++) record[fields[place] ?? ''] = texts[from + place] ?? ''
  return record
}

/** Where each field stands in a record: for what reads so many that a record by name would be dear. */
export const placesIn = <Fields extends Names>(fields: Fields): Record<Fields[number], number> =>
  Object.fromEntries(fields.map((field, place) => [field, place])) as Record<Fields[number], number>

/** The counters of a lane. What was accepted is the sum of all. */
export const COUNTERS = fields('queued waiting running succeeded dead discarded cancelled removed') satisfies readonly (
  | TaskStatus
  | 'removed'
)[]

/** Where a lane counts its ready entries, by priority. */
export const PRIORITY_COUNTS = fields('p0 p1 p2 p3 p4 p5 p6 p7 p8 p9')

/** The numbers of a lane, packed into one field because nearly every script reads and writes them. heldSince is -1 while it is not held. */
export const LANE = [
  'heldSince',
  'turn',
  'picks',
  'heldMs',
  'ready',
  'returned',
  'stale',
  ...COUNTERS,
  ...PRIORITY_COUNTS,
] as const

/** What a worker registered: fields of its hash. */
export const REGISTERED = fields('epoch pools actions host version runtimes endpoint concurrency registeredAt')

/** A worker that left: fields of its hash behind the id. */
export const DEPARTED_ROW = ['id', 'leftAt', ...REGISTERED] as const

/**
 * What a worker reported and what the store saw of it, packed into one field. A missing lastFailureAt is -1, a missing outlook
 * or policyVersion false. failuresBy and servedWell are lists: what is known by tenant, see lua/include/health.lua.
 */
export const WORKER = fields(
  'lastBeatAt queueDepth consecutiveFailures recentOutcomes recentFailures lastFailureAt inFlight loopLagMs maxQuietMs lastProgressAt probeFailures memoryBytes draining inbox assigned outlook failuresBy servedWell policyVersion',
)

export const WORKER_ROW = ['id', ...REGISTERED, ...WORKER] as const

/** What a script answers where the platform set what a tenant's caller wants to change. */
export const OUTRANKED = -2

/** What stands before the payload at the end of a task's text. */
export const PAYLOAD_NAME = '\n"payload":'
export const PAYLOAD_NAME_LENGTH = PAYLOAD_NAME.length

/** A task as a look at it answers. */
export const TASK_ROW = fields('id text state record lease progress heldSince heldMs')
export const LAUNCH_ROW = fields('id text state record lease')
export const OVERDUE_ROW = fields('kind since id attempt token worker text state startedAt')
/** The last five are fields of the group's hash. */
export const GROUP_FIELDS = fields('action firstAt lastAt lastTask sample')
export const GROUP_ROW = ['fingerprint', 'number', 'count', ...GROUP_FIELDS] as const
const SCOPE = fields('pool action tenant')
export const LANE_ROW = ['number', ...SCOPE, ...COUNTERS] as const
/** What a tenant has in some lanes. */
export const TENANT_ROW = fields('tenant backlog running bytes')
/** What is counted by the minute. */
export const SERIES = fields(
  'accepted started succeeded failed lost retried dead cancelled',
) satisfies readonly (keyof SeriesPoint)[]
export const MINUTE_ROW = ['at', ...SERIES] as const
/** Fields of a document's hash, too. */
export const DOCUMENT_ROW = fields('order text version createdAt updatedAt')
export const FINDING_ROW = fields('kind subject name found expected repaired')
/** A limit that is full in a partition while lanes of the asked pools stand at it. */
export const BLOCKED_ROW = [...SCOPE, 'lanePool', 'laneAction', 'version'] as const

/** How an attempt ended badly, and what was decided about it. */
export const ENDING = fields('decision delayMs reason fingerprint sentence data tail blames quota')
/** What was decided instead, should a breaker park it; then the breakers. */
export const OUTAGE = fields('reason sentence data tail')
export const BREAKER_REF = fields('name settings')

const SETTLED_LEASE = fields('kind id attempt token')
export const SETTLE_FROM = fields('kind worker lane')
export const SETTLE_DONE = fields('kind draw count')
export const SETTLE_SUCCEEDED = [...SETTLED_LEASE, 'result'] as const
export const SETTLE_RELEASED = [...SETTLED_LEASE, 'reason', 'delayMs', 'waitReason'] as const
const SETTLED_BADLY = [...SETTLED_LEASE, ...ENDING] as const
export const SETTLE_LOST = [...SETTLED_BADLY, 'gone'] as const
export const SETTLE_FAILED = [...SETTLED_BADLY, 'breakers'] as const
export const SETTLE_EXPIRED = ['kind', 'id', 'attempt', ...ENDING] as const

/** A claim up to its pools. */
export const CLAIM = fields('worker workerJson epoch limit leaseMs thresholds id stage')
export const RENEWAL = fields('id attempt token progress handle log')
export const ASSIGNMENT = fields('id attempt token worker workerJson ttlMs judged')
export const PROBE = fields('worker epoch answered')
export const BEAT = fields(
  'worker epoch inFlight queueDepth loopLagMs memoryBytes maxQuietMs draining outlook policyVersion',
)

export const VOUCH = fields('worker epoch leaseMs outlook cursor')

/** What a lease begins with: p for a plain task, which runs; s for any other that runs; or the stage it is in. */
export const STAGE_LETTERS = { run: 's', dispatch: 'd', inbox: 'i', launch: 'l' } as const satisfies Record<
  LeaseStage,
  string
>
export const PLAIN = 'p'
/** The same as bytes, for scripts that look at nothing else. */
export const PLAIN_BYTE = PLAIN.charCodeAt(0)
export const STAGE_BYTES = { dispatch: STAGE_LETTERS.dispatch.charCodeAt(0), inbox: STAGE_LETTERS.inbox.charCodeAt(0) }

/** In what a submission differs from the task that has its id or key, as scripts say it. */
export const DIFFERENCE_LETTERS = { payload: 'p', action: 'a', tenant: 't' } as const satisfies Record<
  TaskDifference,
  string
>

/** The beginning of a JSON text whose first members stand in this order; the pattern finds their values. */
const head = (patterns: Readonly<Record<string, string>>): string =>
  `^{${Object.entries(patterns)
    .map(([name, pattern]) => `"${name}":${pattern}`)
    .join(',')}`

/** Lua patterns for a member's value: a word, a whole number, a text without quotes, any JSON. */
const WORD = '"(%a+)"'
const WHOLE = '(%d+)'
const TEXT = '"([^"]*)"'
const JSON_VALUE = '(.-)'

const STATUS_HEAD = { status: WORD }
const STATE_HEAD = { ...STATUS_HEAD, attempt: WHOLE }
/** An attempt's record: status, attempt, token (without the worker), worker (JSON), start. */
const ATTEMPT_HEAD = { ...STATE_HEAD, token: TEXT, worker: JSON_VALUE, dispatchedAt: WHOLE }
const TASK_HEAD = { seq: WHOLE, acceptedAt: WHOLE, lane: WHOLE }

/** What a bad end adds to a record begins with the decision's kind. */
export const DECISION_MEMBER = '"decision":{"kind":'
export const DECISION_PATTERN = `${DECISION_MEMBER}${WORD}`
export const STATUS_PATTERN = head(STATUS_HEAD)
export const STATE_PATTERN = head(STATE_HEAD)
export const RECORD_PATTERN = head(ATTEMPT_HEAD)
export const HEAD_PATTERN = head(TASK_HEAD)

/** How many beginnings of a store are kept: more than a day of a server that starts again and again. */
export const HISTORY_MAX = 16
