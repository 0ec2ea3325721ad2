// One task that meets a passing fault, and one that can never succeed: the first is retried with a growing pause (C3, C4),
// the second is not. Each attempt tells where it stands in its chain (C1).

import type { Client } from '@reprise/client'
import { type Engine, type Execution, retryChain, type TaskId } from '@reprise/core'
import { createWorker, defineAction, silentLogger } from '@reprise/worker'

/** Refused twice before it works. */
const REFUSALS = 2

const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED 192.0.2.7:443'), { code: 'ECONNREFUSED' })

const fetchPage = defineAction({
  name: 'page.fetch',
  // Both are settings of the action, as its time-out is (C2). Without a `retry` nothing is tried again.
  retry: { max: 3, backoff: { kind: 'exponential', base: '100ms', multiplier: 2, max: '5m', jitter: 0 } },
  timeout: '10s',
  run(_: { readonly url: string }, { attempt }) {
    if (attempt <= REFUSALS) throw refused()
    return { bytes: 512 }
  },
})

const importContact = defineAction({
  name: 'contact.import',
  retry: { max: 3 },
  run({ email }: { readonly email: string }) {
    if (!email.includes('@'))
      throw Object.assign(new Error(`'${email}' is not an e-mail address`), { code: 'validation' })
    return null
  },
})

export async function faults(engine: Engine, client: Client, tell: (line: string) => void) {
  const worker = await createWorker({ engine, actions: [fetchPage, importContact], log: silentLogger })
  const page = await client.submit(fetchPage, { url: 'https://example.com' })
  const contact = await client.submit(importContact, { email: 'person36' })
  await page.result()
  await contact.result().catch(() => undefined)
  await worker.stop()
  const pages = await chainOf(engine, page.id)
  tell('page.fetch meets a connection that is refused:')
  for (const [index, execution] of pages.entries()) tell(`  ${lineOf(execution, pages[index - 1])}`)
  const contacts = await chainOf(engine, contact.id)
  tell('contact.import gets something that is no address:')
  for (const execution of contacts) tell(`  ${lineOf(execution)}`)
  return { refusedAttempts: pages.length, invalidAttempts: contacts.length }
}

const chainOf = async (engine: Engine, id: string): Promise<readonly Execution[]> =>
  (await engine.executions(id as TaskId)).items

/** What an operator sees of one attempt: how many retries before it, why, and after which pause. */
function lineOf(execution: Execution, before?: Execution): string {
  const { retryCount, maxRetries, retryReason } = retryChain(execution)
  const why = retryReason === null ? 'the original' : `retry ${retryCount} of ${maxRetries} because of ${retryReason}`
  const pauseMs = before === undefined ? 0 : execution.dispatchedAt - (before.resolvedAt ?? 0)
  const pause = before === undefined ? '' : `, ${Math.round(pauseMs / 100) * 100} ms later`
  const { failure } = execution
  const verdict = failure === null ? '' : ` (${failure.reason}, ${failure.retriable ? 'retriable' : 'not retriable'})`
  return `attempt ${execution.attempt}, ${why}${pause}: ${execution.status}${verdict}`
}
