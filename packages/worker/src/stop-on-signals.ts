// Stops a worker when the process is asked to end. The library hooks no signal by itself: an application calls this,
// or does it in its own way. The process then ends by itself, once nothing else keeps it. Handlers that did not end in the grace
// time are not waited for: their tasks are back in the queue, so that the process ends before they have an effect.

import type { Worker } from './worker.ts'

type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/** What is needed of `process`; a test gives its own. */
export interface SignalSource {
  on(signal: SignalName, listener: () => void): unknown
  off(signal: SignalName, listener: () => void): unknown
  /** Ends the process, with the exit code that was set. */
  exit(): unknown
}

const SIGNALS: readonly SignalName[] = ['SIGTERM', 'SIGINT', 'SIGHUP']

/** The first signal stops gracefully, a second one at once. Returns what takes the hooks away again. */
export function stopOnSignals(worker: Pick<Worker, 'stop' | 'stats'>, source: SignalSource = process): () => void {
  let asked = false
  const unhook = (): void => {
    for (const signal of SIGNALS) source.off(signal, listener)
  }
  const listener = (): void => {
    const stopping = asked ? worker.stop({ grace: 0 }) : worker.stop()
    asked = true
    // stop() reports its own troubles through onError, and never rejects.
    void stopping.then(() => {
      unhook()
      if (worker.stats().abandoned > 0) source.exit()
    })
  }
  for (const signal of SIGNALS) source.on(signal, listener)
  return unhook
}
