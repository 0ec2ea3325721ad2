// The processes of chunks lead groups of their own, so Ctrl-C at a terminal reaches only the process that started them. When that one
// ends, they end too: nobody would hear of what they do. A process that handles a signal itself decides itself what ends, at the
// first one. At the second it ends: its listeners may all have left it to each other.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const groups = new Set<number>()
let isAsked = false

/** From now on the group ends with this process. Gives what takes that back. */
export function endWithUs(group: number): () => void {
  if (groups.size === 0) listen()
  groups.add(group)
  return () => {
    if (groups.delete(group) && groups.size === 0) leave()
  }
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal)
  } catch {
    // The group has just ended.
  }
}

function listen(): void {
  process.on('exit', endAll)
  // First: a listener for one signal only is no longer counted once it was called.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal)
}

function leave(): void {
  isAsked = false
  process.off('exit', endAll)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function endAll(): void {
  for (const group of groups) signalGroup(group, 'SIGTERM')
}

/** Does what would have happened without a listener of ours. */
function onSignal(signal: NodeJS.Signals): void {
  const isOthers = process.listenerCount(signal) > 1 && !isAsked
  isAsked = true
  if (isOthers) return
  endAll()
  leave()
  process.kill(process.pid, signal)
}
