// One round of what opens and closes work orders and alerts, and a recovery of everything that died.

import { actionName, type Engine, succeeded, workerId } from '@reprise/core'
import { alertRound, closeRecovered, openWorkOrders } from '@reprise/orchestrator'
import { spec } from '../events/fixture.ts'

export async function look(engine: Engine): Promise<void> {
  while (await openWorkOrders({ engine }));
  await closeRecovered(engine)
  await alertRound({ engine }, { now: await engine.now() })
}

export async function recover(engine: Engine): Promise<void> {
  const by = { actor: 'operator:ann', reason: 'it is fixed' }
  await engine.change({ kind: 'redrive', select: { action: actionName('render') }, by })
  const worker = workerId('w2')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '2', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 1_000, leaseMs: 60_000 })
  await engine.settle(claimed.map((one) => succeeded(one, null)))
}
