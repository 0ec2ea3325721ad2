// The server of google.ts in a process of its own: says where it listens.

import { openFlags } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'

export interface GoogleOrder {
  readonly file: string
  readonly clientId: string
  readonly jwksUrl: string
}

async function run({ file, clientId, jwksUrl }: GoogleOrder): Promise<void> {
  const engine = await openSqliteEngine({ path: file })
  const server = await createServer({
    engine,
    policies: await openPolicies({ engine }),
    flags: await openFlags({ engine }),
    version: 'attack',
    maxRetries: 1,
    port: 0,
    access: {
      google: { clientIds: [clientId], jwksUrl },
      rules: [{ domain: 'corp.example', role: 'viewer' }],
      admins: ['boss@corp.example'],
    },
  })
  await server.start()
  process.send?.(server.url())
}

process.once('message', (order: GoogleOrder) => void run(order))
// Nobody would stop it any more.
process.once('disconnect', () => process.exit(0))
