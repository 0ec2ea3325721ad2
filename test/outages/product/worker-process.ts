// A worker process for the outage tests: node worker-process.ts <address> [lease]. The address is that of a store, or of a server,
// with its token in the environment. Over its channel to the test it says 'ready',
// { begun: task id } for each held handler and { error: code } for what it meets; 'let go' ends the held handlers. It
// works until it is told to stop by SIGTERM.

import { isRepriseError, silentLogger } from '@reprise/core'
import { createWorker, stopOnSignals } from '@reprise/worker'
import { heldAction, quick } from './actions.ts'

const say = (message: unknown): void => void (process.connected && process.send?.(message))
const release = Promise.withResolvers<void>()
process.on('message', (message) => {
  if (message === 'let go') release.resolve()
})

const [, , address = '', lease = ''] = process.argv
const isServer = address.startsWith('http:')
const worker = await createWorker({
  ...(isServer ? { url: address, token: process.env.TOKEN ?? '' } : { engine: address }),
  ...(lease === '' ? {} : { lease, ...(isServer ? {} : { sweep: false }) }),
  actions: [
    quick,
    heldAction((taskId) => {
      say({ begun: taskId })
      return release.promise
    }),
  ],
  concurrency: 20,
  log: silentLogger,
  onError: (error) => say({ error: isRepriseError(error) ? error.code : String(error) }),
})
stopOnSignals(worker)
// The channel alone must not keep it alive once it has stopped.
void worker.drained.then(() => process.disconnect?.())
say('ready')
