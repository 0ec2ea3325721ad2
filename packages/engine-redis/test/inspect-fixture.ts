// A store to be damaged by hand: one task for each place where a task can stand, raw access to the keys, and a worker that
// runs everything to its end.

import {
  type ClaimRequest,
  DEFAULT_POOL,
  type Decision,
  type Engine,
  type Finding,
  failed,
  lost,
  observedFailure,
  released,
  subjectText,
  succeeded,
  systemClock,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { type WholeInspection, wholeInspection } from '@reprise/engine-conformance'
import { openRedisEngine } from '@reprise/engine-redis'
import type { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished } from 'vitest'
import { spec } from './partitions-fixture.ts'

export const BY = { actor: 'operator:ann', reason: 'after the restore' }
export const LANE = "lane of pool 'default', action 'render', tenant 'default'"
/** Where the claimable tasks are among a lane's numbers. */
export const READY_AT = 5
export const failure = observedFailure('validation', 'The size is missing.', spec('any').action)
const dead: Decision = { kind: 'dead', reason: 'not_retriable', rule: 'code', sentence: 'It does not go away.' }
export const retry: Decision = { kind: 'retry', delayMs: 0, reason: 'worker_lost', rule: 'code', sentence: 'Again.' }

export type Server = Awaited<ReturnType<typeof startRedis>>

let stores = 0

/** `withTaskInEachPlace` makes one with a task each that is dead, running, assigned, launched, queued, waiting, keyed (a dedupe key) and brief (a queue TTL and a deadline). */
export class DamagedStore {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly prefix: string
  readonly #server: Server

  private constructor(engine: Engine, clock: VirtualClock, prefix: string, server: Server) {
    this.engine = engine
    this.clock = clock
    this.prefix = prefix
    this.#server = server
  }

  static async open(server: Server, partitions = 1): Promise<DamagedStore> {
    const clock = new VirtualClock(systemClock.now())
    const prefix = `damaged-${stores++}`
    const engine = await openRedisEngine({ url: server.url, prefix, clock, partitions })
    onTestFinished(() => engine.close())
    return new DamagedStore(engine, clock, prefix, server)
  }

  static async withTaskInEachPlace(server: Server): Promise<DamagedStore> {
    const store = await DamagedStore.open(server)
    const { engine } = store
    const request = await store.claimer('w', 1)
    await engine.limit({}, 50, BY)
    await engine.submit([spec('dead')])
    const { claimed } = await engine.claim(request)
    await engine.settle(claimed.map((ref) => failed(ref, failure, dead)))
    await engine.submit([spec('running')])
    await engine.claim(request)
    await engine.submit([spec('assigned')])
    const dispatched = await engine.claim({ ...request, stage: 'dispatch' })
    await engine.assign(dispatched.claimed.map((lease) => ({ ...lease, worker: request.worker, ttlMs: 30_000 })))
    await engine.submit([spec('launched')])
    await engine.claim({ ...request, stage: 'launch' })
    const { settings } = spec('any')
    await engine.submit([
      spec('queued'),
      spec('waiting', { delayMs: 60_000 }),
      spec('keyed', { dedupeKey: 'k' }),
      spec('brief', { settings: { ...settings, queueTtlMs: 86_400_000 }, deadlineMs: 86_400_000 }),
    ])
    return store
  }

  async claimer(name: string, limit = 100): Promise<ClaimRequest> {
    const worker = workerId(name)
    const { epoch } = await this.engine.register({
      worker,
      pools: [DEFAULT_POOL],
      actions: null,
      host: name,
      version: '1',
      runtimes: [],
      endpoint: null,
    })
    return { worker, epoch, pools: [DEFAULT_POOL], actions: null, limit, leaseMs: 15_000 }
  }

  /** A raw command; `name` is that of a key under the store's prefix. Something must have changed. */
  async damage(command: string, name: string, ...args: readonly string[]): Promise<void> {
    const reply = await this.#server.command(command, `${this.prefix}/${name}`, ...args)
    if (reply === 0) throw new Error(`${command} ${name} changed nothing.`)
  }

  async damageTask(command: string, id: string, ...args: readonly string[]): Promise<void> {
    await this.#server.command(command, `${this.prefix}:${id}`, ...args)
  }

  async read(command: string, name: string, ...args: readonly string[]): Promise<string> {
    const reply = await this.#server.command(command, `${this.prefix}/${name}`, ...args)
    return Array.isArray(reply) ? reply.join('\n') : String(reply)
  }

  /** Adds so much to one of a lane's numbers, by its place: docs/redis-layout.md lists them. */
  async damageNumber(place: number, by: number): Promise<void> {
    const script =
      "local n = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'numbers')); n[tonumber(ARGV[1])] = n[tonumber(ARGV[1])] + ARGV[2]; redis.call('HSET', KEYS[1], 'numbers', cmsgpack.pack(n))"
    await this.#server.command('EVAL', script, '1', `${this.prefix}/lane:1`, String(place), String(by))
  }

  /** The entry of a queued task in its list. */
  async entryOf(id: string): Promise<string> {
    const entries = (await this.read('LRANGE', 'queue:1:5', '0', '-1')).split('\n')
    const entry = entries.find((text) => text.endsWith(id))
    if (entry === undefined) throw new Error(`'${id}' is not in the queue.`)
    return entry
  }

  look(): Promise<WholeInspection> {
    return wholeInspection(this.engine, { repair: false, by: BY })
  }

  repair(): Promise<WholeInspection> {
    return wholeInspection(this.engine, { repair: true, by: BY })
  }
}

export const brief = ({ kind, subject }: Finding): string => `${kind}: ${subjectText(subject)}`

/** Redrives, sweeps, reconciles launches and works until nothing is left to do: every task that was not cancelled must succeed. */
export async function runToEnd(store: DamagedStore): Promise<void> {
  const { engine, clock } = store
  await engine.change({ kind: 'redrive', select: {}, by: BY })
  for (let round = 0; round < 5; round++) {
    clock.jump(60_000)
    const { overdue } = await engine.expired(100)
    await engine.settle(
      overdue.flatMap((item) => {
        if (item.kind === 'lease') return [lost(item.ref, failure, retry)]
        return item.kind === 'undelivered' ? [released(item.ref, 'not collected')] : []
      }),
    )
    const launches = await engine.launches({ pool: DEFAULT_POOL })
    await engine.settle(launches.items.map((launch) => lost(launch, failure, retry)))
    const { claimed } = await engine.claim(await store.claimer('last'))
    await engine.settle(claimed.map((ref) => succeeded(ref, null)))
  }
  const { accepted, cancelled, succeeded: done } = await engine.counts()
  expect(done + cancelled).toBe(accepted)
  expect((await store.look()).findings).toEqual([])
}
