// The operator's minute, small: with the command line alone the cause is found and everything but the poison recovered.
// `npm run drill` does it with 10,000 failures, on both engines.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { type DrillResult, runDrill } from '../src/drill.ts'

/** Half of them are eu's, of which one in a hundred is poisoned. */
const TASKS = 400
const KINDS: readonly DrillResult['engine'][] = process.env.REPRISE_LONG === '1' ? ['sqlite', 'redis'] : ['sqlite']

test.each(KINDS)(
  'an operator finds the cause in at most 3 commands, and recovers all but the poison in at most 5 (%s)',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-drill-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const redis = kind === 'redis' ? await startRedis() : null
    onTestFinished(() => redis?.stop())
    const engine = redis?.url ?? `sqlite:${join(folder, 'reprise.db')}`
    const { seconds, ...result } = await runDrill({ kind, engine, tasks: TASKS, folder, tell: () => undefined })
    expect(seconds).toBeGreaterThan(0)
    const recovered = TASKS / 2 - TASKS / 200
    expect(result).toEqual({
      engine: kind,
      commandsToCause: 2,
      commands: 4,
      recovered,
      wronglyRerun: 0,
      poisonAttempts: 0,
    })
  },
  300_000,
)
