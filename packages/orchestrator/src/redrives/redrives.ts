// The service that moves redrives. Any number of processes may run it: of each redrive one of them holds the lease, and the others
// take over when it has run out. What is long over is removed, with its items.

import { randomUUID } from 'node:crypto'
import { check, type Engine, isRepriseError, refuseNoEngine, type Service } from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from '../service.ts'
import { SERVICE_CHECKS } from '../service-checks.ts'
import { MovedRedrives } from './moved.ts'
import { RedriveLost } from './open-chunks.ts'
import { isActive } from './redrive.ts'
import { removeOld } from './removal.ts'

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
const REMOVE_EVERY_MS = 600_000

const CHECKS: check.Table<RedrivesOptions> = { ...SERVICE_CHECKS, intervalMs: check.ms, leaseMs: check.ms }

export function createRedrives(options: RedrivesOptions): Service {
  check.options(options, CHECKS, 'redrives option')
  refuseNoEngine(options.engine, 'change', 'createRedrives')
  const around = surroundings('redrives', options)
  const { clock, random, log, onError } = around
  const { engine, intervalMs = INTERVAL_MS, leaseMs = LEASE_MS } = options
  return createLoop('redrives', around, () => {
    const moved = new MovedRedrives({ engine, clock, owner: randomUUID(), leaseMs }, log)
    let lookedAt = Number.NEGATIVE_INFINITY
    let removedAt = clock.monotonic()
    return {
      async round(signal) {
        const now = clock.monotonic()
        if (now - lookedAt >= intervalMs) {
          lookedAt = now
          await moved.takeOver()
        }
        if (now - removedAt >= REMOVE_EVERY_MS) {
          removedAt = now
          await removeOld(engine)
        }
        const due = moved.due()
        const lastsMs = Math.min(ROUND_MS, leaseMs / 4 / Math.max(1, due.length))
        for (const one of due) {
          if (signal.aborted) break
          try {
            const ownRestMs = await one.run.round(lastsMs)
            if (isActive(one.run.redrive)) moved.rest(one, ownRestMs)
            else moved.drop(one)
          } catch (error) {
            moved.drop(one)
            if (error instanceof RedriveLost) continue
            if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) throw error
            // One that fails keeps no other from going on, or from going on soon.
            moved.setAside(one)
            log.error('A redrive met an error and will be tried again.', { redrive: one.run.redrive.id, error })
            onError(error)
          }
        }
        return Math.min(jitteredMs(intervalMs, random), moved.restMs())
      },
      leave: () => moved.release(),
    }
  })
}
