// Intelligent retry: which failures are worth another attempt, when that runs, and on which worker. Run it with
//
//   npm run example:intelligent-retry
//
// It takes a few seconds, keeps everything in a temporary folder and ends by itself. With --engine redis://localhost:6379 it
// uses another store.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { faults } from './faults.ts'
import { sickFleet } from './sick-fleet.ts'

const { values } = parseArgs({ options: { engine: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'reprise-intelligent-retry-'))
const connection = await connectEngine(values.engine ?? `sqlite:${join(folder, 'reprise.db')}`)
const { engine } = connection
const client = await createClient({ engine })
const tell = (line: string): void => console.log(line)
try {
  const { refusedAttempts, invalidAttempts } = await faults(engine, client, tell)
  const { tasks, succeeded, attempts, onSick } = await sickFleet(engine, client, tell)
  console.log(
    `Shown: a refused connection was tried ${refusedAttempts} times with growing pauses, a wrong payload ${invalidAttempts === 1 ? 'once' : `${invalidAttempts} times`}; ` +
      `${succeeded} of ${tasks} tasks succeeded on a fleet of which half was sick, and the sick half got ${onSick} of ${attempts} attempts.`,
  )
} finally {
  await client.close()
  await connection.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
