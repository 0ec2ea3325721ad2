// The example as a real process, on both engines: it ends by itself, says what became of each task, and what was shown.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

/** For what hangs: it takes seconds on a machine that does nothing else. */
const RUN_MS_MAX = 240_000
const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')

async function output(...argv: readonly string[]): Promise<readonly string[]> {
  const temporary = mkdtempSync(join(tmpdir(), 'reprise-example-test-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const flags = ['--conditions=reprise-source', '--no-warnings']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, MAIN, ...argv], {
    env: { ...process.env, TMPDIR: temporary },
    timeout: RUN_MS_MAX,
  })
  expect(stderr).toBe('')
  expect(readdirSync(temporary)).toEqual([])
  return stdout.trim().split('\n')
}

const shownOn = (kind: string): readonly unknown[] => [
  "5 tasks are sent to the queue 'work', implement-1 twice.",
  'implement-1: attempt 1 succeeded',
  expect.stringMatching(/^implement-2: attempt 1 lost \(.*MEMORY.*\), attempt 2 succeeded$/),
  'digest-1: attempt 1 succeeded',
  'digest-2: attempt 1 succeeded',
  'hunt-1: attempt 1 failed (CLONE_FAILED)',
  'An operator retries hunt-1: 202 {"taskId":"hunt-1","attempt":2,"status":"queued"}',
  'hunt-1: attempt 1 failed (CLONE_FAILED), attempt 2 succeeded',
  "A second retry is refused: 409 cannot retry execution in status 'succeeded'",
  `Shown on ${kind}: 5 tasks came by SQS and ended once each in ECS; the duplicate started nothing, 1 container that vanished was found and replaced, the retry went out as attempt 2, the queue is empty.`,
]

test(
  'A7, A10, A11: on SQLite, tasks of SQS run in ECS, and an operator retries the one that failed',
  async () => {
    expect(await output()).toEqual(shownOn('sqlite'))
  },
  RUN_MS_MAX,
)

test(
  'A7, A10, A11: on Redis, the same',
  async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    expect(await output('--engine', redis.url)).toEqual(shownOn('redis'))
  },
  RUN_MS_MAX,
)
