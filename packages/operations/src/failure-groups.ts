// Dead letters by their cause. All of them are read off groups that the store keeps; those that a query finds are looked through,
// a bounded number in one call. The largest first is what people want to know, and needs a look at every group: of up to
// 10,000 groups a page keeps as many as it shows.

import {
  type FailureGroup,
  type FailureGroupQuery,
  InvalidError,
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
import { notesOnGroups, withNotes } from './notes.ts'
import { operation, Written } from './operation.ts'
import { ActionNameInput, PageQuery, pageOf, QueryInput } from './schemas/names.ts'
import { FailureGroupView } from './schemas/operations.ts'
import { failureGroupView } from './views.ts'

const GROUPS_MAX = 10_000
/** How many groups are read at once: each has a failure with its stack. */
const STEP = 100
/** How many dead letters one call looks at for a query. */
const SCAN_MAX = 20_000
const LETTERS_AT_ONCE = 250
/** How many groups one call finds for a query. */
const FOUND_MAX = 200

export const failureGroupOperations = {
  listFailureGroups: operation({
    route: 'GET /api/v1/failure-groups',
    summary: 'List dead letters by cause',
    description:
      'With `q`, only of the dead letters that the query finds: a bounded number of them is looked through. While `next` is not null, ask again, and add what comes to the groups with the same action and fingerprint.',
    tag: 'tasks',
    right: 'read',
    tenants: 'all',
    input: PageQuery.extend({
      action: ActionNameInput.optional(),
      order: z
        .enum(['recent', 'count'])
        .optional()
        .meta({ description: 'The most recent first if missing; or those with the most dead letters.' }),
      q: QueryInput.shape.q,
    }),
    output: pageOf(FailureGroupView.extend(withNotes).meta({ id: 'NotedFailureGroup' }), 'FailureGroupPage'),
    answer: 'The most recent first, or the largest.',
    run: async (context, caller, { q, order = 'recent', action, limit = PAGE_LIMIT_DEFAULT, cursor }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      const { clock, redaction } = context
      const notes = await notesOnGroups(context)
      const textOf = (group: FailureGroup): string =>
        JSON.stringify({ ...failureGroupView(group, redaction), notes: notes.get(group.fingerprint) ?? [] })
      const kept = keptGroups(q, action, caller)
      if ('filter' in kept) {
        const found = await foundGroups(context, caller, kept.filter, cursor, order)
        return new Written(await textInTurns(clock, found, textOf))
      }
      const read = (some: number, from: string | undefined): Promise<Page<FailureGroup>> => {
        const query = { limit: some, ...given({ action: kept.action, cursor: from }) }
        return order === 'count' ? largest(context, query) : context.engine.failureGroups(query)
      }
      const { items, next } = await boundedPage({ limit, cursor, clock, read, textOf })
      return new Written(`{"items":${items},"next":${JSON.stringify(next)}}`)
    },
  }),
}

type Kept = { readonly action: FailureGroup['action'] | undefined } | { readonly filter: TaskFilter }

/** What the store's own groups tell: all, or those of an action. Anything else that a query says is looked for. */
function keptGroups(q: string | undefined, action: FailureGroup['action'] | undefined, caller: Caller): Kept {
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

type Sized = Pick<FailureGroup, 'count' | 'fingerprint' | 'action'>

/** The largest first; among equals by name, so that each has one place. */
function bySize(one: Sized, other: Sized): number {
  if (one.count !== other.count) return other.count - one.count
  const [a, b] = [`${one.fingerprint} ${one.action}`, `${other.fingerprint} ${other.action}`]
  return a < b ? -1 : a > b ? 1 : 0
}

/** A page of the largest groups: those that come after the cursor, as many as are wanted. */
async function largest(
  context: Pick<Context, 'engine' | 'clock'>,
  query: FailureGroupQuery,
): Promise<Page<FailureGroup>> {
  const { limit = PAGE_LIMIT_DEFAULT } = query
  const after = query.cursor === undefined ? null : placeOf(query.cursor)
  const turns = turnsOf(context.clock)
  let kept: FailureGroup[] = []
  let looked = 0
  let cursor: string | null = null
  do {
    if (turns.isSpent) await turns.wait()
    const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const page: Page<FailureGroup> = await context.engine.failureGroups({
      ...given({ action: query.action }),
      limit: STEP,
      ...from,
    })
    kept.push(...page.items.filter((group) => after === null || bySize(after, group) < 0))
    kept = kept.sort(bySize).slice(0, limit + 1)
    looked += page.items.length
    cursor = page.next
  } while (cursor !== null && looked < GROUPS_MAX)
  const items = kept.slice(0, limit)
  const last = items.at(-1)
  return { items, next: kept.length > limit && last !== undefined ? cursorAt(last) : null }
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
): Promise<Page<FailureGroup>> {
  const groups = new Map<string, FailureGroup>()
  const look = { ...lookOf(context, caller), limit: LETTERS_AT_ONCE, light: true }
  let next = cursor ?? null
  let scanned = 0
  await context.searches.run(caller, async () => {
    do {
      const page = await searchTasks(context.engine, filter, { ...look, ...(next === null ? {} : { cursor: next }) })
      for (const task of page.items) addTo(groups, task)
      scanned += page.scanned
      next = page.next
    } while (next !== null && scanned < SCAN_MAX && groups.size < FOUND_MAX)
  })
  const items = [...groups.values()]
  return { items: items.sort(order === 'count' ? bySize : (one, other) => other.lastAt - one.lastAt), next }
}

function addTo(groups: Map<string, FailureGroup>, { id, action, state }: Task): void {
  if (state.status !== 'dead') return
  const { failure, at } = state
  const { fingerprint } = failure
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
