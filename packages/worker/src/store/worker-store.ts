// What a worker needs of the store it works for. It is an engine in this process, or a server that has one.

import { connectEngine, warnOfRisk } from '@reprise/connect'
import {
  type CataloguedAction,
  type Engine,
  type HealthThresholds,
  isDrainOrdered,
  openTransport,
  publishActions,
  type ServerOptions,
  type Voucher,
  type Waiting,
  type Work,
  type WorkerId,
} from '@reprise/core'
import { standInFor } from './remote-voucher.ts'

type WorkOfWorkers = Pick<
  Work,
  'info' | 'register' | 'beat' | 'deregister' | 'claim' | 'renew' | 'settle' | 'settleAndClaim'
>

export interface WorkerStore extends WorkOfWorkers, Waiting {
  readonly healthThresholds: HealthThresholds
  /** How a thread renews for a blocked event loop; null where it can't. */
  voucher(): Voucher | null
  /** Whether an operator wants the worker of this epoch to finish and take nothing new. */
  isDrainOrdered(worker: WorkerId, epoch: number): Promise<boolean>
  /** Tasks that are submitted by name alone get these settings. */
  publishActions(actions: readonly CataloguedAction[]): Promise<void>
}

export interface OpenedStore {
  readonly store: WorkerStore
  /** Null where a server has it: then the server judges failures, and sweeps. */
  readonly engine: Engine | null
  close(): Promise<void>
}

/** `server` has an address, or else `engine` counts. */
export async function openWorkerStore(
  engine: string | Engine | null,
  server: ServerOptions | null,
  options: Parameters<typeof connectEngine>[1],
): Promise<OpenedStore> {
  if (server !== null) {
    const { remoteStore } = await import('./remote-store.ts')
    const { voucher, options: asked } = standInFor(server)
    const transport = openTransport(asked)
    return { store: remoteStore(transport, voucher), engine: null, close: async () => transport.close() }
  }
  const connection = await connectEngine(engine ?? '', options)
  if (connection.owned) warnOfRisk(connection.engine)
  return { store: engineStore(connection.engine), engine: connection.engine, close: () => connection.close() }
}

function engineStore(engine: Engine): WorkerStore {
  return {
    info: engine.info,
    healthThresholds: engine.healthThresholds,
    register: (registration) => engine.register(registration),
    beat: (report) => engine.beat(report),
    deregister: (worker, epoch) => engine.deregister(worker, epoch),
    claim: (request) => engine.claim(request),
    renew: (leases, leaseMs) => engine.renew(leases, leaseMs),
    voucher: () => engine.voucher(),
    settle: (settlements) => engine.settle(settlements),
    settleAndClaim: (settlements, request) => engine.settleAndClaim(settlements, request),
    mark: () => engine.mark(),
    wait: (interest, timeoutMs, signal) => engine.wait(interest, timeoutMs, signal),
    isDrainOrdered: (worker, epoch) => isDrainOrdered(engine, worker, epoch),
    publishActions: (actions) => publishActions(engine, actions),
  }
}
