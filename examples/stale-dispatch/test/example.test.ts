// The example as real processes, on each engine: it ends by itself, and its last line says what was shown.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')
const RUN_MS_MAX = 90_000

async function redisArguments(): Promise<readonly string[]> {
  const redis = await startRedis({ appendonly: true })
  onTestFinished(() => redis.stop())
  return ['--engine', redis.url]
}

test.each([
  { name: 'sqlite', args: async () => [] },
  { name: 'redis', args: redisArguments },
])(
  'D1, D2, D3, D4, D5: npm run example:stale-dispatch shows what it says, on $name',
  async ({ args }) => {
    const command = ['--conditions=reprise-source', '--no-warnings', MAIN, ...(await args())]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { timeout: RUN_MS_MAX })
    expect(stderr).toBe('')
    expect(stdout.trimEnd().split('\n')).toEqual([
      '4 workers are alive. A task for gpu-2: dragon.png by gpu-2',
      'Their host was killed. The registry still has 4 workers; none is alive.',
      'With the old picture: put off as stale_worker after 3 re-picks (render on gpu-2, render on gpu-1, render on gpu-3).',
      'With the true picture: put off as no_workers, without a re-pick.',
      'gpu-9 appears while the dispatcher picks again: harbour.png by gpu-9',
      'Those that were put off: castle.png by gpu-9, forest.png by gpu-9',
      expect.stringMatching(/^Heartbeats are late by p50 [\d.]+ s, p90 [\d.]+ s, p99 [\d.]+ s, max [\d.]+ s\.$/),
      'Shown: 3 re-picks, then stale_worker, apart from no_workers; a worker that appeared during the loop ran the task; 4 of 4 tasks succeeded.',
    ])
  },
  RUN_MS_MAX,
)
