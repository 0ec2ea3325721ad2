// A worker of one version of the shop. Arguments: the address of the engine, the version, the region, and the id.

import { consoleLogger, createWorker, stopOnSignals } from '@reprise/worker'
import { actionsOf } from './actions.ts'

const [engine, version, region, id] = process.argv.slice(2)
if (engine === undefined || version === undefined || region === undefined || id === undefined) {
  throw new Error('Usage: worker-process.ts <engine address> <version> <region> <worker id>')
}

const worker = await createWorker({
  engine,
  id,
  version,
  host: `${region}-host`,
  pools: [region],
  actions: actionsOf(version),
  concurrency: 16,
  stopGrace: '2s',
  log: consoleLogger({ level: 'error' }),
})

stopOnSignals(worker)
process.send?.('running')
// Nobody would ever stop this worker.
process.once('disconnect', () => void worker.stop())

await worker.drained
if (process.connected) process.disconnect?.()
