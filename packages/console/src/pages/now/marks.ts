// What changed, as marks for charts: versions of workers that joined, policies, holds, breakers, and what operators did. Many of
// one kind within a minute are one mark.

import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import type { ChartMark } from '../../parts/time-chart.tsx'

export interface Change extends ChartMark {
  readonly shape: string
  readonly kind: string
}

type Event = OperationOutput<'listEvents'>['items'][number]

const TYPES = 'worker.joined,lanes.*,redrive.changed,note,group.resolved,group.acknowledged'
const LIMIT = 200
const MINUTE_MS = 60_000

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

function changeOf({ type, time, data: { actor, reason, details } }: Event): Omit<Change, 'at'> | null {
  switch (type) {
    case 'reprise.worker.joined':
      return {
        shape: '▲',
        kind: `version ${text(details['version'])}`,
        says: `A worker of version ${text(details['version']) || 'unknown'} joined`,
      }
    case 'reprise.lanes.paused':
    case 'reprise.lanes.resumed':
    case 'reprise.lanes.limited':
      return { shape: '‖', kind: type + time, says: `${actor} ${type.slice('reprise.lanes.'.length)} lanes: ${reason}` }
    case 'reprise.redrive.changed':
      return details['state'] === 'running'
        ? { shape: '↻', kind: type + time, says: `${actor} started a redrive: ${reason}` }
        : null
    case 'reprise.group.resolved':
    case 'reprise.group.acknowledged':
      return { shape: '■', kind: type + time, says: `${actor}: ${reason}` }
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

export function useMarks(minutes: number): readonly Change[] {
  const { data } = useOperation('listEvents', { newest: true, since: `${minutes}m`, type: TYPES, limit: LIMIT })
  return data === undefined ? [] : changesOf(data.items)
}
