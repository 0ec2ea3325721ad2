// A small storm. `npm run console:storm` is the one with a million tasks, and looks at how long the browser is held up as well:
// that is for a machine that does nothing else.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { faultsOf } from './limits.ts'
import { runStorm } from './storm.ts'

test.runIf(process.env.REPRISE_CONSOLE === '1')(
  'in a storm of failures the pages keep no more and more, and are right at the end',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-storm-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const result = await runStorm({
      file: join(folder, 'storm.db'),
      folder,
      tasks: 20_000,
      causes: 500,
      eventsPerS: 1_000,
      seconds: 8,
      tell: () => undefined,
    })
    expect(result.tasks).toBeGreaterThan(20_000)
    expect(faultsOf({ ...result, longestMs: { failures: 0, task: 0 } })).toEqual([])
  },
  180_000,
)
