// Loaded into the server's process before anything else: watches how late its event loop is, and how much memory it takes.
// From one tick to the next it tells two things apart: how long the loop was late at all, and how much of that the process was
// at work. The rest is the machine's: the processor was with others, or the disk was slow.

import { readFileSync } from 'node:fs'

export interface LoopFigures {
  /** The longest that the loop was late, less the time in which the processor was with other processes. */
  readonly loopDelayMs: number
  /** The longest that the process itself was at work meanwhile. */
  readonly loopWorkMs: number
  /** The most memory that was seen at a tick. */
  readonly memoryMb: number
}

const TICK_MS = 5
const MEGABYTE = 1_048_576
const MEMORY_EVERY_TICKS = 4

let loopDelayMs = 0
let loopWorkMs = 0
let memoryMb = 0
let ticks = 0
let lastAt = performance.now()
let last = threadTimes()

/** How long this thread has run, and how long it was ready to run and did not. Null where the system does not tell. */
function threadTimes(): { readonly workMs: number; readonly queuedMs: number } | null {
  try {
    const [work, queued] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')
    return { workMs: Number(work) / 1e6, queuedMs: Number(queued) / 1e6 }
  } catch {
    return null
  }
}

function tick(): void {
  const now = performance.now()
  const times = threadTimes()
  const lateMs = Math.max(now - lastAt - TICK_MS, 0)
  const queuedMs = times === null || last === null ? 0 : times.queuedMs - last.queuedMs
  const workMs = times === null || last === null ? lateMs : times.workMs - last.workMs
  loopDelayMs = Math.max(loopDelayMs, lateMs - queuedMs)
  loopWorkMs = Math.max(loopWorkMs, Math.min(lateMs, workMs))
  if (ticks++ % MEMORY_EVERY_TICKS === 0) memoryMb = Math.max(memoryMb, process.memoryUsage.rss() / MEGABYTE)
  lastAt = now
  last = times
}

setInterval(tick, TICK_MS).unref()

process.on('message', (order) => {
  if (order === 'reset') {
    loopDelayMs = 0
    loopWorkMs = 0
    memoryMb = 0
    lastAt = performance.now()
    last = threadTimes()
  }
  if (order === 'figures') tick()
  const figures: LoopFigures = { loopDelayMs, loopWorkMs, memoryMb }
  process.send?.(figures)
})
process.channel?.unref()
// Nobody would stop it any more.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
