import { createWorker } from '@reprise/worker'
import { createClient } from '@reprise/client'
import { defineAction } from '@reprise/core'
import { rmSync } from 'node:fs'
const path = '/tmp/exp/wperf.db'
for (const s of ['', '-wal', '-shm', '-wake']) rmSync(path + s, { force: true })
const a = defineAction({ name: 'noop', async run(_: unknown) {} })
const url = `sqlite:${path}?durability=fast`
const client = await createClient({ engine: url })
const N = 200_000
const cpu=()=>{const c=process.cpuUsage();return (c.user+c.system)}
let c0 = cpu(), t = performance.now()
const inputs = Array.from({ length: N }, () => ({ x: 'a'.repeat(138) }))
await client.submitMany(a, inputs)
console.log('submit', (N / (performance.now() - t)).toFixed(1), 'k/s', ((cpu() - c0) / N).toFixed(2), 'us cpu')
c0 = cpu(); t = performance.now()
const worker = await createWorker({ engine: url, actions: [a], concurrency: 100 })
for (;;) { const c = await client.counts(); if (c.succeeded >= N) break; await new Promise((r) => setTimeout(r, 50)) }
console.log('process', (N / (performance.now() - t)).toFixed(1), 'k/s', ((cpu() - c0) / N).toFixed(2), 'us cpu')
await worker.stop(); await client.close()
