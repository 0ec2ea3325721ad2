// Everything that a durable job needs, in one process, for the crash tests: node crashing-job-host.ts <engine address>. A service
// that moves jobs, a sweep and a worker; it says 'ready' when they run, and works until it is killed.

import { connectEngine } from '@reprise/connect'
import { silentLogger } from '@reprise/core'
import { createOrchestrator } from '@reprise/orchestrator'
import { createWorker, defineAction } from '@reprise/worker'

const { engine } = await connectEngine(process.argv[2] ?? '')
const square = defineAction({
  name: 'square',
  run: async (n: number) => {
    await new Promise((resolve) => setTimeout(resolve, n % 7))
    return n * n
  },
})
await createOrchestrator({ engine, log: silentLogger }).start()
await createWorker({ engine, actions: [square], concurrency: 20, lease: '1500ms', log: silentLogger })
process.stdout.write('ready\n')
