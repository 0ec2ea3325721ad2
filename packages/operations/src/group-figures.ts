// One failure group with everything that is known about it: its case, its trend, who and what it hits, how long the oldest waits,
// a few chains of attempts. Figures that need a look at dead letters come from the newest of them, and say how many those are.

import {
  casesOf,
  countedBy,
  countTasks,
  type Engine,
  type Fingerprint,
  type GroupCase,
  mapLimited,
  NotFoundError,
  parseQuery,
  type Task,
} from '@reprise/core'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import { AttemptInChain, chainOf } from './attempt-chain.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { lookOf } from './found.ts'
import {
  besideGroups,
  CaseView,
  caseView,
  type Families,
  familiesIn,
  familyGroup,
  TrendView,
  trendOf,
  withCase,
} from './group-views.ts'
import { notesOnGroups, withNotes } from './notes.ts'
import { operation } from './operation.ts'
import { ownGroupOf, ownLettersOf } from './own-groups.ts'
import { Moment, NameInput } from './schemas/names.ts'
import { FailureGroupView } from './schemas/operations.ts'
import { FailureView } from './schemas/task.ts'
import { failureGroupView } from './views.ts'

const SAMPLE = 200
const VALUES_MAX = 10
const CHAINS = 3
const PARTS_MAX = 20

const ValueCounts = z.array(z.object({ value: z.string().nullable(), count: z.int() }))

const GroupFigures = FailureGroupView.extend(withNotes)
  .extend(withCase)
  .extend({
    lastTask: z.string().nullable(),
    sample: FailureView.nullable().meta({ description: 'The newest failure; null once all dead letters are gone.' }),
    trend: TrendView,
    sampled: z.int().meta({ description: 'How many dead letters, the newest ones, the following figures are of.' }),
    tenants: ValueCounts,
    versions: ValueCounts,
    hosts: ValueCounts,
    workers: ValueCounts,
    pools: ValueCounts,
    attemptsPerTask: z.number().nullable(),
    oldest: z.object({ task: z.string(), at: Moment, isExact: z.boolean() }).nullable().meta({
      description: 'The dead letter that waits longest; of those that were looked at, if `isExact` is false.',
    }),
    chains: z.array(z.object({ task: z.string(), tenant: z.string(), attempts: z.array(AttemptInChain) })),
    parts: z
      .array(z.object({ value: z.string().nullable(), count: z.int(), q: z.string() }))
      .optional()
      .meta({ description: 'If the group is split by a field: its parts, and the query that finds each.' }),
    partsCounted: z.int().optional().meta({
      description: 'How many dead letters the parts were counted from; fewer than `count` if there are very many.',
    }),
    merged: z.array(CaseView.extend({ fingerprint: z.string() })).optional(),
  })
  .meta({ id: 'FailureGroupFigures' })

export const groupFigureOperations = {
  getFailureGroup: operation({
    route: 'GET /api/v1/failure-groups/{fingerprint}',
    summary: 'One failure group with its figures',
    description:
      'For a caller limited to tenants, of the own dead letters alone: without its case, its trend, and everything about workers.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: z.object({ fingerprint: NameInput }),
    output: GroupFigures,
    answer: 'The group. If it was merged into another, that one.',
    problems: [404],
    run: async (context, caller, { fingerprint }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      if (caller.tenants !== null) return ownFigures(context, caller, fingerprint)
      const { engine, redaction } = context
      const families = await familiesIn(engine)
      const root = families.rootOf(fingerprint)
      const group = await familyGroup(engine, root, families)
      if (group === null) return withoutDead(context, root)
      const names = [root, ...families.membersOf(root)]
      const [beside, cases, notes, tasks] = await Promise.all([
        besideGroups(context, [group], families),
        casesOf(engine, names),
        notesOnGroups(context),
        newestOf(engine, names),
      ])
      return {
        ...failureGroupView(group, redaction),
        notes: notes.get(root) ?? [],
        ...beside(root),
        trend: trendOf([...cases.values()]),
        ...figuresOf(tasks, group.count),
        chains: await mapLimited(tasks.slice(0, CHAINS), CHAINS, (task) => chainOf(context, task)),
        ...(await partsOf(context, caller, cases.get(root), names)),
        ...mergedOf(root, families, cases),
      }
    },
  }),
}

async function ownFigures(
  context: Context,
  caller: Caller,
  fingerprint: string,
): Promise<z.output<typeof GroupFigures>> {
  const letters = await ownLettersOf(context, caller, fingerprint)
  const figures = figuresOf(letters.tasks, letters.isExact ? letters.count : Number.POSITIVE_INFINITY)
  return { ...figures, ...ownGroupOf(context, caller, fingerprint, letters) }
}

/** A case whose dead letters are gone: redriven, or discarded. */
async function withoutDead(context: Context, fingerprint: string): Promise<z.output<typeof GroupFigures>> {
  const known = (await casesOf(context.engine, [fingerprint])).get(fingerprint)
  if (known === undefined) throw new NotFoundError('failure group', fingerprint)
  const { action, firstAt, lastAt } = known
  return {
    fingerprint,
    action,
    count: 0,
    firstAt,
    lastAt,
    lastTask: null,
    sample: null,
    notes: (await notesOnGroups(context)).get(fingerprint) ?? [],
    case: caseView(known),
    trend: trendOf([known]),
    ...figuresOf([], 0),
    chains: [],
  }
}

/** The newest dead letters of a group, as many from each of its members. */
async function newestOf(
  engine: Pick<Engine, 'tasks'>,
  fingerprints: readonly string[],
  sample = SAMPLE,
): Promise<readonly Task[]> {
  const limit = Math.max(1, Math.floor(sample / fingerprints.length))
  const pages = await mapLimited(fingerprints, 4, (one) =>
    engine.tasks({ fingerprint: one as Fingerprint, limit, light: true }),
  )
  return pages.flatMap(({ items }) => items)
}

type Counted = { value: string | null; count: number }[]

function valuesOf(tasks: readonly Task[], of: (task: Task) => string | null): Counted {
  const counts = new Map<string | null, number>()
  for (const task of tasks) counts.set(of(task), (counts.get(of(task)) ?? 0) + 1)
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => other.count - one.count)
    .slice(0, VALUES_MAX)
}

function figuresOf(tasks: readonly Task[], count: number) {
  const diedAt = ({ state }: Task): number => (state.status === 'dead' ? state.at : Number.POSITIVE_INFINITY)
  const [oldest] = tasks.toSorted((one, other) => diedAt(one) - diedAt(other))
  const attempts = tasks.reduce((sum, { attempt }) => sum + attempt, 0)
  return {
    sampled: tasks.length,
    tenants: valuesOf(tasks, ({ tenant }) => tenant),
    versions: valuesOf(tasks, ({ lastWorker }) => lastWorker?.version ?? null),
    hosts: valuesOf(tasks, ({ lastWorker }) => lastWorker?.host ?? null),
    workers: valuesOf(tasks, ({ lastWorker }) => lastWorker?.worker ?? null),
    pools: valuesOf(tasks, ({ pool }) => pool),
    attemptsPerTask: tasks.length === 0 ? null : attempts / tasks.length,
    oldest: oldest === undefined ? null : { task: oldest.id, at: diedAt(oldest), isExact: tasks.length >= count },
  }
}

/** Values may have any characters: in a query they stand in quotes. */
const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&')}"`

async function partsOf(
  context: Context,
  caller: Caller,
  one: GroupCase | undefined,
  names: readonly string[],
): Promise<{ parts?: { value: string | null; count: number; q: string }[]; partsCounted?: number }> {
  const field = one?.splitBy ?? null
  if (field === null) return {}
  const base = `status:dead fingerprint:${names.join(',')}`
  const found = await context.searches.run(caller, () =>
    countTasks(context.engine, parseQuery(base), { ...lookOf(context, caller), by: countedBy(field) }),
  )
  const parts = found.values.slice(0, PARTS_MAX).map(({ value, count }) => ({
    value,
    count,
    q: value === null ? `${base} -${field}:*` : `${base} ${field}:${quoted(value)}`,
  }))
  return { parts, partsCounted: found.count }
}

function mergedOf(root: string, families: Families, cases: ReadonlyMap<string, GroupCase>) {
  const members = families.membersOf(root).flatMap((member) => cases.get(member) ?? [])
  return members.length === 0 ? {} : { merged: members.map((one) => ({ fingerprint: one.id, ...caseView(one) })) }
}
