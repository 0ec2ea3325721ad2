// A host with four workers of the pool `gpu`. It is there to be killed.

import { connectEngine } from '@reprise/connect'
import { createWorker, silentLogger } from '@reprise/worker'
import { LIVENESS, renderOn } from './render.ts'

const [, , address = '', ...ids] = process.argv
const { engine } = await connectEngine(address, LIVENESS)
for (const id of ids) {
  const options = { engine, id, host: 'render-host-1', actions: [renderOn(id)], directedPools: ['gpu'] }
  await createWorker({ ...options, heartbeat: '500ms', sweep: false, log: silentLogger })
}
