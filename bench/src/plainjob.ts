// The peer: plainjob, a queue on SQLite and better-sqlite3, in the configuration in which it is fastest. It runs one job
// per worker, so a hundred workers share one queue; its batch insert is used; it polls without a pause. The pragmas it
// sets itself are left alone, because ours made it slower; only `durable` asks it for full sync, as we do.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mode } from './arguments.ts'
import { PEERS_FOLDER } from './peers.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'

// The peer is no dependency, so its types are not at hand: this is the part of it that is used.
interface BetterSqlite {
  pragma(text: string): unknown
}

interface PlainjobQueue {
  addMany(type: string, data: readonly unknown[]): unknown
  countJobs(options: { readonly status: number }): number
  close(): void
}

interface PlainjobWorker {
  start(): Promise<void>
  stop(): Promise<void>
}

interface Plainjob {
  readonly better: (database: BetterSqlite) => object
  readonly defineQueue: (options: { readonly connection: object; readonly logger: object }) => PlainjobQueue
  readonly defineWorker: (
    type: string,
    run: (job: { readonly data: string }) => Promise<void>,
    options: {
      readonly queue: PlainjobQueue
      readonly logger: object
      readonly pollIntervall: number
      readonly onCompleted: () => void
    },
  ) => PlainjobWorker
}

const TYPE = 'bench'
const DONE = 2
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function openPlainjob(path: string, mode: Mode): Promise<QueueUnderTest> {
  const { better, defineQueue, defineWorker } = (await loadPeer('plainjob')) as Plainjob
  const { default: Database } = (await loadPeer('better-sqlite3')) as { default: new (path: string) => BetterSqlite }
  const database = new Database(path)
  const queue = defineQueue({ connection: better(database), logger: silent })
  // It sets NORMAL itself.
  if (mode === 'durable') database.pragma('synchronous = FULL')
  const workers: PlainjobWorker[] = []
  const running: Promise<void>[] = []
  return {
    async submit(inputs) {
      queue.addMany(TYPE, inputs)
    },
    async process(count) {
      let done = 0
      const allDone = Promise.withResolvers<void>()
      const onCompleted = (): void => {
        if (++done === count) allDone.resolve()
      }
      const run = async ({ data }: { readonly data: string }): Promise<void> => {
        // Reprise and the limit give a handler its input parsed; here that is the handler's part.
        JSON.parse(data)
      }
      for (let number = 0; number < CONCURRENCY; number++) {
        workers.push(defineWorker(TYPE, run, { queue, logger: silent, pollIntervall: 0, onCompleted }))
      }
      for (const worker of workers) running.push(worker.start())
      await allDone.promise
    },
    async succeeded() {
      return queue.countJobs({ status: DONE })
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()))
      await Promise.all(running)
      queue.close()
    },
  }
}

async function loadPeer(name: string): Promise<unknown> {
  const path = createRequire(join(PEERS_FOLDER, 'package.json')).resolve(name)
  return import(pathToFileURL(path).href)
}
