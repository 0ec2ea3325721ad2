// Why? What is different about the failures of a group, held against successes of the same action from around the same time; what
// changed just before they began; and one failed attempt beside the last good one. A caller who is limited to tenants compares the
// own tasks, and learns nothing about others or about workers.

import { casesOf, differencesOf, type Engine, featuresOf, NotFoundError, type Task } from '@reprise/core'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import { visibleTask } from './access/own-tasks.ts'
import { seenFacts, successesFrom, timingOf } from './attempt-samples.ts'
import { comparisonOf } from './comparison.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { familiesFor, familyGroup } from './group-views.ts'
import { operation } from './operation.ts'
import { Moment, NameInput, TaskIdInput } from './schemas/names.ts'
import { ChangeView, changesBefore } from './what-changed.ts'

const SampleView = z.object({
  failures: z.int(),
  successes: z.int(),
  successesFrom: Moment.nullable().meta({ description: 'When the first of them was accepted.' }),
  successesTo: Moment.nullable(),
  deadLetters: z
    .int()
    .nullable()
    .meta({ description: 'How many the group has; null for a caller limited to tenants.' }),
})

const ContrastView = z
  .object({
    feature: z.string(),
    test: z.looseObject({ kind: z.enum(['is', 'missing', 'present', 'atLeast', 'atMost']) }),
    failures: z.int(),
    failuresOf: z.int(),
    successes: z.int(),
    successesOf: z.int(),
    bits: z.number().meta({ description: 'How much it tells: 1 for everything, 0 for nothing.' }),
    sentence: z.string(),
  })
  .meta({ id: 'Contrast' })

const CauseView = z
  .object({
    fingerprint: z.string(),
    action: z.string(),
    beganAt: Moment,
    summary: z.string(),
    sample: SampleView,
    contrasts: z
      .array(ContrastView)
      .meta({ description: 'What stands out, the strongest first; none if nothing does.' }),
    changes: z.array(ChangeView).meta({ description: 'What changed in the half hour before it began.' }),
    isComplete: z.boolean().meta({ description: 'False if there was too much to find all changes.' }),
  })
  .meta({ id: 'Cause' })

const Difference = z.union([z.string(), z.number()]).nullable()

const DiffView = z
  .object({
    failed: z.object({ task: z.string(), attempt: z.int(), at: Moment }),
    good: z.object({ task: z.string(), attempt: z.int(), at: Moment }).nullable(),
    differences: z.array(z.object({ feature: z.string(), failed: Difference, good: Difference })),
    summary: z.string(),
  })
  .meta({ id: 'AttemptDiff' })

const GOOD_LOOKED_AT = 100

export const groupCauseOperations = {
  explainFailureGroup: operation({
    route: 'GET /api/v1/failure-groups/{fingerprint}/cause',
    summary: 'What is different about the failures',
    description:
      'Compares attempts of the group with successes of the same action from around the same time: worker version, host, worker, tenant, labels, payload fields, attempt, time of day, duration. Samples are bounded, and their sizes are told.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: z.object({ fingerprint: NameInput }),
    output: CauseView,
    answer: 'The contrasts, the strongest first, and what changed before.',
    problems: [404],
    run: async (context, caller, { fingerprint }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      return context.searches.run(caller, () => causeOf(context, caller, fingerprint))
    },
  }),
  diffAttempt: operation({
    route: 'GET /api/v1/tasks/{id}/diff',
    summary: 'A failed attempt beside the last good one',
    description: 'The last success of the same action and tenant before it, or the next one after it if there is none.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: z.object({ id: TaskIdInput }),
    output: DiffView,
    answer: 'What they differ in.',
    problems: [404],
    run: (context, caller, { id }) => context.searches.run(caller, () => diffOf(context, caller, id)),
  }),
}

async function causeOf(context: Context, caller: Caller, asked: string): Promise<z.output<typeof CauseView>> {
  const { engine } = context
  const families = await familiesFor(engine, caller)
  const root = families.rootOf(asked)
  const names = [root, ...families.membersOf(root)]
  const [compared, group, cases] = await Promise.all([
    comparisonOf(context, caller, names),
    caller.tenants === null ? familyGroup(engine, root, families) : null,
    casesOf(engine, names),
  ])
  if (compared === null) throw new NotFoundError('failure group', asked)
  const { action, failures, successes, contrasts, summary } = compared
  const seenFrom = Math.min(...failures.map(diedAt))
  const began = caller.tenants === null ? [...cases.values()].map(({ firstAt }) => firstAt) : []
  const beganAt = Math.min(seenFrom, ...began, ...(group === null ? [] : [group.firstAt]))
  const accepted = successes.map(({ acceptedAt }) => acceptedAt)
  return {
    fingerprint: root,
    action,
    beganAt,
    summary,
    sample: {
      failures: failures.length,
      successes: successes.length,
      successesFrom: accepted.length === 0 ? null : Math.min(...accepted),
      successesTo: accepted.length === 0 ? null : Math.max(...accepted),
      deadLetters: group?.count ?? null,
    },
    contrasts: contrasts.map((one) => ({ ...one, test: { ...one.test } })),
    ...(await changesBefore(context, caller, beganAt)),
  }
}

const diedAt = ({ state, acceptedAt }: Task): number => (state.status === 'dead' ? state.at : acceptedAt)

async function diffOf(context: Context, caller: Caller, id: Task['id']): Promise<z.output<typeof DiffView>> {
  const { engine } = context
  const task = await visibleTask(engine, caller, id)
  const failed = await lastFailed(engine, task)
  const good = await lastGood(engine, task, failed.at)
  const of = async (one: Task, attempt: number) =>
    featuresOf(await seenFacts(context, caller, { ...one, attempt }, await timingOf(engine, { ...one, attempt })))
  const about = { task: task.id, attempt: failed.attempt, at: failed.at }
  if (good === null) {
    const summary = `No success of ${task.action} was found to compare with.`
    return { failed: about, good: null, differences: [], summary }
  }
  const worker = caller.tenants === null ? failed.worker : null
  const differences = differencesOf(
    await of({ ...task, lastWorker: worker }, failed.attempt),
    await of(good, good.attempt),
  )
  const at = endedAt(good)
  return {
    failed: about,
    good: { task: good.id, attempt: good.attempt, at },
    differences: differences.map((one) => ({ ...one })),
    summary: `${differences.length} differences to ${good.id}, a success of ${task.action} from ${new Date(at).toISOString()}.`,
  }
}

async function lastFailed(engine: Engine, task: Task) {
  for (let attempt = task.attempt; attempt > 0; attempt--) {
    const one = await engine.execution(task.id, attempt)
    if (one === null || (one.status !== 'failed' && one.status !== 'lost')) continue
    const { worker, build, resolvedAt: at } = one
    const { version = null, host = null } = build ?? {}
    return { attempt, at, worker: worker === null ? null : { worker, version, host } }
  }
  throw new NotFoundError('failed attempt of task', task.id)
}

const endedAt = ({ state, acceptedAt }: Task): number => (state.status === 'succeeded' ? state.at : acceptedAt)

/** The latest before this moment; the first after it if there is none. Of the same tenant. */
async function lastGood(engine: Engine, { action, tenant, state }: Task, at: number): Promise<Task | null> {
  const query = { action, tenant, status: 'succeeded', light: true } as const
  const fingerprint = state.status === 'dead' ? state.failure.fingerprint : null
  const place = fingerprint === null ? null : (await engine.tasks({ fingerprint, tenant, limit: 1, light: true })).next
  const near = await successesFrom(engine, query, place, GOOD_LOOKED_AT)
  const found = near.length === 0 ? await successesFrom(engine, query, null, GOOD_LOOKED_AT) : near
  const before = found.filter((one) => endedAt(one) <= at).sort((one, other) => endedAt(other) - endedAt(one))
  const after = found.filter((one) => endedAt(one) > at).sort((one, other) => endedAt(one) - endedAt(other))
  const chosen = before[0] ?? after[0]
  return chosen === undefined ? null : engine.task(chosen.id)
}
