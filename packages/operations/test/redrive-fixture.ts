// A store with dead letters, the service that moves redrives, and a worker whose handler a test changes at will.

import {
  type Claimed,
  decideFailed,
  describeFailure,
  type Engine,
  failed,
  succeeded,
  type TaskSpec,
  workerId,
} from '@reprise/core'
import { createRedrives } from '@reprise/orchestrator'
import { onTestFinished } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import type { OperationOutput } from '../src/caller-types.ts'
import type { OperationName } from '../src/table.ts'
import { type ContextChange, SkippingClock, type STORES, spec } from './events/fixture.ts'
import { ANN, storeWithCaller } from './store-with-caller.ts'

export type Redrive = OperationOutput<'getRedrive'>

/** Throws for a task that fails. */
export type Handler = (task: Claimed) => void

const TRIES_MAX = 3_000

/** With `onItsClock` the store's time is skipped as well. */
export async function recoveryStore(
  kind: (typeof STORES)[number] = 'sqlite',
  { onItsClock = false, ...change }: ContextChange & { readonly onItsClock?: boolean } = {},
) {
  const clock = new SkippingClock()
  const { engine, context, call } = await storeWithCaller(kind, onItsClock ? clock : undefined, change)
  const ran: string[] = []
  const ask = <Output>(name: OperationName, input: object, caller: Caller = ANN): Promise<Output> =>
    call(caller, name, input)

  const join = async (id: string, version: string, pools = [spec('x').pool]) => {
    const worker = workerId(id)
    const around = { host: 'h', version, runtimes: [], endpoint: null }
    const { epoch } = await engine.register({ worker, pools, actions: null, ...around })
    return { worker, epoch, leave: () => engine.deregister(worker, epoch) }
  }

  const claim = async (limit: number, { worker, epoch } = first): Promise<readonly Claimed[]> => {
    const pools = [spec('x').pool]
    return (await engine.claim({ worker, epoch, pools, actions: null, limit, leaseMs: 60_000 })).claimed
  }

  /** Claims what there is, and settles it as the handler says. */
  const work = async (handler: Handler, by = first): Promise<number> => {
    const claimed = await claim(1_000, by)
    if (claimed.length === 0) return 0
    ran.push(...claimed.map(({ taskId }) => taskId))
    await engine.settle(claimed.map((one) => settlementOf(one, handler)))
    return claimed.length
  }

  const died = async (specs: readonly TaskSpec[], handler: Handler): Promise<void> => {
    for (let at = 0; at < specs.length; at += 1_000) {
      await engine.submit(specs.slice(at, at + 1_000))
      while ((await work(handler)) > 0);
    }
    ran.length = 0
  }

  const serve = async (over: Engine = engine) => {
    const service = createRedrives({ engine: over, clock, intervalMs: 100, onError: () => undefined })
    await service.start()
    onTestFinished(() => service.stop())
    return service
  }

  const until = async (id: string, isThere: (redrive: Redrive) => boolean, step: () => Promise<unknown> = noStep) => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      await step()
      const redrive = await ask<Redrive>('getRedrive', { id })
      if (isThere(redrive)) return redrive
      clock.skip(300)
      await new Promise((resolve) => setImmediate(resolve))
    }
    throw new Error(`It never came so far: ${JSON.stringify(await ask('getRedrive', { id }))}`)
  }

  const first = await join('w1', '1')
  return { engine, context, clock, ran, ask, join, claim, work, died, serve, until }
}

const noStep = (): Promise<void> => Promise.resolve()

function settlementOf(one: Claimed, handler: Handler) {
  try {
    handler(one)
    return succeeded(one, null)
  } catch (error) {
    const { settings, action } = one.snapshot
    const failure = describeFailure(error, action)
    return failed(one, failure, decideFailed({ settings, spent: one, deadlineAt: null, failure, now: 0, roll: 0 }))
  }
}

export const specs = (count: number, over: Parameters<typeof spec>[1] = {}): TaskSpec[] =>
  Array.from({ length: count }, (_, at) => spec(`t${String(at).padStart(5, '0')}`, over))

export const breaks: Handler = () => {
  throw new TypeError('the currency is missing')
}
export const works: Handler = () => undefined
