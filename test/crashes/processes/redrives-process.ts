// A process that moves redrives, until it is killed. Argument: the address of the engine. Tells its parent its memory, in bytes.

import { connectEngine } from '@reprise/connect'
import { createRedrives } from '@reprise/orchestrator'

const [address] = process.argv.slice(2)
if (address === undefined) throw new Error('Usage: redrives-process.ts <engine address>')

const { engine } = await connectEngine(address)
await createRedrives({ engine, intervalMs: 100, leaseMs: 1_000 }).start()
setInterval(() => process.send?.(process.memoryUsage().rss), 200)
// Nobody would ever stop it.
process.once('disconnect', () => process.exit())
