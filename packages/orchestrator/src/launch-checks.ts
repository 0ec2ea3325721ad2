// What the options of a launch pool's two services may be. The launch service and the reconciliation of one pool are given
// the same options, so each knows those of the other.

import { refuseNoEngine } from '@reprise/core'
import type { LaunchOptions } from './launch.ts'
import { LaunchLedger } from './launch-ledger.ts'
import {
  backoff,
  type Checks,
  checkOptions,
  func,
  having,
  ms,
  msFrom0,
  SERVICE_CHECKS,
  text,
  whole,
} from './option-checks.ts'
import type { ReconcileOptions } from './reconcile.ts'

/** Those that an orchestrator passes on. */
export const LAUNCH_CHECKS = {
  leaseMs: ms,
  backoff,
  launchFailuresMax: whole(1),
  endGraceMs: msFrom0,
  systemMonotonic: func,
  at: func,
  intervalMs: ms,
  graceMs: msFrom0,
} as const

export const isLauncher = having('launch', 'look', 'end', 'forget')

const CHECKS: Checks<LaunchOptions & ReconcileOptions> = {
  ...SERVICE_CHECKS,
  ...LAUNCH_CHECKS,
  launcher: isLauncher,
  ledger: (value) => (value instanceof LaunchLedger ? null : 'a LaunchLedger'),
  id: text,
}

export function checkLaunchOptions(options: LaunchOptions | ReconcileOptions, who: string): void {
  checkOptions<LaunchOptions & ReconcileOptions>(options, CHECKS, 'launch option', ['launcher', 'ledger'])
  refuseNoEngine(options.engine, 'launches', who)
}
