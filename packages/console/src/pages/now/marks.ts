// What changed, as marks for charts: versions of workers that joined, policies, holds, breakers, and what operators did. Many of
// one kind within a minute are one mark.

import { useQuery } from '@tanstack/react-query'
import { call, type OperationOutput } from '../../api/client.ts'
import type { ChartMark } from '../../parts/time-chart.tsx'
import { storeNow } from '../../time.ts'

export interface Change extends ChartMark {
  readonly shape: string
  readonly kind: string
}

type Event = OperationOutput<'listEvents'>['items'][number]

const TYPES = 'worker.joined,lanes.*,redrive.changed,note,group.resolved,group.acknowledged'
/** A page is of all entries, wanted or not: in an incident most of them are failures. */
const PAGE = 1_000
const PAGES_MAX = 20
const EVERY_MS = 15_000
/** What was under way when it was last read is read again. */
const OVERLAP_MS = 5_000
const MINUTE_MS = 60_000

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

function changeOf({ type, time, data: { actor, reason, details } }: Event): Omit<Change, 'at'> | null {
  switch (type) {
    case 'reprise.worker.joined':
      return {
        shape: '▲',
        kind: `version ${text(details['version'])}`,
        says: `A worker of version ${text(details['version']) || 'unknown'} joined`,
        to: '/workers',
      }
    case 'reprise.lanes.paused':
    case 'reprise.lanes.resumed':
    case 'reprise.lanes.limited':
      return {
        shape: '‖',
        kind: type + time,
        says: `${actor} ${type.slice('reprise.lanes.'.length)} lanes: ${reason}`,
        to: '/lanes',
      }
    case 'reprise.redrive.changed':
      return details['state'] === 'running'
        ? {
            shape: '↻',
            kind: type + time,
            says: `${actor} started a redrive: ${reason}`,
            to: `/redrives/${text(details['redrive'])}`,
          }
        : null
    case 'reprise.group.resolved':
    case 'reprise.group.acknowledged':
      return {
        shape: '■',
        kind: type + time,
        says: `${actor}: ${reason}`,
        to: `/failures/${text(details['fingerprint'])}`,
      }
    case 'reprise.note':
      if ('policies' in details)
        return { shape: '■', kind: 'policies', says: `Policies ${text(details['policies'])}: ${reason}` }
      return 'flag' in details ? { shape: '■', kind: type + time, says: reason } : null
    default:
      return null
  }
}

/** Oldest first. */
function changesOf(events: readonly Event[]): Change[] {
  const found = new Map<string, Change>()
  for (const event of events) {
    const change = changeOf(event)
    const at = Date.parse(event.time)
    if (change !== null) found.set(`${change.kind} ${Math.floor(at / MINUTE_MS)}`, { ...change, at })
  }
  return [...found.values()].sort((one, other) => one.at - other.at)
}

interface Read {
  /** Until when it was read. */
  readonly at: number
  readonly events: ReadonlyMap<string, Event>
}

const read = new Map<number, Read>()

/** All entries of the last minutes the first time; then what came since. A bounded number of pages each time. */
async function readChanges(minutes: number, signal: AbortSignal): Promise<readonly Change[]> {
  const now = storeNow()
  const from = now - minutes * MINUTE_MS
  const known = read.get(minutes)
  const since = String(Math.floor(known === undefined ? from : Math.max(from, known.at - OVERLAP_MS)))
  const events = new Map([...(known?.events ?? [])].filter(([, { time }]) => Date.parse(time) >= from))
  let cursor: string | null = null
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const asked = { newest: true, since, type: TYPES, limit: PAGE, ...(cursor === null ? {} : { cursor }) }
    const page: OperationOutput<'listEvents'> = await call('listEvents', asked, signal)
    for (const event of page.items) events.set(event.id, event)
    cursor = page.next
    if (cursor === null) break
  }
  read.set(minutes, { at: now, events })
  return changesOf([...events.values()])
}

const NONE: readonly Change[] = []

export function useMarks(minutes: number): readonly Change[] {
  const { data } = useQuery({
    queryKey: ['marks', minutes],
    queryFn: ({ signal }) => readChanges(minutes, signal),
    refetchInterval: EVERY_MS,
  })
  return data ?? NONE
}
