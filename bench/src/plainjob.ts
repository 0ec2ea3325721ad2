// The peer on SQLite: plainjob, a queue on SQLite and better-sqlite3, in the configuration in which it is fastest. It runs one job
// per worker, so a hundred workers share one queue; its batch insert is used; it polls without a pause. The pragmas it
// sets itself are left alone, because ours made it slower; only `durable` asks it for full sync, as we do.

import { loadPeer } from './peers.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'
import type { Store } from './store.ts'

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
const FAILED = 3
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function openPlainjob({ at, mode }: Store): Promise<QueueUnderTest> {
  const { better, defineQueue, defineWorker } = loadPeer('sqlite', 'plainjob') as Plainjob
  const Database = loadPeer('sqlite', 'better-sqlite3') as new (path: string) => BetterSqlite
  const database = new Database(at)
  const queue = defineQueue({ connection: better(database), logger: silent })
  // It sets NORMAL itself.
  if (mode === 'durable') database.pragma('synchronous = FULL')
  const workers: PlainjobWorker[] = []
  const running: Promise<void>[] = []
  return {
    async submit(inputs) {
      queue.addMany(TYPE, inputs)
    },
    async process(attempts) {
      let done = 0
      const allDone = Promise.withResolvers<void>()
      const onCompleted = (): void => {
        if (++done === attempts) allDone.resolve()
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
    async counts() {
      return { succeeded: queue.countJobs({ status: DONE }), dead: queue.countJobs({ status: FAILED }) }
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()))
      await Promise.all(running)
      queue.close()
    },
  }
}
