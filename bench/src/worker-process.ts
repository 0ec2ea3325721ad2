// A worker in a process of its own: told by its only argument whose worker it is, it works until its parent lets go of
// it, and tells the parent of every start if it is asked to.

import { openFullQueue } from './contestants.ts'
import { type Handler, succeedAlways } from './queue-under-test.ts'
import { moment, type Started, type WorkerRequest } from './worker-elsewhere.ts'

const { store, side, tellFrom } = JSON.parse(process.argv[2] ?? 'null') as WorkerRequest

const tellStart: Handler = ({ number }) => {
  if (number < (tellFrom ?? 0)) return 'succeeds'
  const started: Started = { number, moment: moment(), at: Date.now() }
  process.send?.(started)
  return 'succeeds'
}

const queue = await openFullQueue(store, side)

function stop(): void {
  // The one who let go waits for the end of this process, not for what is still to be done.
  void queue.close().finally(() => process.exit())
}

// It may have let go before this process was ready.
if (process.connected) process.once('disconnect', stop)
else stop()
await queue.process(Number.POSITIVE_INFINITY, tellFrom === null ? succeedAlways : tellStart)
