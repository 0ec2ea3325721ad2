// Takes tasks in from elsewhere (B12, B13): lines as `exportTasks` writes them, or fewer words about failures of another system. Each
// line is judged by itself and has its own answer, so that one that is wrong holds up no other. A line that was taken in before is a
// duplicate: an import that broke off is simply made again.

import {
  checkPast,
  DEFAULT_PRIORITY,
  DEFAULT_TENANT,
  type Decision,
  describeFailure,
  encodeJson,
  type Failure,
  isFailureReason,
  isRepriseError,
  PAST_ATTEMPTS_MAX,
  type PastAttempt,
  type Priority,
  present,
  type RetryToken,
  type TaskPast,
  type TaskSpec,
  type WaitReason,
  type WorkerId,
} from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller } from './access/caller.ts'
import type { Context } from './context.ts'
import { inTurns } from './in-turns.ts'
import { operation } from './operation.ts'
import { ImportedLine, ImportedTaskInput } from './schemas/import.ts'
import { ReasonInput } from './schemas/names.ts'

const LINES_MAX = 100
const PROBLEM_LENGTH_MAX = 300

type Line = z.output<typeof ImportedTaskInput>
type Outcome = z.output<typeof ImportedLine>

export const importOperations = {
  importTasks: operation({
    route: 'POST /api/v1/tasks/import',
    summary: 'Import tasks with their attempts',
    description: `Takes up to ${LINES_MAX} tasks, each as \`export\` writes it (schema ImportedTask). Dead letters stay dead letters, with attempts, errors and stacks; queued and waiting tasks go on with what they have left. A task that is there already is a duplicate, so that an import can be repeated.`,
    tag: 'tasks',
    right: 'configure',
    tenants: 'all',
    input: z.object({
      tasks: z
        .array(z.unknown())
        .min(1)
        .max(LINES_MAX)
        .meta({ description: 'Each an ImportedTask. What is wrong with one is said in its own answer.' }),
      dryRun: z.boolean().optional().meta({ description: 'Say what would become of each, and take nothing in.' }),
      reason: ReasonInput.optional(),
    }),
    output: z.object({ lines: z.array(ImportedLine), dryRun: z.boolean() }),
    answer: 'What became of each, in order.',
    repeatable: true,
    run: async (context, caller, { tasks, dryRun = false, reason }) => {
      const read = await inTurns(context.clock, tasks, (one) => readLine(context, caller, one, reason))
      const lines = dryRun ? await tried(context, read) : await submitted(context, read)
      return { lines, dryRun }
    },
  }),
}

/** What is to be taken in, or what becomes of the line without that. */
type Read = TaskSpec | Outcome

const isSpec = (read: Read): read is TaskSpec => !('outcome' in read)

async function readLine(context: Context, caller: Caller, value: unknown, reason?: string): Promise<Read> {
  const parsed = ImportedTaskInput.safeParse(value)
  if (!parsed.success) return refused(idIn(value), problemOf(parsed.error))
  const line = parsed.data
  const { id } = line.snapshot
  const { status } = line.state
  if (line.redacted === true) {
    return refused(id, 'It was exported without its secrets, and would run without them. Export it with --raw.')
  }
  if (status === 'running') return refused(id, 'It is running there. Await its end, or cancel it, and export it again.')
  if (status !== 'dead' && status !== 'queued' && status !== 'waiting') return { id, outcome: 'ended' }
  try {
    return await specOf(context, caller, line, reason)
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_INVALID') || isRepriseError(error, 'REPRISE_TOO_LARGE')) {
      return refused(id, error.message)
    }
    throw error
  }
}

const refused = (id: string | null, problem: string): Outcome => ({
  id,
  outcome: 'refused',
  problem: problem.slice(0, PROBLEM_LENGTH_MAX),
})

function idIn(value: unknown): string | null {
  const id = (value as { readonly snapshot?: { readonly id?: unknown } } | null)?.snapshot?.id
  return typeof id === 'string' ? id.slice(0, PROBLEM_LENGTH_MAX) : null
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? ''
  return path === '' ? (issue?.message ?? 'It is not as it should be.') : `${path}: ${issue?.message}`
}

async function specOf({ catalogue, clock }: Context, caller: Caller, line: Line, reason?: string): Promise<TaskSpec> {
  const { snapshot, state, generation: given } = line
  const { id, action } = snapshot
  const known = await catalogue.find(action)
  const attempts = pastOf(line, clock.now())
  const generation = given ?? attempts.at(-1)?.generation ?? 1
  const { breakers, quota } = known.settings
  const past: TaskPast = { by: byOf(caller, reason), generation, attempts, isDead: state.status === 'dead' }
  checkPast(id, past)
  return {
    id,
    action,
    pool: snapshot.pool ?? known.pool,
    tenant: snapshot.tenant ?? DEFAULT_TENANT,
    payload: encodeJson(snapshot.payload ?? null, 'payload'),
    labels: snapshot.labels ?? {},
    priority: (snapshot.priority ?? DEFAULT_PRIORITY) as Priority,
    settings:
      snapshot.settings === undefined
        ? known.settings
        : { ...(snapshot.settings as typeof known.settings), ...present({ breakers, quota }) },
    retryToken: (snapshot.retryToken ?? (id as string)) as RetryToken,
    // Another task has taken its key since.
    dedupeKey: state.keyTaken === true ? null : (snapshot.dedupeKey ?? null),
    deadlineAt: snapshot.deadlineAt ?? null,
    deadlineMs: null,
    delayMs: 0,
    dueAt: state.status === 'waiting' ? (state.dueAt ?? null) : null,
    past,
  }
}

/** Of a long past the last attempts. */
function pastOf({ snapshot: { action }, state, attempts = [] }: Line, now: number): readonly PastAttempt[] {
  const past: PastAttempt[] = []
  for (const [at, one] of attempts.entries()) {
    const { status = 'failed', worker = null, build = null, retryReason = null } = one
    const before = past.at(-1)
    const failure = failureOf(one.failure, action)
    const resolvedAt = one.resolvedAt ?? one.dispatchedAt ?? before?.resolvedAt ?? now
    const isEnd = state.status === 'dead' && at === attempts.length - 1
    past.push({
      attempt: one.attempt ?? (before?.attempt ?? 0) + 1,
      generation: one.generation ?? before?.generation ?? 1,
      status,
      worker: worker as WorkerId | null,
      build,
      dispatchedAt: one.dispatchedAt ?? resolvedAt,
      resolvedAt,
      retryReason: (before === undefined ? retryReason : (retryReason ?? before.failure.reason)) as WaitReason | null,
      failure,
      decision: (one.decision as Decision | undefined) ?? decisionOf(failure, isEnd),
    })
  }
  return past.slice(-PAST_ATTEMPTS_MAX)
}

const decisionOf = ({ reason, rule }: Failure, isEnd: boolean): Decision =>
  isEnd
    ? { kind: 'dead', reason: 'retries_exhausted', rule, sentence: 'It had failed for good before it was imported.' }
    : { kind: 'retry', delayMs: 0, reason, rule, sentence: 'It was tried again before it was imported.' }

type FailureInput = NonNullable<Line['attempts']>[number]['failure']

/** As a worker here would have described it, with everything that the line says itself. */
function failureOf({ message, name, code, stack, ...said }: FailureInput, action: TaskSpec['action']): Failure {
  const thrown = Object.assign(new Error(message), present({ name, code }))
  thrown.stack = stack ?? ''
  const described = describeFailure(thrown, action)
  const { retriable, rule, retryAfterMs, fingerprint, details } = said
  const reason = said.reason !== undefined && isFailureReason(said.reason) ? said.reason : undefined
  return {
    ...described,
    ...(present({ reason, retriable, rule, retryAfterMs, fingerprint, details }) as Partial<Failure>),
    stack: stack === null || stack === undefined ? null : described.stack,
  }
}

/** Looks whether each is there, and takes nothing in. */
async function tried({ engine, clock }: Context, read: readonly Read[]): Promise<Outcome[]> {
  const seen = new Set<string>()
  return inTurns(clock, read, async (one) => {
    if (!isSpec(one)) return one
    const isThere = seen.has(one.id) || (await engine.task(one.id, { light: true })) !== null
    seen.add(one.id)
    return { id: one.id, outcome: isThere ? 'duplicate' : 'accepted' }
  })
}

async function submitted({ engine }: Context, read: readonly Read[]): Promise<Outcome[]> {
  const results = await engine.submit(read.filter(isSpec))
  let at = 0
  return read.map((one): Outcome => {
    if (!isSpec(one)) return one
    const result = results[at++]
    if (result === undefined || result.outcome !== 'conflict')
      return { id: one.id, outcome: result?.outcome ?? 'refused' }
    return {
      id: one.id,
      outcome: 'conflict',
      differs: [...result.differs],
      problem: `Task '${result.id}' stands in its way.`,
    }
  })
}
