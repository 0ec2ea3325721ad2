// A worker in a process of its own, for the latency across processes. It says when it runs, and stops when its parent
// lets go of it.

import { createWorker } from '@reprise/worker'
import { MODES, type Mode } from './arguments.ts'
import { startedAction } from './latency.ts'
import { CONCURRENCY } from './queue-under-test.ts'
import { openEngine } from './reprise.ts'

const [path = '', wanted] = process.argv.slice(2)
const mode: Mode = MODES.find((name) => name === wanted) ?? 'durable'

const engine = await openEngine(path, mode)
const worker = await createWorker({ engine, actions: [startedAction], concurrency: CONCURRENCY })

process.once('disconnect', () => {
  void worker.stop().then(() => engine.close())
})
process.send?.('running')
