// Dead letters by their cause. All of them are read off groups that the store keeps; those that a query finds are looked through,
// a bounded number in one call. With each comes its case: what people have done about it. Who is limited to tenants sees groups of
// the own dead letters, without cases.

import {
  CASE_STATUSES,
  type CaseStatus,
  type Clock,
  type Engine,
  type FailureGroup,
  InvalidError,
  mapLimited,
  PAGE_LIMIT_DEFAULT,
  type Page,
  searchTasks,
  type Task,
  type TaskFilter,
  turnsOf,
} from '@reprise/core'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import { boundedPage } from './bounded-page.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { askedFilter, inStatus, lookOf } from './found.ts'
import { given } from './given.ts'
import { bySize, rankedGroups, type Sized } from './group-ranking.ts'
import {
  besideGroups,
  type Choose,
  choiceOf,
  type Families,
  familiesIn,
  familyGroup,
  foldedPage,
  NO_FAMILIES,
  withCase,
} from './group-views.ts'
import { notesOnGroups, withNotes } from './notes.ts'
import { operation, Written } from './operation.ts'
import { ownLetters } from './own-groups.ts'
import { ActionNameInput, PageQuery, pageOf, QueryInput } from './schemas/names.ts'
import { FailureGroupView } from './schemas/operations.ts'
import { failureGroupView } from './views.ts'

/** How many dead letters one call looks at for a query. */
const SCAN_MAX = 20_000
const LETTERS_AT_ONCE = 250
/** How many groups one call finds for a query. */
const FOUND_MAX = 200
/** How many pages of the store one call looks through for groups in a state. */
const PAGES_MAX = 20
const GROUPS_AT_ONCE = 20

export const failureGroupOperations = {
  listFailureGroups: operation({
    route: 'GET /api/v1/failure-groups',
    summary: 'List dead letters by cause',
    description:
      'With `q`, only of the dead letters that the query finds: a bounded number of them is looked through. While `next` is not null, ask again, and add what comes to the groups with the same action and fingerprint. For a caller limited to tenants it is the same without `q`: groups of the own dead letters, without what people did about them.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: PageQuery.extend({
      action: ActionNameInput.optional(),
      order: z
        .enum(['recent', 'count'])
        .optional()
        .meta({ description: 'The most recent first if missing; or those with the most dead letters.' }),
      q: QueryInput.shape.q,
      state: z
        .enum(CASE_STATUSES)
        .optional()
        .meta({ description: 'Only groups in this state. A page may then be short, or empty, though more follow.' }),
    }),
    output: pageOf(
      FailureGroupView.extend(withNotes).extend(withCase).meta({ id: 'NotedFailureGroup' }),
      'FailureGroupPage',
    ),
    answer: 'The most recent first, or the largest.',
    run: async (context, caller, { q, order = 'recent', action, state, limit = PAGE_LIMIT_DEFAULT, cursor }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      const { clock, redaction, engine } = context
      const isLimited = caller.tenants !== null
      const [notes, families, choose] = isLimited
        ? [new Map<string, never>(), NO_FAMILIES, withoutCases(state)]
        : await Promise.all([notesOnGroups(context), familiesIn(engine), choiceOf(context, state)])
      let beside: Beside = () => ({})
      const known = async (page: Page<FailureGroup>): Promise<Page<FailureGroup>> => {
        if (!isLimited) beside = await besideGroups(context, page.items, families)
        return page
      }
      const textOf = (group: FailureGroup): string =>
        JSON.stringify({
          ...failureGroupView(group, redaction),
          notes: notes.get(group.fingerprint) ?? [],
          ...beside(group.fingerprint),
        })
      const kept = keptGroups(q, action, caller)
      if ('filter' in kept) {
        const found = await foundGroups(context, caller, kept.filter, cursor, order, families)
        const page = await known({ ...found, items: await choose(found.items) })
        return new Written(await textInTurns(clock, page, textOf))
      }
      const source = { engine, clock, families, choose, action: kept.action }
      const read = async (some: number, from: string | undefined): Promise<Page<FailureGroup>> =>
        known(order === 'count' ? await largest(source, some, from) : await recent(source, some, from))
      const { items, next } = await boundedPage({ limit, cursor, clock, read, textOf })
      return new Written(`{"items":${items},"next":${JSON.stringify(next)}}`)
    },
  }),
}

/** Who is limited to tenants sees no cases: all is open. */
const withoutCases =
  (state: CaseStatus | undefined): Choose =>
  async (groups) =>
    state === undefined || state === 'open' ? groups : []

type Beside = Awaited<ReturnType<typeof besideGroups>>

interface Source {
  readonly engine: Engine
  readonly clock: Clock
  readonly families: Families
  readonly choose: Choose
  readonly action: FailureGroup['action'] | undefined
}

/** The most recent first. Where a state is asked for, a bounded number of groups is looked through. */
async function recent(
  { engine, families, choose, action }: Source,
  limit: number,
  from: string | undefined,
): Promise<Page<FailureGroup>> {
  let cursor = from
  for (let pages = 1; ; pages++) {
    const read = await engine.failureGroups({ limit, ...given({ action, cursor }) })
    const { items, next } = await foldedPage(engine, read, families)
    const wanted = await choose(items)
    if (wanted.length > 0 || next === null || pages === PAGES_MAX) return { items: wanted, next }
    cursor = next
  }
}

type Kept = { readonly action: FailureGroup['action'] | undefined } | { readonly filter: TaskFilter }

/** What the store's own groups tell: all, or those of an action. Anything else that a query says is looked for. */
function keptGroups(q: string | undefined, action: FailureGroup['action'] | undefined, caller: Caller): Kept {
  if (caller.tenants !== null && (q === undefined || action === undefined))
    return { filter: ownLetters(q, action, caller) }
  if (q === undefined) return { action }
  if (action !== undefined) throw new InvalidError('Name the action in the query: action:…')
  const { filter } = askedFilter(q, caller)
  const only = onlyAction(filter)
  return only === undefined ? { filter: inStatus(filter, ['dead']) } : { action: only ?? undefined }
}

async function textInTurns(
  clock: Context['clock'],
  { items, next }: Page<FailureGroup>,
  textOf: (group: FailureGroup) => string,
): Promise<string> {
  const turns = turnsOf(clock)
  const texts: string[] = []
  for (const group of items) {
    if (turns.isSpent) await turns.wait()
    texts.push(textOf(group))
  }
  return `{"items":[${texts.join()}],"next":${JSON.stringify(next)}}`
}

/** The one action that a filter is about, null if it is about nothing; undefined if it is about more. */
function onlyAction({ terms }: TaskFilter): FailureGroup['action'] | null | undefined {
  const [term, ...more] = terms.filter(
    ({ negated, condition }) => negated || condition.kind !== 'status' || condition.statuses.join() !== 'dead',
  )
  if (term === undefined) return null
  const { condition, negated } = term
  if (more.length > 0 || negated || condition.kind !== 'name' || condition.field !== 'action') return undefined
  const [name, ...others] = condition.globs
  return name === undefined || others.length > 0 || name.includes('*') ? undefined : (name as FailureGroup['action'])
}

/** A page of the largest groups: those that come after the cursor. Where a state is asked for, a bounded number is looked through. */
async function largest(
  { engine, clock, families, choose, action }: Source,
  limit: number,
  cursor: string | undefined,
): Promise<Page<FailureGroup>> {
  const after = cursor === undefined ? null : placeOf(cursor)
  const all = await rankedGroups(engine, clock, action, families)
  const rest = after === null ? all : all.filter((group) => bySize(after, group) < 0)
  const { items: shown, next } = await chosen(rest, limit, choose)
  const read = await mapLimited(shown, GROUPS_AT_ONCE, ({ fingerprint }) => familyGroup(engine, fingerprint, families))
  return { items: read.filter((group) => group !== null), next: next === null ? null : cursorAt(next) }
}

/** The first of a list that are wanted, and the last that was looked at if there are more. */
async function chosen(
  groups: readonly Sized[],
  limit: number,
  choose: Choose,
): Promise<{ readonly items: readonly Sized[]; readonly next: Sized | null }> {
  const items: Sized[] = []
  const end = Math.min(groups.length, limit * PAGES_MAX)
  for (let at = 0; at < end; at += limit) {
    const wanted = await choose(groups.slice(at, at + limit))
    items.push(...wanted.slice(0, limit - items.length))
    const isCut = items.length === limit
    const last = isCut ? items.at(-1) : groups[Math.min(at + limit, end) - 1]
    const isOver = last === groups.at(-1)
    if (isCut || isOver) return { items, next: isOver ? null : (last ?? null) }
  }
  return { items, next: groups[end - 1] ?? null }
}

const cursorAt = ({ count, fingerprint, action }: Sized): string => `${count}.${fingerprint}.${action}`

function placeOf(cursor: string): Sized {
  const [, count, fingerprint, action] = /^(\d{1,15})\.([^.]*)\.(.*)$/s.exec(cursor) ?? []
  if (count === undefined) throw new InvalidError('The cursor is not one that this list gave out.')
  return { count: Number(count), fingerprint, action } as Sized
}

/** The groups of the dead letters that a query finds: of a bounded number of them in one call. */
async function foundGroups(
  context: Context,
  caller: Caller,
  filter: TaskFilter,
  cursor: string | undefined,
  order: 'recent' | 'count',
  families: Families,
): Promise<Page<FailureGroup>> {
  const groups = new Map<string, FailureGroup>()
  const look = { ...lookOf(context, caller), limit: LETTERS_AT_ONCE, light: true }
  let next = cursor ?? null
  let scanned = 0
  await context.searches.run(caller, async () => {
    do {
      const page = await searchTasks(context.engine, filter, { ...look, ...(next === null ? {} : { cursor: next }) })
      for (const task of page.items) addTo(groups, task, families)
      scanned += page.scanned
      next = page.next
    } while (next !== null && scanned < SCAN_MAX && groups.size < FOUND_MAX)
  })
  const items = [...groups.values()]
  return { items: items.sort(order === 'count' ? bySize : (one, other) => other.lastAt - one.lastAt), next }
}

function addTo(groups: Map<string, FailureGroup>, { id, action, state }: Task, families: Families): void {
  if (state.status !== 'dead') return
  const { failure, at } = state
  const fingerprint = families.rootOf(failure.fingerprint) as FailureGroup['fingerprint']
  const key = `${fingerprint} ${action}`
  const known = groups.get(key) ?? {
    fingerprint,
    action,
    count: 0,
    firstAt: at,
    lastAt: at,
    lastTask: id,
    sample: failure,
  }
  const latest = at >= known.lastAt ? { lastAt: at, lastTask: id, sample: failure } : {}
  groups.set(key, { ...known, ...latest, count: known.count + 1, firstAt: Math.min(known.firstAt, at) })
}
