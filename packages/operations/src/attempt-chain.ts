// The last attempts of a task, one after the other, as the page of a cause and a work order show them.

import type { Engine, Execution, Task } from '@reprise/core'
import { z } from 'zod'
import { Moment } from './schemas/names.ts'
import { failureView, type Redaction } from './views.ts'

const CHAIN_ATTEMPTS_MAX = 10

export const AttemptInChain = z.object({
  attempt: z.int(),
  status: z.string(),
  code: z.string().nullable(),
  message: z.string().nullable(),
  worker: z.string().nullable(),
  version: z.string().nullable(),
  dispatchedAt: Moment,
  resolvedAt: Moment.nullable(),
})

export async function chainOf(
  { engine, redaction }: { readonly engine: Engine; readonly redaction: Redaction },
  { id, tenant, attempt }: Task,
) {
  // The last attempts are what it died of.
  const from = Math.max(attempt - CHAIN_ATTEMPTS_MAX, 0)
  const page = { limit: CHAIN_ATTEMPTS_MAX, ...(from === 0 ? {} : { cursor: String(from) }) }
  const { items } = await engine.executions(id, page)
  return {
    task: id,
    tenant,
    attempts: items.map((one: Execution) => {
      const failure = one.failure === null ? null : failureView(one.failure, redaction)
      return {
        attempt: one.attempt,
        status: one.status,
        code: failure?.code ?? null,
        message: failure?.message ?? null,
        worker: one.worker,
        version: one.build?.version ?? null,
        dispatchedAt: one.dispatchedAt,
        resolvedAt: one.resolvedAt,
      }
    }),
  }
}
