// An orchestrator process for the tests that kill it: node queue-orchestrator.ts <engine address> <queue url> <SQS endpoint>
// <platform url> [<failpoint> <nth>]. It takes tasks from the queue and launches them on the platform. Every twentieth message
// is delivered twice. It says 'ready' when it works, and kills itself when it comes to the failpoint for the nth time.

import { connectEngine } from '@reprise/connect'
import type { OutsideQueue } from '@reprise/core'
import { createOrchestrator } from '@reprise/orchestrator'
import { openSqsQueue } from '@reprise/sqs'
import { remotePlatform } from '../platform.ts'
import { CREDENTIALS, deliveringTwice } from '../twice.ts'

const [address = '', queueUrl = '', endpoint = '', platform = '', failpoint = 'none', nth = '0'] = process.argv.slice(2)

const { engine } = await connectEngine(address)
const queue: OutsideQueue = deliveringTwice(
  await openSqsQueue({ queueUrl, endpoint, region: 'us-east-1', client: { credentials: CREDENTIALS } }),
)
let passed = 0
const at = (point: string): void => {
  if (point === failpoint && ++passed === Number(nth)) process.kill(process.pid, 'SIGKILL')
}
const orchestrator = createOrchestrator({
  engine,
  queue,
  launchPools: [{ pool: 'ecs', launcher: remotePlatform(platform), slots: 60 }],
  launch: { leaseMs: 2_000, graceMs: 1_000, at },
  queueIntake: { visibilityMs: 2_000, waitMs: 1_000, at },
  onError: () => undefined,
})
await orchestrator.start()
process.on('SIGTERM', () => {
  void orchestrator.stop().then(() => {
    queue.close()
    return engine.close()
  })
})
process.stdout.write('ready\n')
