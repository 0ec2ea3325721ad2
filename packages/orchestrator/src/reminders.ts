// Reminds people of failure groups that nobody gets done with (B14). A case that is open or taken on, and still has dead letters,
// gets an entry in the journal each time that it has stood for one of the times that the book says, counted from the last thing
// that somebody did about it. Each reminder comes once: the case remembers the last one. Any number of these may run.

import {
  type CaseStatus,
  casesIn,
  check,
  type Engine,
  type Fingerprint,
  type GroupCase,
  NO_POLICIES,
  nextReminder,
  ownershipOf,
  type PolicyBook,
  type PolicySource,
  REMIND_MS_DEFAULT,
  refuseNoEngine,
  reminded,
  type Service,
  stepCase,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

export interface RemindersOptions extends ServiceOptions {
  readonly engine: Pick<Engine, 'journal' | 'collection' | 'failureGroups' | 'now'>
  readonly policies?: PolicySource | undefined
  readonly intervalMs?: number
}

const INTERVAL_MS = 30_000
/** Cases that are looked at before others have their turn. */
const PAGE = 200
const REST_MS = 50
const WAITING: readonly CaseStatus[] = ['open', 'acknowledged']

const CHECKS: check.Table<RemindersOptions> = { ...SERVICE_CHECKS, intervalMs: check.ms }

export function createReminders(options: RemindersOptions): Service {
  check.options(options, CHECKS, 'reminders option')
  const { engine, policies, intervalMs = INTERVAL_MS } = options
  refuseNoEngine(engine, 'collection', 'createReminders')
  const around = surroundings('reminders', options)
  return createLoop('reminders', around, () => {
    let place: ReminderPlace | null = null
    return {
      async round() {
        place = await remindSome(engine, policies, place ?? FIRST_PLACE)
        return place === null ? jitteredMs(intervalMs, around.random) : REST_MS
      },
    }
  })
}

/** How far a pass over all cases has come. */
export interface ReminderPlace {
  readonly status: number
  readonly cursor: string | null
}

export const FIRST_PLACE: ReminderPlace = { status: 0, cursor: null }

/** Looks at one page of cases. Where to go on; null at the end of a pass. */
export async function remindSome(
  engine: RemindersOptions['engine'],
  policies: PolicySource | undefined,
  { status, cursor }: ReminderPlace,
): Promise<ReminderPlace | null> {
  const value = WAITING[status]
  if (value === undefined) return null
  const now = await engine.now()
  const from = cursor === null ? {} : { cursor }
  const { items, next } = await casesIn(engine).find({ index: 'status', value, limit: PAGE, ...from })
  const book = policies?.current() ?? NO_POLICIES
  const anyMs = allReminders(book)
  for (const { document } of items) {
    // What was merged into another case is that one's. Most others are too young for any reminder: nothing is read for them.
    if (document.mergedInto !== null || nextReminder(document, anyMs, now) === null) continue
    await remindOf(engine, book, document, now)
  }
  return { status: next === null ? status + 1 : status, cursor: next }
}

/** Whatever any rule of the book says. */
const allReminders = ({ owners = [], remindMs = REMIND_MS_DEFAULT }: PolicyBook): readonly number[] =>
  [...remindMs, ...owners.flatMap((rule) => rule.remindMs ?? [])].sort((one, other) => one - other)

async function remindOf(
  engine: RemindersOptions['engine'],
  book: PolicyBook,
  one: GroupCase,
  now: number,
): Promise<void> {
  const found = await deadOf(engine, one)
  if (found === null) return
  const { owner, remindMs } = ownershipOf(book, { action: one.action, tenant: null, code: found.code })
  await stepCase(engine, { ...one, at: now }, (known) => {
    const afterMs = nextReminder(known, remindMs, now)
    return afterMs === null ? null : reminded(known, now, { afterMs, owner: known.owner ?? owner, count: found.count })
  })
}

/** The dead letters of a case and of those merged into it; null if there are none. */
async function deadOf(
  engine: RemindersOptions['engine'],
  { id }: GroupCase,
): Promise<{ readonly count: number; readonly code: string } | null> {
  const { items: members } = await casesIn(engine).find({ index: 'into', value: id, limit: PAGE })
  let count = 0
  let code: string | null = null
  for (const name of [id, ...members.map(({ document }) => document.id)]) {
    const [group] = (await engine.failureGroups({ fingerprint: name as Fingerprint, limit: 1 })).items
    count += group?.count ?? 0
    code ??= group?.sample.code ?? null
  }
  return code === null ? null : { count, code }
}
