// A worker and a client on a store in memory and a virtual clock, plus an engine whose calls can be watched and failed.

import { type Client, createClient, type OperationOutput } from '@reprise/client'
import { type Engine, type PageRequest, seededRandom, silentLogger, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createWorker, type Worker, type WorkerOptions } from '@reprise/worker'
import { onTestFinished } from 'vitest'

type Verb = { [K in keyof Engine]: Engine[K] extends (...input: never[]) => Promise<unknown> ? K : never }[keyof Engine]

export interface Setup {
  readonly clock: VirtualClock
  readonly engine: WatchedEngine
  readonly client: Client
  readonly worker: Worker
  readonly errors: unknown[]
}

/** An engine that counts its calls and can be made to refuse them. */
export interface WatchedEngine extends Engine {
  readonly calls: { readonly verb: string; readonly input: readonly unknown[] }[]
  /** Called before each verb; what it throws is the answer. */
  fault: (verb: Verb) => void
  /** Called after each verb, before its answer comes back; what it throws is the answer. */
  faultAfter: (verb: Verb) => void
  /** The collections that documents were read from, one entry for each read. */
  readonly reads: string[]
  /** Called before each such read. */
  readFault: (collection: string) => void
}

function watched(inner: Engine): WatchedEngine {
  const calls: WatchedEngine['calls'] = []
  const own = { calls, reads: [], fault() {}, faultAfter() {}, readFault() {} } as unknown as WatchedEngine
  Object.assign(own, { collection: watchedCollections(inner, own) })
  return new Proxy(own, {
    get(target, key) {
      if (key in target) return Reflect.get(target, key) as unknown
      const member: unknown = Reflect.get(inner, key)
      if (typeof member !== 'function' || key === 'mark') return member
      return async (...input: unknown[]): Promise<unknown> => {
        calls.push({ verb: String(key), input })
        target.fault(key as Verb)
        const answer: unknown = await Reflect.apply(member, inner, input)
        target.faultAfter(key as Verb)
        return answer
      }
    },
  })
}

function watchedCollections(inner: Engine, watch: WatchedEngine): Engine['collection'] {
  return (definition) => {
    const collection = inner.collection(definition)
    return Object.assign(Object.create(collection) as typeof collection, {
      get: async (id: string) => {
        watch.reads.push(definition.name)
        watch.readFault(definition.name)
        return collection.get(id)
      },
      insert: (document: never) => collection.insert(document),
      update: (document: never, version: number) => collection.update(document, version),
      list: (page: PageRequest) => collection.list(page),
    })
  }
}

type Change = Omit<WorkerOptions, 'engine'>

/** `before` sees the engine before the worker is made. */
export async function setUp(options: Change, before: (engine: WatchedEngine) => void = () => {}): Promise<Setup> {
  const clock = new VirtualClock()
  const engine = watched(await openSqliteEngine({ path: ':memory:', clock }))
  const client = await createClient({ engine, clock })
  const errors: unknown[] = []
  before(engine)
  const worker = await createWorker({
    engine,
    clock,
    id: 'w1',
    random: seededRandom(1),
    log: silentLogger,
    onError: (error) => errors.push(error),
    ...options,
  })
  onTestFinished(async () => {
    engine.fault = () => {}
    engine.faultAfter = () => {}
    await worker.stop({ grace: 0 })
    await client.close()
    await engine.close()
  })
  return { clock, engine, client, worker, errors }
}

export const taskOf = (client: Client, id: string): Promise<OperationOutput<'getTask'>> => client.getTask({ id })
