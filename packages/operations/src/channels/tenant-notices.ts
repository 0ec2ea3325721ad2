// Telling the tenants that an alert, or a cause, concerns: each gets an event of its own (`tenant.notified`, over its webhooks and streams), which
// says how many of its own tasks are affected and nothing about anybody else. One document for each tenant and episode of an alert:
// so nobody is told twice, and those who heard of the failure hear of the end. A tenant gets a bounded number in an hour.

import {
  allPages,
  type Collection,
  type Engine,
  type Fingerprint,
  type JournalEntryInput,
  stepOrInsertTold,
  stepTold,
  type TenantId,
  type ToldDocument,
  tellLeftovers,
  untoldIndex,
} from '@reprise/core'
import type { AlertNotice } from './messages.ts'

interface TenantNotice extends ToldDocument {
  readonly tenant: TenantId
  /** The alert and its episode. */
  readonly episode: string
  readonly status: 'failing' | 'recovered'
  readonly action: string | null
  readonly tasks: number
  readonly at: number
  /** What an operator says; missing if it is for us to say. */
  readonly message?: string
}

/** What they are told of: an alert, or a cause that an operator has something to say about. */
export type Tidings = Pick<AlertNotice, 'what' | 'fingerprint' | 'action'> & {
  readonly alert: string
  readonly episode: number | string
  readonly message?: string
}

type Store = Pick<Engine, 'collection' | 'journal' | 'tasks' | 'lanes' | 'now'>

const HOUR = 3_600_000
const KEPT_MS = 30 * 24 * HOUR
/** Longer than a delivery is tried again: an order that comes late makes no second notice. */
const RECOVERED_KEPT_MS = 2 * HOUR
const TASKS_MAX = 10_000
const LANES_MAX = 10_000
const TENANTS_MAX = 1_000
const PAGE = 1_000

const noticesIn = (engine: Pick<Engine, 'collection'>): Collection<TenantNotice> =>
  engine.collection<TenantNotice>({
    name: 'tenant-notices',
    indexes: { episode: ({ episode }) => episode, tenant: ({ tenant }) => tenant, untold: untoldIndex },
  })

/** Tells all that it concerns. How many were told now. May be repeated: nobody hears the same twice. */
export async function noticeTenants(engine: Store, notice: Tidings, perHour: number): Promise<number> {
  const now = await engine.now()
  const notices = noticesIn(engine)
  await tellLeftovers(engine.journal, notices, now)
  const episode = `${notice.alert}.${notice.episode}`
  if (notice.what === 'resolved') return tellEnd(engine, notices, episode, now)
  if (notice.what !== 'firing') return 0
  let told = 0
  for (const [tenant, tasks] of (await affected(engine, notice)).slice(0, TENANTS_MAX)) {
    if (await hadEnough(notices, tenant, perHour, now)) continue
    const first: TenantNotice = {
      id: `${episode}.${tenant}`,
      tenant,
      episode,
      status: 'failing',
      action: notice.action ?? null,
      tasks,
      at: now,
      ...(notice.message === undefined ? {} : { message: notice.message }),
      untold: [],
    }
    // It is made once: that is the step.
    const stepped = await stepOrInsertTold(engine.journal, notices, first, (one) =>
      one === first ? { ...one, untold: [entryOf(one)] } : null,
    )
    if (stepped !== null) told++
  }
  return told
}

async function tellEnd(
  engine: Store,
  notices: Collection<TenantNotice>,
  episode: string,
  now: number,
): Promise<number> {
  const { items } = await notices.find({ index: 'episode', value: episode, limit: PAGE })
  let told = 0
  for (const { document } of items) {
    const stepped = await stepTold(engine.journal, notices, document.id, (one) => {
      if (one.status === 'recovered') return null
      const over: TenantNotice = { ...one, status: 'recovered', at: now }
      return { ...over, untold: [...one.untold, entryOf(over)] }
    })
    if (stepped !== null) told++
  }
  return told
}

function entryOf({ tenant, status, action, tasks, message }: TenantNotice): JournalEntryInput {
  const what = action === null ? 'tasks' : `tasks of ${action}`
  const failing = message ?? `${tasks} of your ${what} failed for good. Somebody was called.`
  const reason = status === 'failing' ? failing : `It is over: what made your ${what} fail is resolved.`
  const data = { tenant, status, tasks, ...(action === null ? {} : { action }) }
  return { type: 'tenant.notified', taskId: null, attempt: null, actor: 'alerts', reason, data }
}

async function hadEnough(
  notices: Collection<TenantNotice>,
  tenant: TenantId,
  perHour: number,
  now: number,
): Promise<boolean> {
  const { items } = await notices.find({ index: 'tenant', value: tenant, limit: PAGE })
  for (const { document } of items) {
    // Those that are over go soon: a page holds them all, or the bound would be that of the oldest.
    const keptMs = document.status === 'recovered' ? RECOVERED_KEPT_MS : KEPT_MS
    if (document.at < now - keptMs) await notices.remove(document.id)
  }
  return items.filter(({ document }) => document.at > now - HOUR).length >= perHour
}

/** By tenant, how many of their tasks are dead: of the cause, or of the action. */
async function affected(engine: Store, notice: Tidings): Promise<readonly (readonly [TenantId, number])[]> {
  const { fingerprint, action } = notice
  const tasks = new Map<TenantId, number>()
  const add = (tenant: TenantId, count: number): void => void tasks.set(tenant, (tasks.get(tenant) ?? 0) + count)
  if (fingerprint !== undefined) {
    const query = { status: 'dead', fingerprint: fingerprint as Fingerprint, light: true } as const
    const { items } = await allPages((page) => engine.tasks({ ...query, ...page }), TASKS_MAX)
    for (const { tenant } of items) add(tenant, 1)
  } else if (action !== undefined) {
    const { items } = await allPages((page) => engine.lanes({ action: action as never, ...page }), LANES_MAX)
    for (const { tenant, counts } of items) if (counts.dead > 0) add(tenant, counts.dead)
  }
  return [...tasks]
}
