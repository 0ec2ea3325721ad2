// The service itself: a core, which operators and containers call, and an orchestrator, which takes tasks from SQS and launches
// each in ECS. In production the two are processes of their own: `reprise core` and `reprise orchestrator`.

import { type Engine, openFlags, VERSION } from '@reprise/core'
import { createOrchestrator } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import type { Clouds } from './clouds.ts'

/** MAX_RETRIES of the source: an operator may retry once. */
const MAX_RETRIES = 1
export const POOL = 'workers'

export interface WorkerExecutionService {
  readonly url: string
  stop(): Promise<void>
}

/** `publicUrl` is where containers reach the core; where it listens if not given. */
export async function startService(
  engine: Engine,
  { queue, launcher }: Pick<Clouds, 'queue' | 'launcher'>,
  publicUrl?: string,
): Promise<WorkerExecutionService> {
  const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
  const maxRetries = MAX_RETRIES
  const core = await createServer({
    engine,
    queue,
    policies,
    flags,
    maxRetries,
    version: VERSION,
    port: 0,
    // Operators sign in with Google in production; here everybody on this host is one.
    access: { env: 'local' },
    ...(publicUrl === undefined ? {} : { publicUrl }),
  })
  await core.start()
  const url = core.url()
  const orchestrator = createOrchestrator({
    engine,
    queue,
    policies,
    maxRetries,
    launchPools: [{ pool: POOL, launcher: launcher(`${url}/task-complete`), slots: 4 }],
    // Shorter than the usual one, so that the example need not wait for long.
    queueIntake: { waitMs: 1_000 },
    onError: () => undefined,
  })
  await orchestrator.start()
  return {
    url,
    async stop() {
      await orchestrator.stop()
      await core.stop()
    },
  }
}
