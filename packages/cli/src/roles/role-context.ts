// What every role stands on: its log, its metrics, the store (observed), and the policies in force. Opened in one go, and
// closed in the opposite order.

import { type Engine, isRepriseError, type Logger, present, type StoreDamagedError } from '@reprise/core'
import type { Policies } from '@reprise/policies'
import type { MetricsRegistry } from '@reprise/telemetry'
import type { Resolved } from '../configuration/resolve.ts'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import type { Host } from '../host.ts'
import { unlessAskedToEnd, untilAskedToEnd } from './asked-to-end.ts'
import { roleLog } from './log.ts'
import { joinStore } from './shared-store.ts'

export interface RoleContext {
  readonly resolved: Resolved
  readonly host: Host
  readonly log: Logger
  readonly metrics: MetricsRegistry
  readonly engine: Engine
  readonly policies: Policies
  /** Told of what services meet. */
  readonly onError: (error: unknown) => void
  /** What was met that only a new process may go on after; null if nothing. */
  damage(): StoreDamagedError | null
  /** Until somebody asks for the end, or the store takes nothing more from this process. */
  untilEnd(): Promise<void>
  close(): Promise<void>
}

/** Throws `AskedToEndError` if somebody asks for the end while the store is waited for. */
export function openRoleContext(resolved: Resolved, host: Host, service: string): Promise<RoleContext> {
  return unlessAskedToEnd(host, open(resolved, host, service), (late) => late.close())
}

async function open(resolved: Resolved, host: Host, service: string): Promise<RoleContext> {
  const { connectEngine } = await import('@reprise/connect')
  const { openPolicies } = await import('@reprise/policies')
  const { createRegistry, observedEngine } = await import('@reprise/telemetry')
  const { clock } = host
  host.stay()
  const log = await roleLog(resolved.values, host, service)
  const address = storeAddress(resolved)
  const mended = await makeRoom(address, resolved.values.data)
  if (mended !== null) log.warn(mended)
  const metrics = createRegistry()
  const connection = await connectEngine(address, present({ healthThresholds: resolved.values.healthThresholds }))
  try {
    // A worker settles what it claimed itself: nothing has to be remembered in between.
    const leases = service === 'worker' ? { maxLeases: 0 } : {}
    const engine = observedEngine(connection.engine, { metrics, log, clock, ...leases })
    const { policies: file } = resolved.values
    const policies = await openPolicies({ engine, log, clock, ...(file === null ? {} : { file }) })
    await policies.start()
    const from = resolved.origins.engine.text
    log.info('The store is open.', { engine: shownAddress(address), from, durability: engine.info.durability })
    if (engine.info.risk !== undefined) log.warn(engine.info.risk)
    let damage: StoreDamagedError | null = null
    const over = new AbortController()
    const onError = (error: unknown): void => {
      if (!isRepriseError(error, 'REPRISE_STORE_DAMAGED') || damage !== null) return
      damage = error
      log.error('The store takes nothing more from this process, which ends. Look at the disk, then start it again.', {
        error,
      })
      over.abort()
    }
    const presence = await joinStore({ resolved, host, engine, log, onError }, service)
    return {
      resolved,
      host,
      log,
      metrics,
      engine,
      policies,
      onError,
      damage: () => damage,
      untilEnd: () => untilAskedToEnd({ asked: AbortSignal.any([host.asked, over.signal]), clock }),
      async close() {
        await presence.stop()
        await policies.stop()
        await connection.close()
      },
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** What started it must see by the exit code that it did not end as it was asked to. */
export function refuseDamage(context: Pick<RoleContext, 'damage'>): void {
  const damage = context.damage()
  if (damage !== null) throw damage
}

/** The folder of an embedded store is made for it, and for its owner only. Says what it had to mend. */
async function makeRoom(address: string, data: string): Promise<string | null> {
  const file = /^sqlite:([^?]+)/.exec(address)?.[1]
  if (file === undefined || file === ':memory:' || file.startsWith('//')) return null
  const { mkdir } = await import('node:fs/promises')
  const { dirname, resolve } = await import('node:path')
  const folder = resolve(dirname(file))
  if (folder === resolve(data)) return (await import('../private-folder.ts')).makePrivateFolder(folder)
  // Another folder was chosen on purpose, and may be shared on purpose.
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return null
}
