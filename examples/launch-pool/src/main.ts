// A launch pool in one process: each task becomes a command that runs by itself, without a shell, and what the command
// prints is the task's result. Run it with
//
//   node --conditions=reprise-source examples/launch-pool/src/main.ts
//
// It needs Linux, as the process launcher does, keeps everything in a temporary directory and ends by itself.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, defineAction, TaskFailedError } from '@reprise/client'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createProcessLauncher } from '@reprise/launchers'
import { createOrchestrator } from '@reprise/orchestrator'

// Declared without a run function: the launcher knows what to start.
const countWords = defineAction({ name: 'count-words', pool: 'jobs', timeout: '1m' })
const readFile = defineAction({ name: 'read-file', pool: 'jobs', timeout: '1m' })

const folder = mkdtempSync(join(tmpdir(), 'reprise-launch-pool-'))
const engine = await openSqliteEngine({ path: join(folder, 'reprise.db') })
const launcher = createProcessLauncher({
  directory: join(folder, 'runs'),
  commands: {
    // The payload comes on standard input.
    'count-words': { argv: ['wc', '-w'] },
    'read-file': { argv: ['cat', join(folder, 'missing.txt')], env: { LC_ALL: 'C' } },
  },
})
const orchestrator = createOrchestrator({ engine, launchPools: [{ pool: 'jobs', launcher, slots: 2 }] })
await orchestrator.start()

const client = await createClient({ engine })
const texts = ['to be or not to be', 'that is the question', '; rm -rf / $(is no command here)']
const counts = await client.submitMany(countWords, texts)
for (const [index, task] of counts.entries()) console.log(`${texts[index]}: ${String(await task.result())} words`)

const doomed = await client.submit(readFile, null)
try {
  await doomed.result()
} catch (error) {
  if (!(error instanceof TaskFailedError)) throw error
  console.log(`read-file is a dead letter, code ${error.failure?.code ?? 'none'}: ${error.failure?.message ?? ''}`)
}

const { accepted, succeeded, dead } = await client.counts()
console.log(`${accepted} accepted, ${succeeded} succeeded, ${dead} dead.`)

await orchestrator.stop()
await client.close()
await engine.close()
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
