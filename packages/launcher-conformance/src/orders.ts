// Orders as the orchestrator makes them, and questions about them as the reconciliation asks.

import { setTimeout as pause } from 'node:timers/promises'
import {
  actionName,
  checkedJson,
  type Launcher,
  type LaunchOrder,
  type LaunchRef,
  type LaunchSighting,
  launchKey,
  leaseToken,
  retryToken,
  taskId,
  tenantId,
} from '@reprise/core'

const TIMEOUT_MS = 60_000
const VOID_MS = 20_000
const ASK_MS = 20
/** Bounds a wait that never ends: nobody measures by it. On a busy machine a launcher that hung is left alone for 30 s. */
const WAIT_MS_MAX = 120_000

export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000
export const never: AbortSignal = new AbortController().signal

let serial = 0

export function orderFor(action: string, changes: Partial<LaunchOrder> = {}): LaunchOrder {
  serial += 1
  const id = changes.taskId ?? taskId(`task ${serial}`)
  const attempt = changes.attempt ?? 1
  return {
    key: launchKey({ taskId: id, acceptedAt: 1_000, attempt }),
    taskId: id,
    attempt,
    token: leaseToken(`token-${serial}`),
    action: actionName(action),
    tenant: tenantId('acme'),
    payload: checkedJson('{"page":7}', 'payload'),
    labels: { team: 'blue' },
    retryToken: retryToken('retry-1'),
    timeoutMs: TIMEOUT_MS,
    voidAt: monotonicMs() + VOID_MS,
    ...changes,
  }
}

/** As the reconciliation asks: always with the token. */
export const refOf = ({ key, token }: LaunchOrder, handle: string | null): LaunchRef => ({ key, handle, token })

export async function sightingOf(launcher: Launcher, ref: LaunchRef): Promise<LaunchSighting> {
  const [seen] = await launcher.look([ref])
  if (seen === undefined) throw new Error('look() answered nothing.')
  return seen
}

/** Asks until the answer is another one than 'unknown', or than those that are passed over. */
export async function knownSighting(
  launcher: Launcher,
  ref: LaunchRef,
  passOver: readonly LaunchSighting['status'][] = [],
): Promise<LaunchSighting> {
  const deadline = monotonicMs() + WAIT_MS_MAX
  for (;;) {
    const seen = await sightingOf(launcher, ref)
    if ((seen.status !== 'unknown' && !passOver.includes(seen.status)) || monotonicMs() > deadline) return seen
    await pause(ASK_MS)
  }
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = monotonicMs() + WAIT_MS_MAX
  while (!(await holds())) {
    if (monotonicMs() > deadline) throw new Error(`It never came to this: ${what}.`)
    await pause(ASK_MS)
  }
}
