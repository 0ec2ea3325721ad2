// Entries of the journal as events that leave the system: CloudEvents, the same for everybody who gets one. What must not be
// seen is taken out elsewhere.

import type { JournalEntry } from './journal.ts'

const PREFIX = 'reprise.'

export interface EventOut {
  readonly specversion: '1.0'
  /** Of the entry, for receivers that must not act twice. */
  readonly id: string
  readonly source: string
  /** Such as `reprise.execution.failed`. */
  readonly type: string
  /** RFC 3339. */
  readonly time: string
  /** The task; missing if it is about none. */
  readonly subject?: string
  readonly datacontenttype: 'application/json'
  readonly data: EventData
}

interface EventData {
  readonly taskId: string | null
  readonly attempt: number | null
  readonly actor: string
  readonly reason: string
  readonly details: JournalEntry['data']
}

export const eventOf = ({ id, type, at, taskId, attempt, actor, reason, data }: JournalEntry): EventOut => ({
  specversion: '1.0',
  id,
  source: 'reprise',
  type: `${PREFIX}${type}`,
  time: new Date(at).toISOString(),
  ...(taskId === null ? {} : { subject: taskId }),
  datacontenttype: 'application/json',
  data: { taskId, attempt, actor, reason, details: data },
})

/** Which types are wanted: `execution.failed`, or `execution.*` for a family, with the prefix or without. None means all. */
export function typeFilter(patterns: readonly string[]): (type: string) => boolean {
  if (patterns.length === 0) return () => true
  const exact = new Set<string>()
  const families: string[] = []
  for (const pattern of patterns.map(bareType)) {
    if (pattern.endsWith('*')) families.push(pattern.slice(0, -1))
    else exact.add(pattern)
  }
  return (type) => {
    const bare = bareType(type)
    return exact.has(bare) || families.some((family) => bare.startsWith(family))
  }
}

/** The type of an event as the journal has it. */
const bareType = (type: string): string => (type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type)
