// What tests of operations share: a store with a function that performs operations on it, and tasks that have died.

import {
  type Clock,
  decideFailed,
  describeFailure,
  type Engine,
  type Escalation,
  failed,
  type TaskSpec,
  tenantId,
  workerId,
} from '@reprise/core'
import { expect } from 'vitest'
import { type Caller, localCaller } from '../src/access/caller.ts'
import { perform } from '../src/run.ts'
import { ALL_OPERATIONS, type OperationName } from '../src/table.ts'
import { type ContextChange, contextOn, openStore, type STORES, spec } from './events/fixture.ts'

export const ANN = localCaller('operator:ann')
export const ACME: Caller = { ...ANN, kind: 'token', actor: 'token:acme', tenants: [tenantId('acme')] }

export async function storeWithCaller(
  kind: (typeof STORES)[number] = 'sqlite',
  clock?: Clock,
  change: ContextChange = {},
) {
  const engine = await openStore(kind, clock)
  const context = await contextOn(engine, { ...(clock === undefined ? {} : { clock }), ...change })
  const call = (caller: Caller, name: OperationName, input: object): Promise<never> =>
    perform(context, caller, [name, ALL_OPERATIONS[name]], input, new AbortController().signal) as Promise<never>
  return { engine, context, call }
}

/** They are accepted, and fail for good, with this code. */
export async function died(
  engine: Engine,
  specs: readonly TaskSpec[],
  code: string,
  escalation?: Escalation,
): Promise<void> {
  await engine.submit(specs)
  await failAll(engine, specs.length, code, escalation)
}

/** What is queued is claimed, and fails for good, with what a policy says about dead letters. */
export async function failAll(engine: Engine, expected: number, code: string, escalation?: Escalation): Promise<void> {
  const worker = workerId('w1')
  const pools = [spec('x').pool]
  const around = { host: 'h', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
  const { claimed } = await engine.claim({ worker, epoch, pools, actions: null, limit: 1_000, leaseMs: 60_000 })
  const settlements = claimed.map((one) => {
    const failure = describeFailure(Object.assign(new TypeError(`broken: ${code}`), { code }), one.snapshot.action)
    const { settings } = one.snapshot
    const decision = decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 })
    const isDead = decision.kind === 'dead' && escalation !== undefined
    return failed(one, failure, isDead ? { ...decision, escalation } : decision)
  })
  await engine.settle(settlements)
  expect(claimed).toHaveLength(expected)
}
