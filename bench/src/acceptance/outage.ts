// The store goes away while work is under way: Redis is frozen, and then killed and started again; the file of SQLite is locked by another
// process. Every task ends once the store is back, and none runs twice to its end.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createClient, defineAction } from '@reprise/client'
import type { RedisServer } from '@reprise/test-servers'
import { consoleLogger, createWorker } from '@reprise/worker'
import { type Bounds, countsUntil, type Row, rest } from './row.ts'

const AWAY_MS = 1_500

/** Takes the store away, and gives it back. */
export type Outage = () => Promise<void>

export function redisOutage(server: RedisServer): Outage {
  return async () => {
    server.pause()
    await rest(AWAY_MS)
    server.resume()
    await rest(AWAY_MS / 3)
    await server.kill()
    await rest(AWAY_MS)
    await server.restart()
  }
}

const LOCKS = `
  const { DatabaseSync } = require('node:sqlite')
  const store = new DatabaseSync(process.argv[1])
  store.exec('PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE')
  setTimeout(() => store.exec('COMMIT'), Number(process.argv[2]))
`

export function sqliteOutage(path: string): Outage {
  return async () => {
    await promisify(execFile)(process.execPath, ['--no-warnings', '-e', LOCKS, path, String(2 * AWAY_MS)])
  }
}

export async function outages(engine: string, { tasks }: Bounds, outage: Outage): Promise<Row> {
  const client = await createClient({ engine })
  const done: number[] = []
  const work = defineAction<{ readonly number: number }>({
    name: 'acceptance.work',
    maxLosses: 20,
    retry: { max: 20 },
    run: async ({ number }) => {
      await rest(10)
      done.push(number)
    },
  })
  const quiet = { ...consoleLogger({ level: 'error' }), error: () => undefined }
  const worker = await createWorker({ engine, actions: [work], concurrency: 10, lease: '2s', log: quiet })
  try {
    await client.submitMany(
      work,
      Array.from({ length: tasks }, (_, number) => ({ number })),
    )
    const before = await countsUntil(client, 'a tenth has succeeded', (counts) => counts.succeeded >= tasks / 10)
    await outage()
    const { succeeded, dead } = await countsUntil(
      client,
      'every task has ended',
      (counts) => counts.succeeded + counts.dead === tasks,
    )
    const lost = tasks - new Set(done).size
    return {
      criterion: 'storage outage ridden out',
      wanted: `${tasks} of ${tasks} succeed`,
      measured: `${succeeded} of ${tasks}`,
      value: succeeded / tasks,
      isMet: succeeded === tasks && dead === 0 && lost === 0,
      note: `${tasks - before.succeeded} were open when it began; ${lost} lost, ${done.length - new Set(done).size} handlers ran again after the outage`,
    }
  } finally {
    await worker.stop()
    await client.close()
  }
}
