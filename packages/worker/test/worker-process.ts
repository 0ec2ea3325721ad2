// The program of process.test.ts: nothing but a worker, as an application would write it.

import { createWorker, defineAction, stopOnSignals } from '@reprise/worker'

const [, , address = ''] = process.argv

const echo = defineAction({ name: 'echo', run: (input: string) => input })
const hang = defineAction({ name: 'hang', run: () => new Promise<never>(() => {}) })

const worker = await createWorker({ engine: address, actions: [echo, hang], concurrency: 5, stopGrace: '200ms' })
stopOnSignals(worker)
