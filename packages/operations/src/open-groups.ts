// The report of what waits for a person (B14): failure groups that are open or taken on, by owner and age. Counted over all groups,
// in turns; the oldest are listed.

import { casesOf, type FailureGroup, type GroupCase, type Page, type PolicyBook, turnsOf } from '@reprise/core'
import { z } from 'zod'
import { type Context, refuseUnlessOn } from './context.ts'
import { familiesIn, foldedPage, ownerOfGroup } from './group-views.ts'
import { operation } from './operation.ts'
import { Moment } from './schemas/names.ts'

const GROUPS_MAX = 10_000
const STEP = 100
const LISTED_MAX = 200
const DAY_MS = 86_400_000
/** Up to a day, three, a week, and older. */
const AGES_MS = [DAY_MS, 3 * DAY_MS, 7 * DAY_MS] as const

const Ages = z
  .array(z.int())
  .length(AGES_MS.length + 1)
  .meta({ description: 'How many groups are open for less than a day, three days, a week, and longer.' })

const OpenGroupsView = z
  .object({
    owners: z.array(
      z.object({
        owner: z.string().nullable().meta({ description: 'Null for what nobody is responsible for.' }),
        groups: z.int(),
        deadLetters: z.int(),
        oldestSince: Moment,
        ages: Ages,
      }),
    ),
    groups: z
      .array(
        z.object({
          fingerprint: z.string(),
          action: z.string(),
          code: z.string(),
          owner: z.string().nullable(),
          status: z.enum(['open', 'acknowledged']),
          since: Moment.meta({ description: 'Since when it is open.' }),
          deadLetters: z.int(),
          remindedAt: Moment.nullable().meta({ description: 'When somebody was last reminded of it.' }),
        }),
      )
      .meta({ description: `The oldest first, at most ${LISTED_MAX}.` }),
    isWhole: z
      .boolean()
      .meta({ description: `False if there are more than ${GROUPS_MAX} groups: the rest is not in it.` }),
  })
  .meta({ id: 'OpenGroups' })

type OpenGroup = z.output<typeof OpenGroupsView>['groups'][number]

export const openGroupOperations = {
  reportOpenGroups: operation({
    route: 'GET /api/v1/reports/open-groups',
    summary: 'What waits for a person, by owner and age',
    description:
      'Failure groups that are open or taken on and still have dead letters. The owner is who took the group on, or the one that the policies name.',
    tag: 'tasks',
    right: 'read',
    tenants: 'all',
    input: z.object({}),
    output: OpenGroupsView,
    answer: 'Sums by owner, those with the oldest group first, and the oldest groups.',
    run: async (context) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      await context.policies.look()
      const { groups, isWhole } = await openGroups(context)
      groups.sort((one, other) => one.since - other.since)
      const now = await context.engine.now()
      return { owners: sums(groups, now), groups: groups.slice(0, LISTED_MAX), isWhole }
    },
  }),
}

async function openGroups(
  context: Pick<Context, 'engine' | 'clock' | 'policies'>,
): Promise<{ readonly groups: OpenGroup[]; readonly isWhole: boolean }> {
  const { engine, clock } = context
  const book = context.policies.current()
  const families = await familiesIn(engine)
  const turns = turnsOf(clock)
  const found: OpenGroup[] = []
  let cursor: string | null = null
  let looked = 0
  do {
    if (turns.isSpent) await turns.wait()
    const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const read: Page<FailureGroup> = await engine.failureGroups({ limit: STEP, ...from })
    const page = await foldedPage(engine, read, families)
    const cases = await casesOf(
      engine,
      page.items.map(({ fingerprint }) => fingerprint),
    )
    for (const group of page.items) {
      const one = openGroup(group, cases.get(group.fingerprint), book)
      if (one !== null) found.push(one)
    }
    looked += read.items.length
    cursor = page.next
  } while (cursor !== null && looked < GROUPS_MAX)
  return { groups: found, isWhole: cursor === null }
}

/** Null if nobody is to do anything about it. */
function openGroup(group: FailureGroup, one: GroupCase | undefined, book: PolicyBook): OpenGroup | null {
  const status = one?.state.status ?? 'open'
  if (status !== 'open' && status !== 'acknowledged') return null
  const { fingerprint, action, sample, firstAt, count } = group
  return {
    fingerprint,
    action,
    code: sample.code,
    owner: ownerOfGroup(group, one, book),
    status,
    since: one?.openedAt ?? firstAt,
    deadLetters: count,
    remindedAt: one?.reminded?.at ?? null,
  }
}

function sums(groups: readonly OpenGroup[], now: number): z.output<typeof OpenGroupsView>['owners'] {
  const byOwner = new Map<string | null, OpenGroup[]>()
  for (const group of groups) byOwner.set(group.owner, [...(byOwner.get(group.owner) ?? []), group])
  return [...byOwner].map(([owner, its]) => ({
    owner,
    groups: its.length,
    deadLetters: its.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    oldestSince: Math.min(...its.map(({ since }) => since)),
    ages: agesOf(its, now),
  }))
}

function agesOf(groups: readonly OpenGroup[], now: number): number[] {
  const ages = [...AGES_MS.map(() => 0), 0]
  for (const { since } of groups) {
    const at = AGES_MS.findIndex((ms) => now - since < ms)
    const place = at === -1 ? AGES_MS.length : at
    ages[place] = (ages[place] ?? 0) + 1
  }
  return ages
}
