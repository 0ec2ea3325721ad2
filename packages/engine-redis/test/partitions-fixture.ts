// What the tests of stores with several partitions share: specifications, workers that run until everything is done, and engines
// whose calls to the store can be counted, held up or cut off one by one.

import { randomUUID } from 'node:crypto'
import {
  actionName,
  type ClaimRequest,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  type Engine,
  encodeJson,
  retryToken,
  systemClock,
  type TaskSpec,
  taskId,
  workerId,
} from '@reprise/core'
import type { Link } from '../src/link/link.ts'
import { Partition, requestIds } from '../src/partition.ts'
import { partitionedEngine } from '../src/partitioned/partitioned-engine.ts'
import { Partitions } from '../src/partitioned/partitions.ts'
import { partitionPrefixes } from '../src/store.ts'
import { Wake } from '../src/wake.ts'

export const PARTITIONS = 3
export const BY = { actor: 'operator:ann', reason: 'a test' } as const

export function spec(id: string, changes: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id: taskId(id),
    action: actionName('render'),
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: encodeJson({}, 'payload'),
    labels: {},
    priority: 5,
    retryToken: retryToken(id),
    dedupeKey: null,
    deadlineAt: null,
    delayMs: 0,
    dueAt: null,
    deadlineMs: null,
    settings: {
      timeoutMs: 60_000,
      maxRetries: 3,
      maxLosses: 3,
      queueTtlMs: null,
      backoff: { kind: 'fixed', delayMs: 0, jitter: 0 },
      retryUnknown: false,
    },
    ...changes,
  }
}

export const specs = (count: number, changes: Partial<TaskSpec> = {}): TaskSpec[] =>
  Array.from({ length: count }, (_, index) => spec(`t${index}`, changes))

/** So many ids that live in this partition. */
export function idsIn(place: number, count: number, name = 't'): string[] {
  const store = partitionsOn({} as Link, 'any')
  const ids: string[] = []
  for (let index = 0; ids.length < count; index++) {
    if (store.placeOf(`${name}${index}`) === place) ids.push(`${name}${index}`)
  }
  return ids
}

export const placeOf = (id: string): number => partitionsOn({} as Link, 'any').placeOf(id)

export function partitionsOn(link: Link, prefix: string): Partitions {
  const [home = '', ...others] = partitionPrefixes(prefix, PARTITIONS)
  const drawRequestId = requestIds()
  return new Partitions(
    new Partition(link, home, null, { position: { place: 0, places: PARTITIONS }, drawRequestId }),
    others.map((other, index) => {
      return new Partition(link, other, null, { position: { place: index + 1, places: PARTITIONS }, drawRequestId })
    }),
  )
}

/** An engine over any link. It does not listen: waits end at their time-outs. */
export function engineOn(link: Link, prefix: string): Engine {
  const store = partitionsOn(link, prefix)
  return partitionedEngine({
    store,
    wake: new Wake(store.all, randomUUID(), systemClock, (id) => store.placeOf(id)),
    info: { kind: 'redis', durability: 'none', callsAtOnce: 1, lacks: [] },
    durability: () => Promise.resolve({ durability: 'none' }),
    maxBacklog: 10_000_000,
    voucher: () => null,
    close: () => Promise.resolve(),
  })
}

class CrashError extends Error {
  constructor() {
    super('The process died.')
  }
}

/** Comes before and after each call; what it waits for holds the call up, what it throws cuts it off. */
export type Hook = (number: number, moment: 'before' | 'after') => Promise<void> | void

export function hookedLink(link: Link, hook: Hook): Link & { readonly calls: () => number } {
  let calls = 0
  const hooked = async <T>(send: () => Promise<T>): Promise<T> => {
    const number = calls++
    await hook(number, 'before')
    const answer = await send()
    await hook(number, 'after')
    return answer
  }
  return {
    isCluster: link.isCluster,
    run: (script, key, args) => hooked(() => link.run(script, key, args)),
    command: (key, args) => hooked(() => link.command(key, args)),
    pipeline: (key, commands) => hooked(() => link.pipeline(key, commands)),
    subscribe: () => Promise.resolve(),
    close: () => Promise.resolve(),
    calls: () => calls,
  }
}

/** Dies at the n-th call, before or after the store has got it; whatever it does from then on fails. */
export function dyingLink(link: Link, at: number, moment: 'before' | 'after'): Link {
  let isDead = false
  return hookedLink(link, (number, now) => {
    if (isDead || (number === at && now === moment)) {
      isDead = true
      throw new CrashError()
    }
  })
}

/** Stops before the n-th call until it is let go on; everything else goes on. */
export function stallingLink(
  link: Link,
  at: number,
): { readonly link: Link; readonly stalled: Promise<void>; readonly goOn: () => void } {
  let reached = (): void => undefined
  let goOn = (): void => undefined
  const stalled = new Promise<void>((resolve) => {
    reached = resolve
  })
  const released = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const hooked = hookedLink(link, async (number, moment) => {
    if (number !== at || moment !== 'before') return
    reached()
    await released
  })
  return { link: hooked, stalled, goOn: () => goOn() }
}

export async function registered(engine: Engine, name: string): Promise<(limit?: number) => ClaimRequest> {
  const worker = workerId(name)
  const { epoch } = await engine.register({
    worker,
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'here',
    version: '1',
    runtimes: [],
    endpoint: null,
  })
  return (limit = 1) => ({ worker, epoch, pools: [DEFAULT_POOL], actions: null, limit, leaseMs: 30_000 })
}

export interface Report {
  /** Every task that was run, in the order in which runs ended. */
  readonly done: string[]
  /** The most that ran at once. */
  most: number
}

export interface Load {
  readonly engines: readonly Engine[]
  readonly total: number
  readonly concurrency: number
  readonly runMs: () => number
}

/** One worker per engine; each runs tasks until all together have done so many. */
export async function runAll({ engines, total, concurrency, runMs }: Load): Promise<Report> {
  const report: Report = { done: [], most: 0 }
  let running = 0
  const stop = new AbortController()
  const work = async (engine: Engine, name: string): Promise<void> => {
    const request = await registered(engine, name)
    const active = new Set<Promise<void>>()
    while (report.done.length < total) {
      const since = engine.mark()
      const { claimed } = await engine.claim(request(concurrency - active.size))
      for (const lease of claimed) {
        running++
        report.most = Math.max(report.most, running)
        const { taskId: id, attempt, token } = lease
        const run = new Promise<void>((resolve) => systemClock.after(runMs(), resolve, { hold: true })).then(
          async () => {
            running--
            await engine.settle([{ kind: 'succeeded', ref: { taskId: id, attempt, token }, result: null }])
            report.done.push(id)
            active.delete(run)
            if (report.done.length >= total) stop.abort()
          },
        )
        active.add(run)
      }
      if (active.size >= concurrency) await Promise.race(active)
      else if (claimed.length === 0) {
        const waiting = engine.wait({ pools: request().pools, since }, 2_000, stop.signal)
        await Promise.race([waiting, ...active])
      }
    }
    await Promise.all(active)
  }
  await Promise.all(engines.map((engine, index) => work(engine, `w${index}`)))
  return report
}
