// The recovery loop, in one terminal: a failure, a delayed retry, an escalation, a work order, a runbook, and everything has
// recovered. Run it with
//
//   npm run example:recovery-loop
//
// It takes some seconds, keeps everything in a temporary folder and ends by itself. With --engine redis://localhost:6379 it uses
// another store, which should be empty.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectEngine } from '@reprise/connect'
import { startFakePager } from '@reprise/test-servers'
import { openBank } from './bank.ts'
import { openHouse } from './house.ts'
import { show } from './story.ts'

const { values } = parseArgs({ options: { engine: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'reprise-recovery-loop-'))
const connection = await connectEngine(values.engine ?? `sqlite:${join(folder, 'reprise.db')}`)
const [bank, pager] = await Promise.all([openBank(), startFakePager()])
try {
  const house = await openHouse(connection.engine, bank)
  try {
    await show(connection.engine, house, bank, pager, (line) => console.log(line))
  } finally {
    await house.close()
  }
} finally {
  bank.close()
  await pager.close()
  await connection.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
