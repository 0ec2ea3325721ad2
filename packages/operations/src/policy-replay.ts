// The dry run of policies on what really happened: recorded failures of a period, under a draft and under the version in force,
// side by side. The journal says which tasks failed and which recovered; the records of a bounded number of them are read, and
// judged in turns with other work.

import { BAD_ENDS, durationMs, type Execution, mapLimited, type TaskId, turnsOf } from '@reprise/core'
import {
  causeOf,
  Evidence,
  type Judges,
  policyNotes,
  type RecordedTask,
  type Replayed,
  replay,
} from '@reprise/policies'
import { z } from 'zod'
import type { Context } from './context.ts'
import { operation } from './operation.ts'
import { mayConfigure, readPolicies } from './policies.ts'
import { ActionNameInput, DurationInput, listOf, Milliseconds, Moment } from './schemas/names.ts'

const ENTRIES_MAX = 20_000
const PAGE = 500
/** Tasks whose records are read. */
const TASKS_MAX = 1_000
/** Their failures are read whole, each with its stack. */
const READ_AT_ONCE = 10
const ATTEMPTS_MAX = 50
const CAUSES_SHOWN = 20
const SINCE_DEFAULT = '1d'

const OutcomeView = z
  .object({
    recovered: z.int(),
    dead: z.int(),
    unknown: z.int().meta({ description: 'Nobody knows whether their next attempt would have succeeded.' }),
    retries: z.int().meta({ description: 'Attempts after the first failure, all together.' }),
    recoveredAfterMs: z
      .object({ median: Milliseconds, p95: Milliseconds })
      .nullable()
      .meta({ description: 'From the first failure to the success.' }),
  })
  .meta({ id: 'ReplayOutcome' })

const ReplayView = z
  .object({
    since: Moment,
    until: Moment,
    tasks: z.int().meta({ description: 'Tasks that failed in the period.' }),
    sampled: z.int().meta({ description: 'Of these, the newest, as many as are looked at.' }),
    isWhole: z.boolean().meta({ description: 'Whether the journal of the period was read to its end.' }),
    actual: OutcomeView.meta({ description: 'What became of them; unknown is what has not ended.' }),
    inForce: OutcomeView.meta({ description: 'Replayed under the version in force.' }),
    draft: OutcomeView.nullable().meta({ description: 'Replayed under the draft; null if none was given.' }),
    causes: listOf(
      z.object({
        fingerprint: z.string(),
        action: z.string(),
        code: z.string(),
        tasks: z.int(),
        inForce: OutcomeView,
        draft: OutcomeView.nullable(),
      }),
    ).meta({ description: `Those with the most tasks first, at most ${CAUSES_SHOWN}.` }),
    notes: listOf(z.string()),
  })
  .meta({ id: 'PolicyReplay' })

const ASSUMED =
  'An attempt at another time is taken to meet what the latest attempt of the same cause met before it. Breakers, quotas and busy workers are left out.'

export const policyReplayOperations = {
  replayPolicies: operation({
    route: 'POST /api/v1/policies/replay',
    summary: 'Try policies out on recorded failures',
    description:
      'Takes the tasks that failed in a period, and says what would have become of them: how many would have recovered, when, and at how many attempts. Under the version in force, and under a text of your own, which needs the scope `configure`.',
    tag: 'policies',
    right: 'read',
    tenants: 'all',
    input: z.object({
      text: z.string().max(200_000).optional().meta({ description: 'The draft.' }),
      since: DurationInput.optional().meta({ description: `How far back; ${SINCE_DEFAULT} if missing.` }),
      action: ActionNameInput.optional(),
    }),
    output: ReplayView,
    answer: 'The draft beside the version in force and beside what really happened.',
    repeatable: true,
    run: (context, caller, { text, since = SINCE_DEFAULT, action }) =>
      context.searches.run(caller, async () => {
        if (text !== undefined) mayConfigure(caller)
        const draft = text === undefined ? null : readPolicies(text)
        await context.policies.look()
        const inForce = context.policies.current()
        const until = await context.engine.now()
        const from = until - durationMs(since, 'since')
        const found = await failuresSince(context, from, action)
        const recorded = await recordsOf(context, found.tasks, from)
        const evidence = evidenceOf(recorded, found.recovered)
        const turns = turnsOf(context.clock)
        const rows: Row[] = []
        const judges: readonly [Judges, Judges] = [new Map(), new Map()]
        for (const one of recorded) {
          if (turns.isSpent) await turns.wait()
          const now = replay(inForce, one, evidence, judges[0])
          const then = draft === null ? null : replay(draft, one, evidence, judges[1])
          if (now !== null) rows.push({ one, actual: actualOf(one), inForce: now, draft: then })
        }
        return {
          since: from,
          until,
          tasks: found.count,
          sampled: rows.length,
          isWhole: found.isWhole,
          ...outcomesOf(rows, draft !== null),
          actual: summed(rows.map(({ actual }) => actual)),
          causes: causesOf(rows, draft !== null),
          notes: [ASSUMED, ...(draft === null ? [] : policyNotes(draft))],
        }
      }),
  }),
}

/** With whether the task was still on its way. */
type Recorded = RecordedTask & { readonly isLive: boolean }

interface Row {
  readonly one: Recorded
  readonly actual: Replayed
  readonly inForce: Replayed
  readonly draft: Replayed | null
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'dead', 'discarded', 'cancelled'])

interface Found {
  /** The newest, with the attempt that failed first in the period. */
  readonly tasks: ReadonlyMap<TaskId, number>
  readonly count: number
  /** When tasks recovered, by id. */
  readonly recovered: ReadonlyMap<TaskId, number>
  readonly isWhole: boolean
}

async function failuresSince({ engine, clock }: Context, from: number, action: string | undefined): Promise<Found> {
  const turns = turnsOf(clock)
  const failed = new Map<TaskId, number>()
  const recovered = new Map<TaskId, number>()
  let cursor = await engine.journal.from(from)
  let isWhole = false
  for (let read = 0; read < ENTRIES_MAX && !isWhole; ) {
    const page = await engine.journal.read({ cursor, limit: PAGE })
    for (const { type, taskId, attempt, at, data } of page.entries) {
      if (turns.isSpent) await turns.wait()
      if (taskId === null || attempt === null || at < from) continue
      if (action !== undefined && data.action !== action) continue
      if (BAD_ENDS.has(type) && !failed.has(taskId)) failed.set(taskId, attempt)
      if (type === 'task.recovered') recovered.set(taskId, at)
    }
    read += page.entries.length
    cursor = page.cursor
    isWhole = page.entries.length < PAGE
  }
  return { tasks: new Map([...failed].slice(-TASKS_MAX)), count: failed.size, recovered, isWhole }
}

/** The records of these tasks, of the generation that failed. Those that are gone by now are left out. */
async function recordsOf(
  { engine, clock }: Context,
  tasks: ReadonlyMap<TaskId, number>,
  from: number,
): Promise<readonly Recorded[]> {
  const turns = turnsOf(clock)
  const found = await mapLimited([...tasks], READ_AT_ONCE, async ([id, firstAttempt]) => {
    if (turns.isSpent) await turns.wait()
    const [task, { items }] = await Promise.all([
      engine.task(id, { light: true }),
      engine.executions(id, { limit: ATTEMPTS_MAX }),
    ])
    if (task === null) return null
    const first = items.find(({ attempt, resolvedAt }) => attempt === firstAttempt && (resolvedAt ?? 0) >= from)
    if (first === undefined || first.failure === null) return null
    const later = items.filter(({ attempt, generation }) => attempt >= firstAttempt && generation === first.generation)
    const isLive = !ENDED.has(task.state.status) && task.generation === first.generation
    // The rest of a failure is long, and says nothing to a policy.
    return { task, failure: { ...first.failure, stack: null, details: null }, attempts: later.map(recordedOf), isLive }
  })
  return found.filter((one) => one !== null)
}

const recordedOf = ({ generation, status, dispatchedAt, resolvedAt, failure }: Execution) => ({
  generation,
  status,
  dispatchedAt,
  resolvedAt,
  fingerprint: failure?.fingerprint ?? null,
})

function evidenceOf(recorded: readonly RecordedTask[], recovered: ReadonlyMap<TaskId, number>): Evidence {
  const evidence = new Evidence()
  for (const { task, attempts } of recorded) {
    let cause: string | null = null
    for (const { status, fingerprint, dispatchedAt } of attempts) {
      if (fingerprint !== null) cause = causeOf(task.action, fingerprint)
      if (cause !== null && status !== 'running') evidence.add(cause, dispatchedAt, status === 'succeeded')
    }
    // After a redrive, in a later generation.
    const at = recovered.get(task.id)
    if (cause !== null && at !== undefined) evidence.add(cause, at, true)
  }
  return evidence.sort()
}

function actualOf({ attempts, isLive }: Recorded): Replayed {
  const [first] = attempts
  const last = attempts.at(-1)
  const retries = attempts.length - 1
  if (last?.status === 'succeeded' && last.resolvedAt !== null) {
    return { end: 'recovered', retries, recoveredAfterMs: last.resolvedAt - (first?.resolvedAt ?? 0) }
  }
  return { end: isLive ? 'unknown' : 'dead', retries, recoveredAfterMs: null }
}

function outcomesOf(rows: readonly Row[], hasDraft: boolean) {
  return {
    inForce: summed(rows.map(({ inForce }) => inForce)),
    draft: hasDraft ? summed(rows.flatMap(({ draft }) => draft ?? [])) : null,
  }
}

function causesOf(rows: readonly Row[], hasDraft: boolean) {
  const byCause = new Map<string, Row[]>()
  for (const row of rows) {
    const cause = causeOf(row.one.task.action, row.one.failure.fingerprint)
    const its = byCause.get(cause)
    if (its === undefined) byCause.set(cause, [row])
    else its.push(row)
  }
  return [...byCause.values()]
    .sort((one, other) => other.length - one.length)
    .slice(0, CAUSES_SHOWN)
    .flatMap((its) => {
      const [first] = its
      if (first === undefined) return []
      const { fingerprint, code } = first.one.failure
      return [{ fingerprint, action: first.one.task.action, code, tasks: its.length, ...outcomesOf(its, hasDraft) }]
    })
}

function summed(all: readonly Replayed[]): z.output<typeof OutcomeView> {
  const count = (end: Replayed['end']): number => all.filter((one) => one.end === end).length
  const times = all.flatMap(({ recoveredAfterMs }) => recoveredAfterMs ?? []).sort((one, other) => one - other)
  const share = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
  return {
    recovered: count('recovered'),
    dead: count('dead'),
    unknown: count('unknown'),
    retries: all.reduce((sum, { retries }) => sum + retries, 0),
    recoveredAfterMs: times.length === 0 ? null : { median: share(0.5), p95: share(0.95) },
  }
}
