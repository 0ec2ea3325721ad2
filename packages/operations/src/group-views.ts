// Failure groups with what people have done about them: the case beside each group, and groups that operators merged as one.
// Merging is a rule about fingerprints. It moves no dead letters, so it holds for those that are yet to come.

import {
  type CaseStatus,
  type Clock,
  type Collection,
  casesIn,
  casesOf,
  type Engine,
  type FailureGroup,
  type Fingerprint,
  type GroupCase,
  ownershipOf,
  type Page,
  type PolicyBook,
  type Task,
  turnsOf,
} from '@reprise/core'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { Moment } from './schemas/names.ts'

const CaseStateView = z
  .looseObject({
    status: z.enum(['open', 'acknowledged', 'resolved', 'ignored']),
    since: Moment,
    because: z.enum(['new', 'regression', 'time', 'count', 'operator']).optional(),
    by: z.string().optional(),
    version: z.string().nullable().optional(),
    until: Moment.nullable().optional(),
    untilDeaths: z.int().nullable().optional(),
  })
  .meta({ id: 'CaseState' })

export const CaseView = z
  .object({
    state: CaseStateView,
    owner: z.string().nullable(),
    deaths: z.int().meta({ description: 'Tasks that ever died of it, as often as they did.' }),
    recovered: z.int().optional().meta({ description: 'Tasks that died of it and have recovered.' }),
    attempts: z.int().meta({ description: 'Attempts that ended by it.' }),
    firstAt: Moment.meta({ description: 'When the first attempt ended by it.' }),
    lastAt: Moment,
    firstVersion: z
      .string()
      .optional()
      .meta({ description: 'The version of the worker whose attempt was the first to end by it, if it named one.' }),
    regressions: z.int().meta({ description: 'How often it came back after it was resolved.' }),
    splitBy: z.string().nullable(),
  })
  .meta({ id: 'FailureCase', description: 'What people have done about a failure group.' })

export const TrendView = z
  .array(z.object({ at: Moment, attempts: z.int(), deaths: z.int() }))
  .meta({ description: 'The last minutes with attempts that ended by it, oldest first.' })

/** Beside a group. Missing where nothing is known about it yet: then it is open. */
export const withCase = {
  case: CaseView.optional(),
  owner: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'Who took it on, or else the owner that the policies name; null for nobody.' }),
  trend: TrendView.optional(),
  members: z
    .array(z.string())
    .optional()
    .meta({ description: 'The fingerprints that were merged into this one. Their dead letters are counted here.' }),
}

/** Of merged fingerprints, as many are kept in mind. */
const MERGED_MAX = 1_000
/** Of those in a state other than open, as many. */
const IN_STATE_MAX = 10_000
const PAGE = 100

/** Groups that were merged: which belongs to which. */
export interface Families {
  /** The group that a fingerprint belongs to: its own if it was not merged. */
  rootOf(fingerprint: string): string
  /** What was merged into it. */
  membersOf(root: string): readonly string[]
}

export async function familiesIn(engine: Pick<Engine, 'collection'>): Promise<Families> {
  const roots = new Map<string, string>()
  const members = new Map<string, string[]>()
  const { items } = await casesIn(engine).find({ index: 'merged', value: 'yes', limit: MERGED_MAX })
  for (const { document } of items) {
    if (document.mergedInto === null) continue
    roots.set(document.id, document.mergedInto)
    members.set(document.mergedInto, [...(members.get(document.mergedInto) ?? []), document.id])
  }
  return {
    rootOf: (fingerprint) => roots.get(fingerprint) ?? fingerprint,
    membersOf: (root) => members.get(root) ?? [],
  }
}

/** Nothing is merged for callers who are limited to tenants: what belongs together is said about all tenants. */
export const NO_FAMILIES: Families = { rootOf: (fingerprint) => fingerprint, membersOf: () => [] }

export const familiesFor = async (
  engine: Pick<Engine, 'collection'>,
  { tenants }: Pick<Caller, 'tenants'>,
): Promise<Families> => (tenants === null ? familiesIn(engine) : NO_FAMILIES)

/** All fingerprints of the group that this one belongs to: itself alone if nothing was merged. Undefined if none is named. */
export async function familyOf(
  engine: Pick<Engine, 'collection'>,
  caller: Pick<Caller, 'tenants'>,
  fingerprint: string | undefined,
): Promise<readonly string[] | undefined> {
  if (fingerprint === undefined) return undefined
  const families = await familiesFor(engine, caller)
  const root = families.rootOf(fingerprint)
  return [root, ...families.membersOf(root)]
}

export async function groupOf(
  engine: Pick<Engine, 'failureGroups'>,
  fingerprint: string,
): Promise<FailureGroup | null> {
  const { items } = await engine.failureGroups({ fingerprint: fingerprint as Fingerprint, limit: 1 })
  return items[0] ?? null
}

/** All of a family as one group, with the latest failure as its sample; null if it has no dead letters. */
function asOne(root: string, groups: readonly FailureGroup[]): FailureGroup | null {
  const [latest] = groups.toSorted((one, other) => other.lastAt - one.lastAt)
  if (latest === undefined) return null
  return {
    ...latest,
    fingerprint: root as Fingerprint,
    count: groups.reduce((sum, { count }) => sum + count, 0),
    firstAt: Math.min(...groups.map(({ firstAt }) => firstAt)),
  }
}

export async function familyGroup(
  engine: Pick<Engine, 'failureGroups'>,
  root: string,
  families: Families,
): Promise<FailureGroup | null> {
  const all = await Promise.all([root, ...families.membersOf(root)].map((one) => groupOf(engine, one)))
  return asOne(
    root,
    all.filter((group) => group !== null),
  )
}

/** A page on which each family stands once: where the latest of its groups does. */
export async function foldedPage(
  engine: Pick<Engine, 'failureGroups'>,
  { items, next }: Page<FailureGroup>,
  families: Families,
): Promise<Page<FailureGroup>> {
  const folded: FailureGroup[] = []
  for (const group of items) {
    const root = families.rootOf(group.fingerprint)
    if (families.membersOf(root).length === 0) {
      folded.push(group)
      continue
    }
    const family = await familyGroup(engine, root, families)
    if (family !== null && family.lastTask === group.lastTask) folded.push(family)
  }
  return { items: folded, next }
}

/** Those of the groups that are in a state, in their order. */
export type Choose = <G extends Pick<FailureGroup, 'fingerprint'>>(groups: readonly G[]) => Promise<readonly G[]>

/**
 * Chooses groups by their state. Nearly all are open, so each is looked at; of those in another state there are few, which are
 * found by it.
 */
export async function choiceOf(
  { engine, clock }: Pick<Context, 'engine' | 'clock'>,
  state: CaseStatus | undefined,
): Promise<Choose> {
  if (state === undefined) return async (groups) => groups
  if (state === 'open') {
    return async (groups) => {
      const names = groups.map(({ fingerprint }) => fingerprint)
      const cases = await casesOf(engine, names)
      return groups.filter(({ fingerprint }) => (cases.get(fingerprint)?.state.status ?? 'open') === 'open')
    }
  }
  const found = await inState(engine, clock, state)
  return async (groups) => groups.filter(({ fingerprint }) => found.has(fingerprint))
}

async function inState(
  engine: Pick<Engine, 'collection'>,
  clock: Clock,
  state: CaseStatus,
): Promise<ReadonlySet<string>> {
  const cases: Collection<GroupCase> = casesIn(engine)
  const turns = turnsOf(clock)
  const found = new Set<string>()
  let cursor: string | undefined
  do {
    if (turns.isSpent) await turns.wait()
    const page = await cases.find({ index: 'status', value: state, limit: PAGE, ...given({ cursor }) })
    for (const { document } of page.items) found.add(document.id)
    cursor = page.next ?? undefined
  } while (cursor !== undefined && found.size < IN_STATE_MAX)
  return found
}

export function caseView({
  state,
  owner,
  deaths,
  recovered = 0,
  attempts,
  firstAt,
  lastAt,
  firstVersion,
  regressions,
  splitBy,
}: GroupCase): z.output<typeof CaseView> {
  const begun = given({ firstVersion })
  return { state: { ...state }, owner, deaths, recovered, attempts, firstAt, lastAt, ...begun, regressions, splitBy }
}

/** The owner of a dead letter, as a field beside it. Policies and cases are for callers who may see all tenants. */
export async function ownerBeside(
  { engine, policies }: Pick<Context, 'engine' | 'policies'>,
  caller: Pick<Caller, 'tenants'>,
  { action, tenant, state }: Pick<Task, 'action' | 'tenant' | 'state'>,
): Promise<{ readonly owner?: string | null }> {
  if (state.status !== 'dead' || caller.tenants !== null) return {}
  const { fingerprint, code } = state.failure
  const one = (await casesOf(engine, [fingerprint])).get(fingerprint)
  return { owner: one?.owner ?? ownershipOf(policies.current(), { action, tenant, code }).owner }
}

/** Who took it on; else the owner that the policies name. */
export const ownerOfGroup = (
  { action, sample }: Pick<FailureGroup, 'action' | 'sample'>,
  one: GroupCase | undefined,
  book: PolicyBook,
): string | null => one?.owner ?? ownershipOf(book, { action, tenant: null, code: sample.code }).owner

/** What is known about these groups, as fields beside them. */
export async function besideGroups(
  { engine, policies }: Pick<Context, 'engine' | 'policies'>,
  groups: readonly FailureGroup[],
  families: Families,
): Promise<(fingerprint: string) => z.output<z.ZodObject<typeof withCase>>> {
  const names = groups.flatMap(({ fingerprint }) => [fingerprint, ...families.membersOf(fingerprint)])
  const known = await casesOf(engine, names)
  const book = policies.current()
  const owners = new Map(
    groups.map((group) => [group.fingerprint as string, ownerOfGroup(group, known.get(group.fingerprint), book)]),
  )
  return (fingerprint) => {
    const members = families.membersOf(fingerprint)
    const one = known.get(fingerprint)
    const all = [one, ...members.map((member) => known.get(member))].filter((each) => each !== undefined)
    const shown = one ?? all[0]
    return {
      owner: owners.get(fingerprint) ?? null,
      ...(shown === undefined ? {} : { case: { ...caseView(shown), ...summed(all) }, trend: trendOf(all) }),
      ...(members.length === 0 ? {} : { members: [...members] }),
    }
  }
}

/** The minutes of all of them together. */
export function trendOf(cases: readonly GroupCase[]): z.output<typeof TrendView> {
  const sums = new Map<number, { at: number; attempts: number; deaths: number }>()
  for (const { at, attempts, deaths } of cases.flatMap(({ minutes }) => minutes)) {
    const sum = sums.get(at) ?? { at, attempts: 0, deaths: 0 }
    sums.set(at, { at, attempts: sum.attempts + attempts, deaths: sum.deaths + deaths })
  }
  return [...sums.values()].sort((one, other) => one.at - other.at)
}

function summed(
  all: readonly GroupCase[],
): Pick<GroupCase, 'deaths' | 'recovered' | 'attempts' | 'firstAt' | 'lastAt'> {
  return {
    deaths: all.reduce((sum, { deaths }) => sum + deaths, 0),
    recovered: all.reduce((sum, { recovered = 0 }) => sum + recovered, 0),
    attempts: all.reduce((sum, { attempts }) => sum + attempts, 0),
    firstAt: Math.min(...all.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...all.map(({ lastAt }) => lastAt)),
  }
}
