// The example as a real process, on each engine: it ends by itself, and its last line says what was shown.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')
const RUN_MS_MAX = 90_000

async function run(args: readonly string[]): Promise<readonly string[]> {
  const command = ['--conditions=reprise-source', '--no-warnings', MAIN, ...args]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { timeout: RUN_MS_MAX })
  expect(stderr).toBe('')
  return stdout.trimEnd().split('\n')
}

async function redisArguments(): Promise<readonly string[]> {
  const redis = await startRedis({ appendonly: true })
  onTestFinished(() => redis.stop())
  return ['--engine', redis.url]
}

test.each([
  { name: 'sqlite', args: async () => [] },
  { name: 'redis', args: redisArguments },
])(
  'C1, C2, C3, C4, C5, C6: npm run example:intelligent-retry shows what it says, on $name',
  async ({ args }) => {
    const lines = await run(await args())
    expect(lines.slice(0, 6)).toEqual([
      'page.fetch meets a connection that is refused:',
      '  attempt 1, the original: failed (connection, retriable)',
      expect.stringMatching(/^ {2}attempt 2, retry 1 of 3 because of connection, [1-9]\d* ms later: failed/),
      expect.stringMatching(/^ {2}attempt 3, retry 2 of 3 because of connection, [2-9]\d* ms later: succeeded$/),
      'contact.import gets something that is no address:',
      '  attempt 1, the original: failed (validation, not retriable)',
    ])
    const last =
      /^Shown: .* tried 3 times with growing pauses, a wrong payload once; 400 of 400 tasks .* got (\d+) of (\d+) attempts\.$/
    const [, onSick, all] = last.exec(lines.at(-1) ?? '') ?? []
    // Half of the workers, and far less than half of the work.
    expect(Number(onSick) / Number(all)).toBeLessThan(0.25)
  },
  RUN_MS_MAX,
)
