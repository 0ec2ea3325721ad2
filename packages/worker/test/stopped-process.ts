// The process of process.test.ts that stops its worker itself: it prints what still holds it then, and how it ended.

import { createClient, defineAction } from '@reprise/client'
import { createWorker } from '@reprise/worker'

const [engine = ''] = process.argv.slice(2)
const echo = defineAction({ name: 'echo', run: (input: string) => input })
const client = await createClient({ engine })
const worker = await createWorker({ engine, actions: [echo] })
const task = await client.submit(echo, 'once')
const result = await task.result()
await worker.stop()
await client.close()
process.stdout.write(JSON.stringify({ result, held: process.getActiveResourcesInfo() }))
