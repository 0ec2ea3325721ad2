// The example of a launch pool, as a real process: it ends by itself, says what became of each task, and leaves nothing.

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = join(import.meta.dirname, '..', '..', 'examples', 'launch-pool', 'src', 'main.ts')
const RUN_MS_MAX = 60_000

test(
  'A7: each task of a launch pool becomes a command, and its end the end of the task',
  async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'reprise-example-test-'))
    onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--conditions=reprise-source', MAIN], {
      env: { ...process.env, TMPDIR: temporary },
      timeout: RUN_MS_MAX,
    })
    expect(stderr).toBe('')
    expect(stdout.split('\n')).toEqual([
      'to be or not to be: 6 words',
      'that is the question: 4 words',
      '; rm -rf / $(is no command here): 8 words',
      expect.stringMatching(
        /^read-file is a dead letter, code EXIT_1: cat: .*missing\.txt: No such file or directory$/,
      ),
      '4 accepted, 3 succeeded, 1 dead.',
      '',
    ])
    expect(readdirSync(temporary)).toEqual([])
  },
  RUN_MS_MAX,
)
