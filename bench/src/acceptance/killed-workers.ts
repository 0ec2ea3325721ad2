// Duplicate execution: workers are killed in the midst of their work (kill -9), and their tasks run again, as the next attempt. How many
// attempts were executed twice, and how many effects were committed twice, is counted from what the workers wrote down.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, defineAction } from '@reprise/client'
import { type Bounds, countsUntil, percent, type Row } from './row.ts'

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const KILLS = 3
const TOO_MANY = 0.005

export const PAID = { name: 'acceptance.pay', maxLosses: 20 } as const

export async function killedWorkers(engine: string, { tasks }: Bounds): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-acceptance-'))
  const client = await createClient({ engine })
  try {
    const action = defineAction<{ readonly number: number }>(PAID)
    await client.submitMany(
      action,
      Array.from({ length: tasks }, (_, number) => ({ number })),
    )
    for (let kills = 0; kills <= KILLS; kills++) {
      const worker = fork(WORKER, [engine, folder], { execArgv: process.execArgv })
      await once(worker, 'message')
      const share = (kills + 1) / (KILLS + 1)
      const isLast = kills === KILLS
      const enough = isLast ? tasks : Math.floor(tasks * share * 0.8)
      await countsUntil(client, `${enough} tasks have succeeded`, ({ succeeded }) => succeeded >= enough)
      const ended = once(worker, 'exit')
      worker.kill('SIGKILL')
      await ended
    }
    const { succeeded, dead } = await client.counts()
    const [executions, commits] = [linesOf(folder, 'executions'), linesOf(folder, 'commits')]
    const share = repeated(executions) / executions.length
    const committedTwice = repeated(commits)
    // The file is the effect: a kill right after it was made leaves no line.
    const effects = readdirSync(folder).filter((name) => name.startsWith('effect-')).length
    const isWhole = succeeded === tasks && dead === 0 && effects === tasks
    return {
      criterion: 'duplicate execution',
      wanted: `below ${percent(TOO_MANY)}, and none committed twice`,
      measured: `${percent(share)}, ${committedTwice} committed twice`,
      value: share,
      isMet: share < TOO_MANY && committedTwice === 0 && isWhole,
      note: `of ${executions.length} executions no two may be of one attempt; ${executions.length - tasks} were repeats after ${KILLS} kills`,
    }
  } finally {
    await client.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const repeated = (lines: readonly string[]): number => lines.length - new Set(lines).size

function linesOf(folder: string, name: string): readonly string[] {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}
