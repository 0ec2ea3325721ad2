// An orchestrator process that is killed: node crashing-orchestrator.ts <address of the store> <recipe> <point>. It kills itself when it comes
// to the point; at any other name it goes on until somebody else kills it.

import { connectEngine } from '@reprise/connect'
import { createLaunch, createReconcile, LaunchLedger } from '@reprise/orchestrator'
import { launcherBy, type Recipe } from './recipes.ts'
import { POOL, TIMES } from './services.ts'

const [address = '', recipe = '{}', point = ''] = process.argv.slice(2)
const { engine } = await connectEngine(address)
const launcher = launcherBy(JSON.parse(recipe) as Recipe)
await launcher.look([{ key: 'none', handle: null }])
const options = {
  engine,
  launcher,
  ledger: new LaunchLedger(POOL, 1),
  ...TIMES,
  at: (reached: string) => {
    if (reached === point) process.kill(process.pid, 'SIGKILL')
  },
}
await createReconcile(options).start()
await createLaunch(options).start()
// Nothing else keeps it alive.
setInterval(() => undefined, 60_000)
