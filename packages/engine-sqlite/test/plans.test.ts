import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { migrations, statements } from '../src/sql.generated.ts'

// Tables that grow with the work: no statement may read one from end to end.
const GROWING = [
  'tasks',
  'ready',
  'waiting',
  'executions',
  'payloads',
  'journal',
  'documents',
  'document_indexes',
  'dedupe',
  'minutes',
  'failure_groups',
  'quota_windows',
]
// Looks at the first rows only, by its limit.
const BOUNDED = new Set(['deleteJournalBefore'])

describe('every statement', () => {
  const db = new DatabaseSync(':memory:')
  for (const { sql } of migrations) db.exec(sql)

  it.each(Object.entries(statements))('%s reads growing tables by an index', (name, sql) => {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
    const aliases = GROWING.flatMap((table) => [
      table,
      ...[...sql.matchAll(new RegExp(`\\b${table}\\s+(?:AS\\s+)?([a-z])\\b`, 'g'))].map((match) => match[1]),
    ])
    const scans = plan
      .map(({ detail }) => detail)
      .filter((detail) => {
        const scanned = /^SCAN (\w+)(?! VIRTUAL)/.exec(detail)?.[1]
        return scanned !== undefined && aliases.includes(scanned) && !detail.includes('VIRTUAL TABLE')
      })
    expect(scans).toEqual(BOUNDED.has(name) ? ['SCAN journal'] : [])
  })

  it.each(['claimableLanes', 'claimableLanesOfSome'] as const)('%s reads on where it stopped', (name) => {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${statements[name]}`).all() as { detail: string }[]
    const lanes = plan.map(({ detail }) => detail).filter((detail) => / lanes | TEMP B-TREE/.test(detail))
    expect(lanes).toEqual([
      'SEARCH lanes USING INDEX lanes_claimable (pool=? AND turn=? AND id>?)',
      'SEARCH lanes USING INDEX lanes_claimable (pool=? AND turn>?)',
    ])
  })
})
