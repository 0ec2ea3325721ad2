// The limit: what one process can do on SQLite at all. A bare loop that does the least a durable queue must (take in,
// claim, run, settle, each committed) and nothing else: no lanes, leases, retries, records or counters, and one caller
// only. It is not a queue anybody could use.

import { DatabaseSync } from 'node:sqlite'
import type { Mode } from './arguments.ts'
import type { Input } from './payload.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'

// As in the engine's database.ts: the limit has the same file, cache and log.
const pragmas = (mode: Mode): string => `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = ${mode === 'durable' ? 'FULL' : 'NORMAL'};
  PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;
  PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;`

// status: 0 queued, 1 running, 2 succeeded. The index is found only by a query that says `status = 0` just like this.
const SCHEMA = `
  CREATE TABLE queue (id INTEGER PRIMARY KEY, status INTEGER NOT NULL, payload TEXT NOT NULL) STRICT;
  CREATE INDEX queued ON queue (id) WHERE status = 0;`
const INSERT = 'INSERT INTO queue (status, payload) VALUES (0, ?)'
const CLAIM = `
  UPDATE queue SET status = 1
  WHERE id IN (SELECT id FROM queue WHERE status = 0 ORDER BY id LIMIT ${CONCURRENCY}) RETURNING id, payload`
const SETTLE = 'UPDATE queue SET status = 2 WHERE id = ?'
const COUNT = 'SELECT count(*) AS count FROM queue WHERE status = 2'

type ClaimedRow = readonly [id: number, payload: string]

export async function openLimitSqlite(path: string, mode: Mode): Promise<QueueUnderTest> {
  const db = new DatabaseSync(path)
  db.exec(pragmas(mode))
  db.exec(SCHEMA)
  const insert = db.prepare(INSERT)
  const claim = db.prepare(CLAIM)
  claim.setReturnArrays(true)
  const settle = db.prepare(SETTLE)

  const settleAndClaim = (ended: readonly ClaimedRow[]): ClaimedRow[] => {
    db.exec('BEGIN IMMEDIATE')
    for (const [id] of ended) settle.run(id)
    const claimed = claim.all() as unknown as ClaimedRow[]
    db.exec('COMMIT')
    return claimed
  }

  return {
    async submit(inputs) {
      db.exec('BEGIN IMMEDIATE')
      for (const input of inputs) insert.run(JSON.stringify(input))
      db.exec('COMMIT')
    },
    async process() {
      let claimed = settleAndClaim([])
      while (claimed.length > 0) {
        await Promise.all(claimed.map(([, payload]) => handler(JSON.parse(payload) as Input)))
        claimed = settleAndClaim(claimed)
      }
    },
    async succeeded() {
      return Number(db.prepare(COUNT).get()?.count)
    },
    async close() {
      db.close()
    },
  }
}

async function handler(_input: Input): Promise<void> {}
