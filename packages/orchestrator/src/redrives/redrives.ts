// The service that moves redrives. Any number of processes may run it: of each redrive one of them holds the lease, and the others
// take over when it has run out. What is long over is removed, with its items.

import { randomUUID } from 'node:crypto'
import { check, type Engine, refuseNoEngine, type Service } from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from '../service.ts'
import { SERVICE_CHECKS } from '../service-checks.ts'
import { ACTIVE, isActive, redrivesIn } from './redrive.ts'
import { removeOld } from './removal.ts'
import { RedriveLost, RedriveRun } from './run.ts'

export interface RedrivesOptions extends ServiceOptions {
  readonly engine: Engine
  /** How often it looks for redrives to move. */
  readonly intervalMs?: number
  /** How long others wait for a process that gives no sign of life, before they go on with its redrives. */
  readonly leaseMs?: number
}

const INTERVAL_MS = 1_000
/** How long one round of one redrive lasts, if there are few: all together stay far below the lease. */
const ROUND_MS = 300
const LEASE_MS = 5_000
/** How many redrives one process moves at once. */
const RUNS_MAX = 20
const REMOVE_EVERY_MS = 600_000

const CHECKS: check.Table<RedrivesOptions> = { ...SERVICE_CHECKS, intervalMs: check.ms, leaseMs: check.ms }

export function createRedrives(options: RedrivesOptions): Service {
  check.options(options, CHECKS, 'redrives option')
  refuseNoEngine(options.engine, 'change', 'createRedrives')
  const around = surroundings('redrives', options)
  const { clock, random, log } = around
  const { engine, intervalMs = INTERVAL_MS, leaseMs = LEASE_MS } = options
  return createLoop('redrives', around, () => {
    const owner = randomUUID()
    const redrives = redrivesIn(engine)
    const runs = new Map<string, RedriveRun>()
    const running = { engine, clock, owner, leaseMs }
    let lookedAt = Number.NEGATIVE_INFINITY
    let removedAt = clock.monotonic()

    const takeOver = async (): Promise<void> => {
      const { items } = await redrives.find({ index: 'active', value: ACTIVE, limit: RUNS_MAX })
      for (const { document } of items) {
        if (runs.has(document.id)) continue
        const run = await RedriveRun.take(running, document.id)
        if (run === null) continue
        runs.set(document.id, run)
        log.info('A redrive is moved by this process.', { redrive: document.id, state: document.state })
      }
    }

    return {
      async round(signal) {
        const now = clock.monotonic()
        if (now - lookedAt >= intervalMs) {
          lookedAt = now
          await takeOver()
        }
        if (now - removedAt >= REMOVE_EVERY_MS) {
          removedAt = now
          await removeOld(engine)
        }
        let restMs = jitteredMs(intervalMs, random)
        const lastsMs = Math.min(ROUND_MS, leaseMs / 4 / Math.max(1, runs.size))
        const errors: unknown[] = []
        for (const [id, run] of runs) {
          if (signal.aborted) break
          try {
            restMs = Math.min(restMs, await run.round(lastsMs))
            if (!isActive(run.redrive)) runs.delete(id)
          } catch (error) {
            runs.delete(id)
            if (!(error instanceof RedriveLost)) errors.push(error)
          }
        }
        // One that fails keeps no other from going on.
        if (errors.length > 0) throw errors[0]
        return restMs
      },
      async leave() {
        for (const run of runs.values()) {
          await run.release().catch((error: unknown) => {
            if (!(error instanceof RedriveLost)) throw error
          })
        }
      },
    }
  })
}
