// The operator's minute, small: the pager rings, and with the command line alone the cause is found, everything but the poison
// recovered by a runbook, and the post-mortem written.
// `npm run drill` does it with 10,000 failures, on both engines.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { type DrillResult, runDrill } from '../src/drill.ts'

/** Half of them are eu's, of which one in a hundred is poisoned. */
const TASKS = 400
const KINDS: readonly DrillResult['engine'][] = process.env.REPRISE_LONG === '1' ? ['sqlite', 'redis'] : ['sqlite']

test.each(KINDS)(
  'B3, B4: from the pager an operator finds the cause in at most 3 commands; in at most 5 all but the poison has recovered and the post-mortem is there (%s)',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-drill-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const redis = kind === 'redis' ? await startRedis() : null
    onTestFinished(() => redis?.stop())
    const engine = redis?.url ?? `sqlite:${join(folder, 'reprise.db')}`
    const postMortem = join(folder, 'post-mortem.md')
    const options = { kind, engine, tasks: TASKS, folder, postMortem, tell: () => undefined }
    const { seconds, ...result } = await runDrill(options)
    expect(seconds).toBeGreaterThan(0)
    const recovered = TASKS / 2 - TASKS / 200
    expect(result).toEqual({
      engine: kind,
      commandsToCause: 2,
      commands: 5,
      // Four causes of the deploy, and poison of two actions.
      pages: 6,
      pagesClosed: 4,
      recovered,
      wronglyRerun: 0,
      poisonAttempts: 0,
    })
    const text = readFileSync(postMortem, 'utf8')
    expect(text).toContain(`tasks that recovered: ${recovered}`)
    for (const kindOfLine of ['deploy', 'failures', 'alert', 'work_order', 'runbook', 'redrive', 'recoveries']) {
      expect(text).toContain(`| ${kindOfLine} |`)
    }
  },
  300_000,
)
