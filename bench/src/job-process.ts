// What a durable job needs beside its store, as two processes: `job-process.ts moves <engine>` moves jobs and sweeps, `works` runs the
// chunks. Each says 'ready', and goes on until it is killed.

import { flushCompileCache } from 'node:module'
import { connectEngine } from '@reprise/connect'
import { createOrchestrator } from '@reprise/orchestrator'
import { consoleLogger, createWorker, defineAction } from '@reprise/worker'
import { JOB_ACTION } from './job.ts'
import { CONCURRENCY } from './queue-under-test.ts'

const [part = '', address = ''] = process.argv.slice(2)
const log = consoleLogger({ level: 'error' })
const { engine } = await connectEngine(address)
if (part === 'moves') {
  await createOrchestrator({ engine, log }).start()
} else {
  const chunk = defineAction({ name: JOB_ACTION, run: async (place: number) => place })
  await createWorker({ engine, actions: [chunk], concurrency: CONCURRENCY, lease: '1s', log })
}
process.stdout.write('ready\n')
// It will be killed, and what is compiled would only be kept at an exit.
flushCompileCache()
