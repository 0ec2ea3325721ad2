// What changed just before a moment, from the journal: workers that joined or left, by version; policies, flags, holds, limits,
// breakers, and what operators did to tasks. Entries about single failures are passed over, and many of one kind are told as one.

import { actorText, type JournalEntry, turnsOf } from '@reprise/core'
import { z } from 'zod'
import type { Caller } from './access/caller.ts'
import type { Context } from './context.ts'
import { Moment } from './schemas/names.ts'

export const ChangeView = z
  .object({
    at: Moment.meta({ description: 'When; of several, when the first.' }),
    kind: z.enum(['worker', 'policies', 'flag', 'lanes', 'breaker', 'tasks', 'note']),
    count: z.int(),
    sentence: z.string(),
    actor: z.string(),
  })
  .meta({ id: 'ChangeBefore' })

type Change = z.output<typeof ChangeView>

const WINDOW_MS = 30 * 60_000
/** A change and its first victim may be told in either order. */
const AFTER_MS = 60_000
const PAGE = 500
const ENTRIES_MAX = 10_000
const CHANGES_MAX = 50

export interface Changes {
  readonly changes: Change[]
  /** False if there was too much to read all of it. */
  readonly isComplete: boolean
}

/** In the order in which they happened. */
export async function changesBefore(context: Context, caller: Caller, at: number): Promise<Changes> {
  const { engine, clock, events, redaction } = context
  const turns = turnsOf(clock)
  const found = new Map<string, Change>()
  let cursor = await engine.journal.from(at - WINDOW_MS)
  for (let read = 0; read < ENTRIES_MAX; ) {
    const page = await engine.journal.read({ cursor, limit: PAGE })
    for (const entry of page.entries) {
      if (turns.isSpent) await turns.wait()
      if (entry.at > at + AFTER_MS) return { changes: sorted(found), isComplete: true }
      const change = entry.at < at - WINDOW_MS ? null : changeOf(entry)
      if (change === null || !(await events.tenants.maySee(entry, caller.tenants))) continue
      const known = found.get(change.key)
      const count = (known?.count ?? 0) + 1
      const { kind, sentence } = change
      const told = { at: known?.at ?? entry.at, kind, count, actor: entry.actor }
      found.set(change.key, { ...told, sentence: redaction.text(sentence(count)) })
    }
    read += page.entries.length
    cursor = page.cursor
    if (page.entries.length < PAGE) return { changes: sorted(found), isComplete: true }
  }
  return { changes: sorted(found), isComplete: false }
}

const sorted = (found: ReadonlyMap<string, Change>): Change[] =>
  [...found.values()].sort((one, other) => one.at - other.at).slice(-CHANGES_MAX)

interface ChangeKind {
  /** Entries with one key are told as one. */
  readonly key: string
  readonly kind: Change['kind']
  readonly sentence: (count: number) => string
}

const DONE: Readonly<Record<string, string>> = {
  'task.redriven': 'redrove',
  'task.discarded': 'discarded',
  'task.cancelled': 'cancelled',
  'task.promoted': 'promoted',
  'task.retried': 'retried',
}

const times = (count: number, one: string): string => (count === 1 ? `a ${one}` : `${count} ${one}s`)

function changeOf({ type, actor, reason, data, id }: JournalEntry): ChangeKind | null {
  const [family] = type.split('.')
  if (type === 'worker.joined' || type === 'worker.left') {
    const verb = type === 'worker.joined' ? 'joined' : 'left'
    const version = String(data.version ?? 'unknown')
    const sentence = (count: number): string => `${capital(times(count, 'worker'))} of version ${version} ${verb}.`
    return { key: `${type} ${version}`, kind: 'worker', sentence }
  }
  if (family === 'lanes') return { key: id, kind: 'lanes', sentence: () => `${laneWords(type, data)}: ${reason}` }
  if (family === 'breaker') {
    const name = String(data.breaker ?? '')
    const state = type.slice('breaker.'.length).replace('_', ' ')
    return { key: `${type} ${name}`, kind: 'breaker', sentence: () => `The breaker ${name} is ${state}: ${reason}` }
  }
  const done = DONE[type]
  if (done !== undefined) {
    return {
      key: `${type} ${actor}`,
      kind: 'tasks',
      sentence: (count) => `${actorText(actor)} ${done} ${times(count, 'task')}: ${reason}`,
    }
  }
  if (type !== 'note') return null
  if ('policies' in data) return { key: id, kind: 'policies', sentence: () => reason }
  if ('flag' in data) return { key: id, kind: 'flag', sentence: () => reason }
  if ('order' in data)
    return { key: id, kind: 'worker', sentence: () => `Worker ${String(data.worker)} was told to drain: ${reason}` }
  return null
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function laneWords(type: string, data: JournalEntry['data']): string {
  const scope = (['pool', 'action', 'tenant'] as const).flatMap((part) =>
    typeof data[part] === 'string' ? [`${part} ${data[part]}`] : [],
  )
  return `Lanes of ${scope.length === 0 ? 'everything' : scope.join(', ')} were ${type.slice('lanes.'.length)}`
}
