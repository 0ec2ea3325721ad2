// The example as a real process, on both engines: it ends by itself, tells the whole story, and leaves nothing behind.

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

async function output(args: readonly string[]): Promise<readonly string[]> {
  const temporary = mkdtempSync(join(tmpdir(), 'reprise-example-test-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const command = ['--conditions=reprise-source', '--no-warnings', MAIN, ...args]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, {
    env: { ...process.env, TMPDIR: temporary },
    timeout: RUN_MS_MAX,
  })
  expect(stderr).toBe('')
  expect(readdirSync(temporary)).toEqual([])
  return stdout.trimEnd().split('\n')
}

async function redisArguments(): Promise<readonly string[]> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return ['--engine', redis.url]
}

test.each([
  { name: 'sqlite', args: async () => [] },
  { name: 'redis', args: redisArguments },
])(
  'B2, B3, B4: npm run example:recovery-loop goes from the first failure to the last recovery, on $name',
  async ({ name, args }) => {
    expect(await output(await args())).toEqual([
      'A failure, and a delayed retry',
      '  attempt 1: failed, The bank answered 503.',
      '  attempt 2: succeeded',
      '  Nobody was called.',
      '',
      'An outage, and an escalation',
      '  The bank is down. 12 tasks died after a retry each.',
      expect.stringMatching(/^ {2}The pager rings once: \w+, .*money\.transfer/),
      '  One work order for all of them: money.transfer, normal, open.',
      '  Ann takes it. The pager stops ringing.',
      '',
      'A runbook, and the recovery',
      '  Suggested for this cause: replay-after-outage, because the code is HTTP_503.',
      '  It asks: Is what these tasks depend on back, and able to take 1000 per second more?',
      '  The bank is back. Ann says yes.',
      '  done: There are dead letters of this cause',
      '  done: Is the dependency back?',
      '  done: Send them back in stages',
      '  done: No more of them are dead',
      expect.stringMatching(/^ {2}The work order is resolved by itself: ./),
      '  The pager hears that it is over.',
      '',
      `Shown on ${name}: 13 of 13 tasks succeeded, and the bank made 13 transfers. 1 work order and 1 page for 12 dead letters; both closed by themselves.`,
    ])
  },
  RUN_MS_MAX,
)
