// Failure groups: dead letters with one cause, the most recent first. A cursor names the group it follows by (last death,
// creation), so that pages go on right also when that group has changed its place or is gone.

import {
  type ActionName,
  type FailureGroup,
  type FailureGroupQuery,
  type Fingerprint,
  type Page,
  StoreFailedError,
  type TaskId,
} from '@reprise/core'
import { foreignCursor, pageLimit } from '@reprise/core/engine'
import { GROUP_ROW, records } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import { type AttemptRecord, failureOf } from './records.ts'
import { listGroupsScript } from './scripts.generated.ts'
import { given } from './tasks.ts'

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

/** The groups that come after the cursor, as many as are wanted, or all there are. */
export async function groupRows(
  partition: Partition,
  cursor: string | undefined,
  wanted: number,
  query: FailureGroupQuery,
): Promise<readonly GroupRow[]> {
  let after = parseCursor(cursor)
  const rows: GroupRow[] = []
  do {
    const args = [...after, String(wanted - rows.length), given(query.action), given(query.fingerprint)]
    const fields = asTexts(await partition.run(listGroupsScript, args))
    for (const row of records(GROUP_ROW, fields, 2)) {
      rows.push({ cursor: `${row.lastAt}.${row.number}`, group: groupOf(row) })
    }
    after = fields.slice(0, 2)
  } while (after[0] !== '' && rows.length < wanted)
  return rows
}

function parseCursor(cursor: string | undefined): readonly string[] {
  if (cursor === undefined) return ['', '']
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor)
  if (parts === null) throw foreignCursor()
  return parts.slice(1)
}

function groupOf(row: Readonly<Record<(typeof GROUP_ROW)[number], string>>): FailureGroup {
  const { fingerprint } = row
  // The part of a record that tells of a bad end: it begins with a comma.
  const sample = failureOf(JSON.parse(`{${row.sample.slice(1)}}`) as AttemptRecord)
  if (sample === null) throw new StoreFailedError(`The store has no sample of the failure group '${fingerprint}'.`)
  return {
    fingerprint: fingerprint as Fingerprint,
    action: row.action as ActionName,
    count: Number(row.count),
    firstAt: Number(row.firstAt),
    lastAt: Number(row.lastAt),
    lastTask: row.lastTask as TaskId,
    sample,
  }
}
