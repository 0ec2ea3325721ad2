// An orchestrator process for the crash tests: node crashing-orchestrator.ts <engine address> <directory of runs> <effects
// file> [<failpoint> <nth>]. Each task of its launch pool becomes a child process that notes its run in the effects file.
// It says 'ready' when it works, and kills itself when it comes to the failpoint for the nth time.

import { connectEngine } from '@reprise/connect'
import { createProcessLauncher } from '@reprise/launchers'
import { createOrchestrator } from '@reprise/orchestrator'

const [address = '', directory = '', effects = '', failpoint = 'none', nth = '0'] = process.argv.slice(2)

const { engine } = await connectEngine(address)
const launcher = createProcessLauncher({
  directory,
  // Appending is one write: lines of children that run at once don't mix.
  commands: {
    'effect.append': {
      argv: ['/bin/sh', '-c', 'echo "$REPRISE_TASK_ID $REPRISE_ATTEMPT" >> "$EFFECTS"'],
      env: { EFFECTS: effects },
    },
  },
})

let passed = 0
const orchestrator = createOrchestrator({
  engine,
  launchPools: [{ pool: 'ephemeral', launcher, slots: 4 }],
  launch: {
    leaseMs: 2_000,
    at(point) {
      if (point === failpoint && ++passed === Number(nth)) process.kill(process.pid, 'SIGKILL')
    },
  },
  onError: (error) => process.stderr.write(`${String(error)}\n`),
})
await orchestrator.start()
process.on('SIGTERM', () => {
  void orchestrator.stop().then(() => engine.close())
})
process.stdout.write('ready\n')
