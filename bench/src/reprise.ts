// Reprise as a contestant: client and worker of the public SDK in one process, on one engine, with every default except
// the concurrency. Nothing here reaches past what an application can use.

import { createClient, defineAction } from '@reprise/client'
import type { Engine } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createWorker, type Worker } from '@reprise/worker'
import type { Mode } from './arguments.ts'
import type { Input } from './payload.ts'
import { CONCURRENCY, type QueueUnderTest } from './queue-under-test.ts'

const ACTION = 'bench.nothing'

export function openEngine(path: string, mode: Mode): Promise<Engine> {
  return openSqliteEngine({ path, durability: mode })
}

export async function openReprise(path: string, mode: Mode): Promise<QueueUnderTest> {
  const engine = await openEngine(path, mode)
  const client = await createClient({ engine })
  const submitted = defineAction<Input>({ name: ACTION })
  let worker: Worker | null = null
  return {
    async submit(inputs) {
      await client.submitMany(submitted, inputs)
    },
    async process(count) {
      let started = 0
      const allStarted = Promise.withResolvers<void>()
      const counting = defineAction<Input>({
        name: ACTION,
        run: async () => {
          if (++started === count) allStarted.resolve()
        },
      })
      // A worker goes on after an error of its store; a measurement with one is worth nothing.
      const onError = (error: unknown): void => allStarted.reject(error)
      worker = await createWorker({ engine, actions: [counting], concurrency: CONCURRENCY, onError })
      await allStarted.promise
      // Only the last hundred or so are still to be settled: looking at every turn costs nothing that counts.
      while (worker.stats().succeeded < count) await nextTurn()
    },
    async succeeded() {
      const { succeeded } = await client.counts()
      return succeeded
    },
    async close() {
      await worker?.stop()
      await client.close()
      await engine.close()
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
