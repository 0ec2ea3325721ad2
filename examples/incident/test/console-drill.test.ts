// The operator's minute in the browser, small: with mouse and keyboard alone the cause is found and everything but the poison
// recovered. `npm run drill:console` does it with 10,000 failures, on both engines.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PROGRAM, runConsoleDrill } from '../src/console-drill.ts'

const TASKS = 400

test.runIf(existsSync(PROGRAM))(
  'an operator finds the cause in at most 4 actions, and recovers all but the poison in at most 8, in the browser',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-drill-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const engine = `sqlite:${join(folder, 'reprise.db')}`
    const { seconds, ...result } = await runConsoleDrill({
      kind: 'sqlite',
      engine,
      tasks: TASKS,
      folder,
      tell: () => undefined,
    })
    expect(seconds).toBeGreaterThan(0)
    expect(result).toEqual({
      engine: 'sqlite',
      actionsToCause: 3,
      actions: 8,
      recovered: TASKS / 2 - TASKS / 200,
      wronglyRerun: 0,
      poisonAttempts: 0,
    })
  },
  300_000,
)
