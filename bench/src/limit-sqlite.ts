// The limit: what one process can do on SQLite at all. A bare loop that does the least a durable queue must, and nothing
// else: take each id in once, claim under a lease (or a crash could never be recovered from), settle only what is still
// held, each committed. No lanes, priorities, retries, records or counters, and one caller only: not a queue to use.

import { randomUUIDv7 } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Mode } from './arguments.ts'
import type { Input } from './payload.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'
import type { Store } from './store.ts'

// As in the engine's database.ts: the limit has the same file, cache and log.
const pragmas = (mode: Mode): string => `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = ${mode === 'durable' ? 'FULL' : 'NORMAL'};
  PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;
  PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;`

// status: 0 queued, 1 running, 2 succeeded. The index is found only by a query that says `status = 0` just like this.
// lease_until is filled from the start: a row that does not grow stays on its page.
const SCHEMA = `
  CREATE TABLE queue (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, status INTEGER NOT NULL, lease_until INTEGER NOT NULL, payload TEXT NOT NULL
  ) STRICT;
  CREATE INDEX queued ON queue (seq) WHERE status = 0;`
const INSERT = 'INSERT INTO queue (id, status, lease_until, payload) VALUES (?, 0, ?, ?) ON CONFLICT (id) DO NOTHING'
const CLAIM = `
  UPDATE queue SET status = 1, lease_until = ?
  WHERE seq IN (SELECT seq FROM queue WHERE status = 0 ORDER BY seq LIMIT ${CONCURRENCY}) RETURNING seq, payload`
const SETTLE = 'UPDATE queue SET status = 2 WHERE seq = ? AND status = 1 AND lease_until = ?'
const LEASE_MS = 15_000
const COUNT = 'SELECT count(*) AS count FROM queue WHERE status = 2'

type ClaimedRow = readonly [seq: number, payload: string]

export async function openLimitSqlite({ at, mode }: Store): Promise<QueueUnderTest> {
  const db = new DatabaseSync(at)
  db.exec(pragmas(mode))
  db.exec(SCHEMA)
  const insert = db.prepare(INSERT)
  const claim = db.prepare(CLAIM)
  claim.setReturnArrays(true)
  const settle = db.prepare(SETTLE)

  let leaseUntil = 0
  const settleAndClaim = (ended: readonly ClaimedRow[]): ClaimedRow[] => {
    db.exec('BEGIN IMMEDIATE')
    for (const [seq] of ended) settle.run(seq, leaseUntil)
    leaseUntil = Date.now() + LEASE_MS
    const claimed = claim.all(leaseUntil) as unknown as ClaimedRow[]
    db.exec('COMMIT')
    return claimed
  }

  return {
    async submit(inputs) {
      db.exec('BEGIN IMMEDIATE')
      const now = Date.now()
      for (const input of inputs) insert.run(randomUUIDv7(), now, JSON.stringify(input))
      db.exec('COMMIT')
    },
    async process() {
      let claimed = settleAndClaim([])
      while (claimed.length > 0) {
        await Promise.all(claimed.map(([, payload]) => handler(JSON.parse(payload) as Input)))
        claimed = settleAndClaim(claimed)
      }
    },
    async counts() {
      return { succeeded: Number(db.prepare(COUNT).get()?.count), dead: 0 }
    },
    async close() {
      db.close()
    },
  }
}

async function handler(_input: Input): Promise<void> {}
