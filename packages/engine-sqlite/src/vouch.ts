// Vouching for a worker whose event loop is blocked: by the engine, and by a thread with a connection of its own. Both run
// the same statements.

import { TIMEOUT_GRACE_MS, type Voucher, type VouchRequest } from '@reprise/core'
import { checkLeaseMs, type VouchResult } from '@reprise/core/engine'
import { statements } from './sql.generated.ts'
import type { Transaction } from './transaction.ts'

export function vouch({ db, now }: Transaction, { worker, epoch, leaseMs, outlook }: VouchRequest): VouchResult {
  checkLeaseMs(leaseMs)
  if (db.run('saveOutlook', outlook, worker, epoch).changes === 0) return { renewed: 0 }
  return { renewed: db.run('vouchForWorker', now, leaseMs, TIMEOUT_GRACE_MS, worker).changes }
}

/** In words rather than a file of its own, so that bundlers have nothing to follow. The file is opened when it is needed first. */
const PROGRAM = `
const { DatabaseSync } = require('node:sqlite')
let db = null
return {
  vouch({ worker, epoch, leaseMs, outlook }) {
    if (db === null) {
      db = new DatabaseSync(data.path, { timeout: data.patienceMs })
      db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
    }
    db.exec('BEGIN IMMEDIATE')
    try {
      const isCurrent = Number(db.prepare(data.saveOutlook).run(outlook, worker, epoch).changes) > 0
      const renewed = isCurrent
        ? Number(db.prepare(data.vouchForWorker).run(Date.now(), leaseMs, data.timeoutGraceMs, worker).changes)
        : 0
      db.exec('COMMIT')
      return { renewed }
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  },
  close() {
    if (db !== null) db.close()
    db = null
  },
}`

/** Nothing is acknowledged by a renewal, so the thread need not wait for the disk. */
const PATIENCE_MS = 2_000

export function fileVoucher(path: string): Voucher {
  const { saveOutlook, vouchForWorker } = statements
  const data = { path, patienceMs: PATIENCE_MS, timeoutGraceMs: TIMEOUT_GRACE_MS, saveOutlook, vouchForWorker }
  return { program: PROGRAM, data }
}
