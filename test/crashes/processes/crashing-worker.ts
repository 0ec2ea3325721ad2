// A worker process for the crash tests: node crashing-worker.ts <engine address> <effects file>. It notes each run of its handler
// in the effects file and on stdout, says 'ready' when it works, and works until it is killed.

import { appendFileSync } from 'node:fs'
import { createWorker, stopOnSignals } from '@reprise/worker'
import { RUN_ENDED, recordEffect } from './effect-action.ts'

const [engine = '', effects = ''] = process.argv.slice(2)
const worker = await createWorker({
  engine,
  actions: [
    recordEffect((line) => {
      appendFileSync(effects, `${line}\n`)
      process.stdout.write(RUN_ENDED)
    }),
  ],
  concurrency: 8,
  lease: '1500ms',
})
stopOnSignals(worker)
process.stdout.write('ready\n')
