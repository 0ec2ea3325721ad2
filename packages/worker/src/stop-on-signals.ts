// Stops a worker when the process is asked to end. The library hooks no signal by itself: an application calls this,
// or does it in its own way. The process then ends by itself, once nothing else keeps it.

import type { Worker } from './worker.ts'

type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/** What is needed of `process`; a test gives its own. */
export interface SignalSource {
  on(signal: SignalName, listener: () => void): unknown
  off(signal: SignalName, listener: () => void): unknown
}

const SIGNALS: readonly SignalName[] = ['SIGTERM', 'SIGINT', 'SIGHUP']

/** The first signal stops gracefully, a second one at once. Returns what takes the hooks away again. */
export function stopOnSignals(worker: Pick<Worker, 'stop'>, source: SignalSource = process): () => void {
  let asked = false
  const unhook = (): void => {
    for (const signal of SIGNALS) source.off(signal, listener)
  }
  const listener = (): void => {
    const stopping = asked ? worker.stop({ grace: 0 }) : worker.stop()
    asked = true
    // stop() reports its own troubles through onError; the hooks go either way.
    void stopping.then(unhook, unhook)
  }
  for (const signal of SIGNALS) source.on(signal, listener)
  return unhook
}
