// Notices workers whose clock is not that of this process. A store of its own process (SQLite) has the time of the host that
// writes, and a heartbeat is noted with it: processes with different clocks would end each other's leases, and start tasks
// early or late. A store with a clock of its own never gives cause for this.
//
// A worker that was heard of between two looks beat between them, so its time must lie between those of the looks. If it
// does not, by more than a little, the clocks differ at least by that much. A clock of this host that was set says nothing.

import { formatDuration, type Observing, type Service, type WorkerId } from '@reprise/core'
import { LATE_MS_MAX } from './pause-detector.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'

export interface ClockWatchOptions extends ServiceOptions {
  readonly engine: Pick<Observing, 'workers' | 'now'>
  readonly intervalMs?: number
}

interface Look {
  /** By the time of this process: before and after it looked. */
  readonly from: number
  readonly until: number
  readonly monotonic: number
  readonly beats: ReadonlyMap<WorkerId, number>
}

const INTERVAL_MS = 10_000
/** As many as one look shows: those that share a file are few. */
const WORKERS_MAX = 100
const TELL_EVERY_MS = 3_600_000

export function createClockWatch(options: ClockWatchOptions): Service {
  const around = surroundings('clock watch', options)
  const { engine, intervalMs = INTERVAL_MS } = options
  const { clock, log, random } = around
  return createLoop('clock watch', around, () => {
    let last: Look | null = null
    const told = new Map<WorkerId, number>()
    return {
      async round() {
        const before = last
        const [from, monotonic] = [await engine.now(), clock.monotonic()]
        const { items } = await engine.workers({ limit: WORKERS_MAX })
        const until = await engine.now()
        last = { from, until, monotonic, beats: new Map(items.map(({ worker, lastBeatAt }) => [worker, lastBeatAt])) }
        for (const { worker, aheadMs } of before === null ? [] : differing(before, last)) {
          const toldAt = told.get(worker)
          if (toldAt !== undefined && monotonic - toldAt < TELL_EVERY_MS) continue
          told.set(worker, monotonic)
          log.error(clockSentence(worker, aheadMs), { worker, aheadMs })
        }
        for (const worker of told.keys()) if (!last.beats.has(worker)) told.delete(worker)
        return jitteredMs(intervalMs, random)
      },
    }
  })
}

/** Workers that beat between two looks, at another time than that. */
function differing(before: Look, after: Look): readonly { readonly worker: WorkerId; readonly aheadMs: number }[] {
  const setMs = after.from - before.from - (after.monotonic - before.monotonic)
  if (Math.abs(setMs) > LATE_MS_MAX) return []
  return [...after.beats].flatMap(([worker, beatAt]) => {
    const known = before.beats.get(worker)
    if (known === undefined || known === beatAt) return []
    const aheadMs = beatAt > after.until ? beatAt - after.until : Math.min(0, beatAt - before.from)
    return Math.abs(aheadMs) > LATE_MS_MAX ? [{ worker, aheadMs }] : []
  })
}

const clockSentence = (worker: WorkerId, aheadMs: number): string => {
  const apart = `${formatDuration(Math.abs(aheadMs))} or more ${aheadMs > 0 ? 'ahead of' : 'behind'} this process`
  return `The clock of worker ${worker} is ${apart}. On this store leases and due times go by the clocks of the processes: set all by NTP.`
}
