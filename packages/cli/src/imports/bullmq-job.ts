// One job of BullMQ as a task of an import: what was asked for, and the attempts that BullMQ remembers. It counts attempts, and keeps
// the stacks of the last ones; when the earlier ones ran it does not know.

/** A job's hash, as BullMQ stores it. */
export type JobHash = Readonly<Record<string, string>>

export const JOB_STATES = ['failed', 'waiting', 'delayed'] as const
export type JobState = (typeof JOB_STATES)[number]

export interface JobPlace {
  readonly queue: string
  readonly id: string
  readonly state: JobState
  /** When a delayed job is due. */
  readonly dueAt: number | null
}

/** What the operator says about all of them; what is missing is as the job has it. */
export interface JobTerms {
  readonly action?: string | undefined
  readonly tenant?: string | undefined
  readonly pool?: string | undefined
}

const ATTEMPTS_MAX = 100
const TEXT_MAX = 16_000

export function taskOfJob(place: JobPlace, hash: JobHash, terms: JobTerms): object {
  const { queue, id, state, dueAt } = place
  const { action = hash.name ?? queue, tenant, pool } = terms
  return {
    snapshot: {
      id: taskIdOf(place),
      action,
      payload: jsonIn(hash.data, null),
      ...(tenant === undefined ? {} : { tenant }),
      ...(pool === undefined ? {} : { pool }),
      labels: { bullmq_queue: queue, bullmq_job: id },
      priority: priorityOf(wholeIn(hash.priority) ?? 0),
    },
    state:
      state === 'failed'
        ? { status: 'dead' }
        : state === 'delayed'
          ? { status: 'waiting', dueAt: dueAt ?? (wholeIn(hash.timestamp) ?? 0) + (wholeIn(hash.delay) ?? 0) }
          : { status: 'queued' },
    attempts: attemptsOf(hash, state),
  }
}

/** The same each time, so that a job is taken over once. */
const taskIdOf = ({ queue, id }: Pick<JobPlace, 'queue' | 'id'>): string => `bullmq-${queue}-${id}`

/** BullMQ runs those without a priority first, and then from 1 down to two millions. */
function priorityOf(priority: number): number {
  if (priority <= 0) return 5
  return Math.max(1, 5 - Math.ceil(Math.log10(priority + 1)))
}

function attemptsOf(hash: JobHash, state: JobState): readonly object[] {
  const stacks = stacksIn(hash.stacktrace)
  const made = Math.max(wholeIn(hash.atm) ?? wholeIn(hash.attemptsMade) ?? 0, stacks.length, state === 'failed' ? 1 : 0)
  const kept = Math.min(made, ATTEMPTS_MAX)
  const created = wholeIn(hash.timestamp) ?? 0
  const began = Math.max(created, wholeIn(hash.processedOn) ?? created)
  const ended = Math.max(began, wholeIn(hash.finishedOn) ?? began)
  return Array.from({ length: kept }, (_, index) => {
    const attempt = made - kept + index + 1
    const isLast = attempt === made
    const stack = stacks[stacks.length - (made - attempt) - 1]
    const reason = isLast ? hash.failedReason : undefined
    return {
      attempt,
      dispatchedAt: isLast ? began : created,
      resolvedAt: isLast ? ended : created,
      failure: failureOf(stack, reason),
    }
  })
}

function failureOf(stack: string | undefined, reason: string | undefined): object {
  const told = stack === undefined ? null : headOf(stack)
  const message = reason ?? told?.message ?? 'BullMQ kept no error of this attempt.'
  return {
    message: message.slice(0, TEXT_MAX),
    ...(told === null ? {} : { name: told.name }),
    ...(stack === undefined ? {} : { stack: stack.slice(0, TEXT_MAX) }),
  }
}

/** What a stack begins with: the class of the error and its message, which may have several lines. */
function headOf(stack: string): { readonly name: string; readonly message: string } {
  const stop = stack.search(/\n\s+at /)
  const head = stop === -1 ? stack : stack.slice(0, stop)
  const [, name = 'Error', message = head] = /^([A-Za-z_$][\w$.]{0,99})(?: \[\w+\])?: ([\s\S]*)$/.exec(head) ?? []
  return { name, message }
}

function stacksIn(text: string | undefined): readonly string[] {
  const stacks = jsonIn(text, [])
  if (!Array.isArray(stacks)) return []
  return (stacks as readonly unknown[]).filter((stack): stack is string => typeof stack === 'string' && stack !== '')
}

function wholeIn(text: string | undefined): number | undefined {
  const value = Number(text)
  return text === undefined || text === '' || !Number.isSafeInteger(value) || value < 0 ? undefined : value
}

/** What does not parse is given as the text that it is. */
function jsonIn(text: string | undefined, missing: unknown): unknown {
  if (text === undefined) return missing
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
