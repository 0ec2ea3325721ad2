// Everything that runs in production, in one process: a server, which tells channels; an orchestrator, which makes work orders and
// moves runbooks; a worker; and an operator's client, which knows nothing but the address of the server and a token.

import { type Client, createClient } from '@reprise/client'
import { createRedactor, type Engine, openFlags, silentLogger, systemClock, VERSION } from '@reprise/core'
import { createContext, createRunbookHands } from '@reprise/operations'
import { createOrchestrator } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { createWorker, defineAction } from '@reprise/worker'
import type { Bank } from './bank.ts'

/** Servers of this machine may be called, which is not so by itself. */
const ALLOW = ['127.0.0.0/8']
const MAX_RETRIES = 1
/** How often alerts are looked at: far more often than usual, so that nobody has to wait. */
const ALERTS_EVERY_MS = 200

export interface House {
  readonly operator: Client
  readonly transfer: ReturnType<typeof transferBy>
  close(): Promise<void>
}

function transferBy(bank: Bank) {
  return defineAction({
    name: 'money.transfer',
    // One retry, after a pause. A success of it means that nobody is called.
    retry: { max: 1, backoff: { kind: 'fixed', delay: '300ms' } },
    async run(_: { readonly amount: number }, { retryToken }) {
      const { status } = await fetch(bank.url, { method: 'POST', headers: { 'idempotency-key': retryToken } })
      if (status !== 200) throw Object.assign(new Error(`The bank answered ${status}.`), { status })
      return 'transferred'
    },
  })
}

export async function openHouse(engine: Engine, bank: Bank): Promise<House> {
  const log = silentLogger
  const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
  const server = await createServer({
    engine,
    policies,
    flags,
    log,
    version: VERSION,
    port: 0,
    maxRetries: MAX_RETRIES,
    webhookAllow: ALLOW,
  })
  await server.start()
  const context = createContext({
    engine,
    policies,
    flags,
    log,
    clock: systemClock,
    maxRetries: MAX_RETRIES,
    redaction: createRedactor({}),
    version: VERSION,
  })
  const orchestrator = createOrchestrator({
    engine,
    policies,
    log,
    alerts: { intervalMs: ALERTS_EVERY_MS },
    runbooks: createRunbookHands({ context, allow: ALLOW }),
  })
  await orchestrator.start()
  const transfer = transferBy(bank)
  const worker = await createWorker({ engine, id: 'worker-1', actions: [transfer], log })
  const administrator = await createClient({ engine, actor: 'local:admin' })
  const { token } = await administrator.createToken({ name: 'ann', role: 'admin', tenants: null })
  await administrator.close()
  const operator = await createClient({ url: server.url(), token })
  return {
    operator,
    transfer,
    async close() {
      await operator.close()
      await worker.stop({ grace: 0 })
      await Promise.all([orchestrator.stop(), server.stop()])
    },
  }
}
