// The example as real processes, on each engine: it ends by itself, and its last line says what was shown.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')
const RUN_MS_MAX = 120_000

async function redisArguments(): Promise<readonly string[]> {
  const redis = await startRedis({ appendonly: true })
  onTestFinished(() => redis.stop())
  return ['--engine', redis.url]
}

test.each([
  { name: 'sqlite', args: async () => [] },
  { name: 'redis', args: redisArguments },
])(
  'E6: npm run example:render shows what it says, on $name',
  async ({ args }) => {
    const command = ['--conditions=reprise-source', '--no-warnings', MAIN, ...(await args())]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { timeout: RUN_MS_MAX })
    expect(stderr).toBe('')
    expect(stdout.trimEnd().split('\n')).toEqual([
      'A job of 120 frames runs on 2 hosts.',
      'Both hosts were killed. The store knows that at least a third is done, and what is left.',
      'Shown: 120 of 120 frames, each once (120 tasks), 12 of them at a second attempt, though everybody was killed; the final step joined them in order into the film that one process would have made.',
    ])
  },
  RUN_MS_MAX,
)
