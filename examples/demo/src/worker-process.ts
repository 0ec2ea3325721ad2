// One worker process of the demo: it claims tasks, runs their handlers and settles them until it is told to stop. The
// demo starts two of these and treats them badly. Arguments: the address of the engine, and the id of this worker.

import { consoleLogger, createWorker, stopOnSignals } from '@reprise/worker'
import { ACTIONS } from './actions.ts'

const [engine, id] = process.argv.slice(2)
if (engine === undefined || id === undefined) throw new Error('Usage: worker-process.ts <engine address> <worker id>')

const worker = await createWorker({
  engine,
  // An id of our own choice: when this process is started again after a crash, the store takes the leases of its former
  // self away at once, and fences it off should it still be alive somewhere.
  id,
  actions: ACTIONS,
  concurrency: 8,
  // Both short, so that the demo ends soon.
  lease: '2s',
  heartbeat: '1s',
  stopGrace: '2s',
  log: consoleLogger({ level: 'error' }),
})

stopOnSignals(worker)
process.send?.('running')
// The demo itself has gone: nobody would ever stop this worker.
process.once('disconnect', () => void worker.stop())

await worker.drained
// The channel to the demo would keep this process alive.
if (process.connected) process.disconnect?.()
