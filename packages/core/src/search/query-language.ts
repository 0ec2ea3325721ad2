// What can be asked about tasks in one line, such as `status:failed action:invoice.* age>1h "connection reset"`: the fields, the
// filter that a line becomes, whether a task agrees with it, and the line that a filter is written as. Shared by URL, command
// line and console. How a line is read is in query-syntax.ts, how tasks are found in search.ts; docs/query-language.md is for people.

import { FINAL_REASONS, RETRIABLE_REASONS } from '../failure/failure-reason.ts'
import { DURATION_UNITS } from '../model/duration.ts'
import { END_STATUSES, TASK_STATUSES, type Task, type TaskStatus } from '../model/task.ts'
import { DEAD_REASONS } from '../policy/decide.ts'
import { compileGlobs } from '../policy/glob.ts'

/** All of them hold. */
export interface TaskFilter {
  readonly terms: readonly QueryTerm[]
}

export interface QueryTerm {
  readonly negated: boolean
  readonly condition: QueryCondition
}

export type QueryCondition =
  /** It has one of these. */
  | { readonly kind: 'status'; readonly statuses: readonly TaskStatus[] }
  /** One of these matches, with `*` for any run of characters. */
  | { readonly kind: 'name'; readonly field: NameField; readonly globs: readonly string[] }
  /** It has one of these labels. */
  | { readonly kind: 'label'; readonly labels: readonly QueryLabel[] }
  /** It is one of these. */
  | { readonly kind: 'equal'; readonly field: AmountField; readonly amounts: readonly number[] }
  /** Times are in milliseconds. */
  | { readonly kind: 'compare'; readonly field: AmountField; readonly operator: QueryOperator; readonly amount: number }
  /** Found somewhere in its failure, id, action or labels, whatever the case. */
  | { readonly kind: 'text'; readonly text: string }

export interface QueryLabel {
  readonly name: string
  /** Of its value. */
  readonly glob: string
}

export type QueryOperator = '<' | '<=' | '>' | '>='

export const ALL_TASKS: TaskFilter = { terms: [] }

interface FieldEntry {
  readonly kind: 'status' | 'name' | 'label' | 'number' | 'time'
  /** For lists of completions. */
  readonly hint: string
}

export const QUERY_FIELDS = {
  status: { kind: 'status', hint: 'where it stands' },
  id: { kind: 'name', hint: 'the id of the task' },
  action: { kind: 'name', hint: 'the action' },
  pool: { kind: 'name', hint: 'the pool' },
  tenant: { kind: 'name', hint: 'the tenant' },
  worker: { kind: 'name', hint: 'the worker of the latest attempt' },
  version: { kind: 'name', hint: 'the version of that worker' },
  host: { kind: 'name', hint: 'the host of that worker' },
  reason: { kind: 'name', hint: 'why it is dead, failed or waits' },
  code: { kind: 'name', hint: 'the error code of a dead letter' },
  fingerprint: { kind: 'name', hint: 'the failure group of a dead letter' },
  label: { kind: 'label', hint: 'label:name=value, or label.name:value' },
  retryToken: { kind: 'name', hint: 'the retry token' },
  dedupeKey: { kind: 'name', hint: 'the dedupe key' },
  attempt: { kind: 'number', hint: 'the latest attempt' },
  failures: { kind: 'number', hint: 'failed attempts of this generation' },
  losses: { kind: 'number', hint: 'lost attempts of this generation' },
  generation: { kind: 'number', hint: 'the generation, from 1' },
  priority: { kind: 'number', hint: 'the priority, 0 to 9' },
  age: { kind: 'time', hint: 'how long ago it was accepted' },
  due: { kind: 'time', hint: 'in how long a waiting task is due' },
  died: { kind: 'time', hint: 'how long ago a dead letter died' },
  ended: { kind: 'time', hint: 'how long ago it ended, or died' },
} as const satisfies Record<string, FieldEntry>

export type QueryField = keyof typeof QUERY_FIELDS
type FieldOf<Kind> = {
  [Field in QueryField]: (typeof QUERY_FIELDS)[Field]['kind'] extends Kind ? Field : never
}[QueryField]
export type NameField = FieldOf<'name'>
export type AmountField = FieldOf<'number' | 'time'>

const FIELD_BY_WORD: ReadonlyMap<string, QueryField> = new Map(
  (Object.keys(QUERY_FIELDS) as QueryField[]).map((field) => [field.toLowerCase(), field]),
)

/** However it is spelt: retryToken, retry_token, RETRYTOKEN. */
export const fieldNamed = (word: string): QueryField | undefined =>
  FIELD_BY_WORD.get(word.toLowerCase().replaceAll('_', ''))

/** Words for several statuses at once; `failed` is what the record of a dead letter's last execution says. */
export const STATUS_WORDS: Readonly<Record<string, readonly TaskStatus[]>> = {
  failed: ['dead'],
  live: TASK_STATUSES.filter((status) => !END_STATUSES.has(status)),
  ended: TASK_STATUSES.filter((status) => END_STATUSES.has(status)),
}
export const QUERY_STATUSES: readonly string[] = [...TASK_STATUSES, ...Object.keys(STATUS_WORDS)]

/** Everything that `reason` can be. */
export const QUERY_REASONS: readonly string[] = [
  ...new Set([...DEAD_REASONS, ...RETRIABLE_REASONS, ...FINAL_REASONS, 'delayed', 'manual']),
]

export type TaskPredicate = (task: Task, now: number) => boolean

/** The task as somebody may see it. A query that found what is hidden from them would tell it, letter by letter. */
export type SeenTask = (task: Task) => Task

/** Whether a task agrees with the filter at this moment. To ask about many, compile it once. */
export const matches = (filter: TaskFilter, task: Task, now: number): boolean => compileFilter(filter)(task, now)

/** What may be hidden is looked at last: most tasks are past by then, and need not be made fit to be seen. */
export function compileFilter({ terms }: TaskFilter, seen?: SeenTask): TaskPredicate {
  const open = compileTerms(terms.filter(({ condition }) => !mayBeHidden(condition)))
  const hidable = terms.filter(({ condition }) => mayBeHidden(condition))
  if (hidable.length === 0) return open
  const agrees = compileTerms(hidable)
  return (task, now) => open(task, now) && agrees(seen === undefined ? task : seen(task), now)
}

function compileTerms(terms: readonly QueryTerm[]): TaskPredicate {
  const compiled = terms.map(({ negated, condition }) => ({ negated, holds: compileCondition(condition) }))
  return (task, now) => compiled.every(({ negated, holds }) => holds(task, now) !== negated)
}

const HIDABLE_FIELDS: ReadonlySet<NameField> = new Set<NameField>([
  'worker',
  'version',
  'host',
  'code',
  'retryToken',
  'dedupeKey',
])

/** Whether it looks at a text that redaction may change. */
const mayBeHidden = (condition: QueryCondition): boolean =>
  condition.kind === 'label' ||
  condition.kind === 'text' ||
  (condition.kind === 'name' && HIDABLE_FIELDS.has(condition.field))

function compileCondition(condition: QueryCondition): TaskPredicate {
  switch (condition.kind) {
    case 'status':
      return (task) => condition.statuses.includes(task.state.status)
    case 'name': {
      const agrees = compileGlobs(condition.globs)
      return (task) => namesOf(condition.field, task).some(agrees)
    }
    case 'label': {
      const wanted = condition.labels.map(({ name, glob }) => ({ name, agrees: compileGlobs([glob]) }))
      return ({ labels }) =>
        wanted.some(({ name, agrees }) => Object.hasOwn(labels, name) && agrees(labels[name] ?? ''))
    }
    case 'equal':
      return (task, now) => condition.amounts.some((amount) => amountOf(condition.field, task, now) === amount)
    case 'compare': {
      const { field, operator, amount } = condition
      return (task, now) => {
        const found = amountOf(field, task, now)
        return found !== null && compares(found, operator, amount)
      }
    }
    case 'text': {
      const wanted = condition.text.toLowerCase()
      return (task) => textsOf(task).some((text) => text.toLowerCase().includes(wanted))
    }
  }
}

/** What the field says of this task: nothing where it has no such thing. */
export function namesOf(field: NameField, task: Task): readonly string[] {
  const { state } = task
  switch (field) {
    case 'id':
    case 'action':
    case 'pool':
    case 'tenant':
    case 'retryToken':
      return [task[field]]
    case 'dedupeKey':
      return task.dedupeKey === null ? [] : [task.dedupeKey]
    case 'worker':
    case 'version':
    case 'host': {
      const name = task.lastWorker?.[field] ?? null
      return name === null ? [] : [name]
    }
    case 'reason':
      if (state.status === 'dead') return [state.reason, state.failure.reason]
      return state.status === 'waiting' ? [state.reason] : []
    case 'code':
    case 'fingerprint':
      return state.status === 'dead' ? [state.failure[field]] : []
  }
}

function amountOf(field: AmountField, task: Task, now: number): number | null {
  switch (field) {
    case 'age':
      return now - task.acceptedAt
    case 'due':
      return task.state.status === 'waiting' ? task.state.dueAt - now : null
    case 'died':
      return task.state.status === 'dead' ? now - task.state.at : null
    case 'ended':
      return 'at' in task.state ? now - task.state.at : null
    default:
      return task[field]
  }
}

function compares(found: number, operator: QueryOperator, amount: number): boolean {
  switch (operator) {
    case '<':
      return found < amount
    case '<=':
      return found <= amount
    case '>':
      return found > amount
    case '>=':
      return found >= amount
  }
}

function textsOf({ id, action, labels, state }: Task): readonly string[] {
  const own = [id, action, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]
  return state.status === 'dead' ? [state.failure.message, state.failure.code, ...own] : own
}

/** The line that this filter is read from, written the one canonical way. */
export const formatQuery = ({ terms }: TaskFilter): string =>
  terms.map(({ negated, condition }) => `${negated ? '-' : ''}${formatCondition(condition)}`).join(' ')

function formatCondition(condition: QueryCondition): string {
  switch (condition.kind) {
    case 'status':
      return `status:${condition.statuses.join(',')}`
    case 'name':
      return `${condition.field}:${formatList(condition.globs)}`
    case 'label':
      return formatLabels(condition.labels)
    case 'equal':
      return `${condition.field}:${condition.amounts.join(',')}`
    case 'compare': {
      const { field, operator, amount } = condition
      return `${field}${operator}${QUERY_FIELDS[field].kind === 'time' ? exactDuration(amount) : amount}`
    }
    case 'text':
      return PLAIN_WORD.test(condition.text) ? condition.text : quoted(condition.text)
  }
}

// Words that stand for themselves wherever they are; `and`, `or` and `not` mean something at the start of a term.
const PLAIN_WORD = /^(?!(?:and|or|not)$)\w+$/i
/** A label's name that may stand after `label.`. */
const PLAIN_LABEL = /^[\w./-]+$/
const BARE_VALUE = /^[^\s",]+$/

function formatLabels(labels: readonly QueryLabel[]): string {
  const name = labels[0]?.name ?? ''
  if (PLAIN_LABEL.test(name) && labels.every((label) => label.name === name)) {
    return `label.${name}:${formatList(labels.map(({ glob }) => glob))}`
  }
  return `label:${formatList(labels.map((label) => `${label.name}=${label.glob}`))}`
}

const formatList = (values: readonly string[]): string =>
  values.map((value) => (BARE_VALUE.test(value) ? value : quoted(value))).join(',')

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/** In the largest unit that it is a whole number of. */
function exactDuration(ms: number): string {
  const [unit, unitMs] = DURATION_UNITS.find(([, one]) => ms % one === 0) ?? ['ms', 1]
  return `${ms / unitMs}${unit}`
}
