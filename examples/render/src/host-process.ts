// A host of the render farm, as a process of its own: node host-process.ts <engine address> <film>. It moves jobs, sweeps, and renders;
// it says 'ready' when it works, and works until it is killed.

import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { silentLogger } from '@reprise/core'
import { createOrchestrator } from '@reprise/orchestrator'
import { createWorker } from '@reprise/worker'
import { frameAction, joinAction } from './actions.ts'

const [address = '', film = ''] = process.argv.slice(2)
const { engine } = await connectEngine(address)
const client = await createClient({ engine })
await createOrchestrator({ engine, log: silentLogger }).start()
await createWorker({
  engine,
  actions: [frameAction, joinAction(client, film)],
  concurrency: 4,
  lease: '1s',
  log: silentLogger,
})
process.stdout.write('ready\n')
