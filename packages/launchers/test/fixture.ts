// Orders and folders for the tests of launchers, and waiting for what a launcher tells.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import { expect, onTestFinished, vi } from 'vitest'
import { monotonicMs } from '../src/monotonic.ts'

export const never = new AbortController().signal

let tokens = 0

export function anOrder(changes: Partial<LaunchOrder> & { readonly id?: string } = {}): LaunchOrder {
  const { id: name = 'task-1', ...rest } = changes
  const id = taskId(name)
  const attempt = changes.attempt ?? 1
  tokens += 1
  return {
    key: launchKey({ taskId: id, acceptedAt: 1_000, attempt }),
    taskId: id,
    attempt,
    token: leaseToken(`token-${tokens}`),
    action: actionName('render'),
    tenant: tenantId('acme'),
    payload: checkedJson('{"page":7}', 'payload'),
    labels: { team: 'blue' },
    retryToken: retryToken('retry-1'),
    timeoutMs: 20_000,
    voidAt: monotonicMs() + 20_000,
    ...rest,
  }
}

export const refOf = (order: LaunchOrder, handle: string | null = null): LaunchRef => ({ key: order.key, handle })

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-launchers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

export async function sighting(launcher: Launcher, ref: LaunchRef): Promise<LaunchSighting> {
  const [first] = await launcher.look([ref])
  if (first === undefined) throw new Error('The launcher answered nothing.')
  return first
}

/** Looks until the launch has this status. */
export async function sightingOnce<Status extends LaunchSighting['status']>(
  launcher: Launcher,
  ref: LaunchRef,
  status: Status,
): Promise<Extract<LaunchSighting, { status: Status }>> {
  const seen = await vi.waitFor(
    async () => {
      const now = await sighting(launcher, ref)
      expect(now.status).toBe(status)
      return now
    },
    { timeout: 15_000, interval: 20 },
  )
  return seen as Extract<LaunchSighting, { status: Status }>
}

/** The end of a launch, told by the launcher and then looked at. */
export async function ended(launcher: Launcher, order: LaunchOrder): Promise<LaunchSighting> {
  const told = Promise.withResolvers<void>()
  const stop = launcher.onEnded?.((key) => {
    if (key === order.key) told.resolve()
  })
  await told.promise
  stop?.()
  return sighting(launcher, refOf(order))
}
