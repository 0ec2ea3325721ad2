// Reprise as a contestant: client and worker of the public SDK in one process, on one address, with every default except
// the concurrency, under policies, with a breaker and a quota; and it does not log the failures it is given on purpose, as no peer does. Nothing here reaches past
// what an application can use.

import { createClient, defineAction, PermanentError, pages, TransientError } from '@reprise/client'
import { consoleLogger, createWorker, type Worker } from '@reprise/worker'
import type { Input } from './payload.ts'
import { MEASURED, POLICIES } from './policies.ts'
import { CONCURRENCY, type FullQueue, type Handler, type OpenOptions, RETRY_DELAY_MS } from './queue-under-test.ts'
import { addressOf, type Store } from './store.ts'

const RETRYING = { retry: { max: 1, backoff: { kind: 'fixed', delayMs: RETRY_DELAY_MS, jitter: 0 } } } as const

export async function openReprise(store: Store, { retrying = false }: OpenOptions = {}): Promise<FullQueue> {
  const engine = addressOf(store)
  const client = await createClient({ engine })
  const definition = { ...MEASURED, ...(retrying ? RETRYING : {}) }
  const submitted = defineAction<Input>(definition)
  let worker: Worker | null = null
  return {
    async submit(inputs) {
      await client.submitMany(submitted, inputs)
    },
    async submitOne(input) {
      await client.submit(submitted, input)
    },
    async submitDelayed(inputs, dueAt) {
      await client.submitMany(submitted, inputs, (_input, index) => ({ runAt: new Date(dueAt[index] ?? 0) }))
    },
    async process(attempts, handler) {
      let started = 0
      const allStarted = Promise.withResolvers<void>()
      const counted = defineAction<Input>({
        ...definition,
        run: async (input, { attempt }) => {
          if (++started === attempts) allStarted.resolve()
          if (handler !== undefined) throwAsTold(handler, input, attempt)
        },
      })
      // A worker goes on after an error of its store; a measurement with one is worth nothing.
      const onError = (error: unknown): void => allStarted.reject(error)
      const log = consoleLogger({ level: 'error' })
      worker = await createWorker({
        engine,
        actions: [counted],
        concurrency: CONCURRENCY,
        onError,
        log,
        policies: POLICIES,
      })
      await allStarted.promise
      // Only the last hundred or so are still to be settled: looking at every turn costs nothing that counts.
      while (settledBy(worker) < attempts) await nextTurn()
    },
    async counts() {
      const { succeeded, dead } = await client.counts()
      return { succeeded, dead }
    },
    async redrive() {
      for await (const _ of pages(client.redriveTasks, { all: true, reason: 'measuring', limit: 1_000 }));
    },
    async close() {
      await worker?.stop()
      await client.close()
    },
  }
}

function throwAsTold(handler: Handler, input: Input, attempt: number): void {
  const outcome = handler(input, attempt)
  if (outcome === 'dies') throw new PermanentError('this one never works')
  if (outcome === 'fails') throw new TransientError('works the next time')
}

function settledBy(worker: Worker): number {
  const { succeeded, failed } = worker.stats()
  return succeeded + failed
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
