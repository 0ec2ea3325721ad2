// Failure groups: dead letters with one cause, the most recent first. A cursor names the group it follows by (last death,
// creation), so that pages go on right also when that group has changed its place or is gone.

import {
  type ActionName,
  type FailureGroup,
  type FailureGroupQuery,
  type Fingerprint,
  InvalidError,
  type Page,
  StoreFailedError,
  type TaskId,
} from '@reprise/core'
import { pageLimit } from '@reprise/core/engine'
import { asTexts, type Partition } from './partition.ts'
import { type AttemptRecord, failureOf } from './records.ts'
import { listGroupsScript } from './scripts.generated.ts'
import { given } from './tasks.ts'

const FIELDS_PER_GROUP = 8

export async function listFailureGroups(
  partition: Partition,
  query: FailureGroupQuery = {},
): Promise<Page<FailureGroup>> {
  const limit = pageLimit(query)
  const rows = await groupRows(partition, query.cursor, limit + 1, query)
  const shown = rows.slice(0, limit)
  return {
    items: shown.map(({ group }) => group),
    next: rows.length > limit ? (shown.at(-1)?.cursor ?? null) : null,
  }
}

export interface GroupRow {
  readonly cursor: string
  readonly group: FailureGroup
}

/** The groups that come after the cursor, as many as are wanted if there are so many. */
export async function groupRows(
  partition: Partition,
  cursor: string | undefined,
  wanted: number,
  query: FailureGroupQuery,
): Promise<readonly GroupRow[]> {
  let after = parseCursor(cursor)
  const rows: GroupRow[] = []
  do {
    const args = [...after, String(wanted - rows.length), given(query.action)]
    const fields = asTexts(await partition.run(listGroupsScript, args))
    for (let at = 2; at < fields.length; at += FIELDS_PER_GROUP) {
      const row = fields.slice(at, at + FIELDS_PER_GROUP)
      rows.push({ cursor: `${row[5]}.${row[1]}`, group: groupOf(row) })
    }
    after = fields.slice(0, 2)
  } while (after[0] !== '' && rows.length < wanted)
  return rows
}

function parseCursor(cursor: string | undefined): readonly string[] {
  if (cursor === undefined) return ['', '']
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor)
  if (parts === null) throw new InvalidError('The cursor is not one that this store gave out.')
  return parts.slice(1)
}

function groupOf(fields: readonly string[]): FailureGroup {
  const [fingerprint = '', , count, action = '', firstAt, lastAt, lastTask = '', tail = ''] = fields
  // The part of a record that tells of a bad end: it begins with a comma.
  const sample = failureOf(JSON.parse(`{${tail.slice(1)}}`) as AttemptRecord)
  if (sample === null) throw new StoreFailedError(`The store has no sample of the failure group '${fingerprint}'.`)
  return {
    fingerprint: fingerprint as Fingerprint,
    action: action as ActionName,
    count: Number(count),
    firstAt: Number(firstAt),
    lastAt: Number(lastAt),
    lastTask: lastTask as TaskId,
    sample,
  }
}
