// What `up --demo` adds: actions to run, and somebody who submits them. Everything else is what any user gets.

import { type Service, systemRandom } from '@reprise/core'
import type { RoleContext } from '../roles/role-context.ts'
import { createDemoStream } from './stream.ts'

export { demoActions } from './actions.ts'

/** The stream, running; it is a client like any other. */
export async function startDemoStream({ engine, host, log }: RoleContext): Promise<Service> {
  const { createClient } = await import('@reprise/client')
  const client = await createClient({ engine })
  const stream = createDemoStream(client, host.clock, systemRandom, (error) =>
    log.warn('The demo could not submit a task.', { error }),
  )
  await stream.start()
  return {
    ...stream,
    async stop() {
      await stream.stop()
      await client.close()
    },
  }
}
