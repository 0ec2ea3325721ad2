// The service that delivers: it looks which receivers there are, takes the lease of those that nobody is at, and runs each in a
// loop of its own, so that a receiver which hangs holds up nobody else. Any number of servers may run it; each receiver is served by
// one of them at a time.

import { randomUUID } from 'node:crypto'
import { createService, type Engine, isRepriseError, type Service, type Stored, sleep } from '@reprise/core'
import type { Receiver } from './outlet.ts'
import { LeaseLost, LeaseTaker, progressCollection, type WebhookLease } from './webhook-lease.ts'
import { type RunnerPorts, WebhookRunner } from './webhook-runner.ts'

const LOOK_MS = 1_000
const ERROR_REST_MS = 5_000

/** A receiver that this server is at. */
interface Running {
  readonly version: number
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export function createDeliveryService<R extends Receiver>(
  name: string,
  ports: RunnerPorts<R> & { readonly engine: Pick<Engine, 'collection'> },
): Service {
  const { engine, outlet, clock, onError } = ports
  return createService(
    name,
    async (signal) => {
      const taker = new LeaseTaker(progressCollection(engine), clock, randomUUID())
      const running = new Map<string, Running>()
      while (!signal.aborted) {
        try {
          await look(ports, taker, running, await outlet.enabled())
        } catch (error) {
          if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) break
          onError(error)
        }
        await sleep(clock, LOOK_MS, signal)
      }
      for (const { stop } of running.values()) stop.abort()
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
    onError,
  )
}

/** Ends what should not run any more or was changed, and begins what nobody is at. */
async function look<R extends Receiver>(
  ports: RunnerPorts<R>,
  taker: LeaseTaker,
  running: Map<string, Running>,
  all: readonly Stored<R>[],
): Promise<void> {
  const wanted = new Map(all.map((stored) => [stored.document.id, stored]))
  for (const [id, { version, stop }] of running) if (wanted.get(id)?.version !== version) stop.abort()
  for (const [id, { document, version }] of wanted) {
    // One that was told to end is begun anew when it has come to rest.
    if (running.has(id)) continue
    const lease = await taker.take(id)
    if (lease === null) continue
    const stop = new AbortController()
    const ended = deliver(ports, document, lease, stop.signal).finally(() => running.delete(id))
    running.set(id, { version, stop, ended })
  }
}

async function deliver<R extends Receiver>(
  ports: RunnerPorts<R>,
  receiver: R,
  lease: WebhookLease,
  signal: AbortSignal,
): Promise<void> {
  try {
    await new WebhookRunner(ports, receiver, lease).run(signal)
    await lease.release()
  } catch (error) {
    // Another server has it, or the store was away for so long that one may have taken it: either way, look again.
    if (error instanceof LeaseLost || isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
    ports.onError(error)
    await sleep(ports.clock, ERROR_REST_MS, signal)
  }
}

export function guarded(onError: (error: unknown) => void = () => undefined): (error: unknown) => void {
  return (error) => {
    try {
      onError(error)
    } catch {
      // The listener threw; deliveries go on.
    }
  }
}
