// A redrive as callers see it: its document without what is for the service alone, and without secrets.

import type { RedriveDocument } from '@reprise/orchestrator'
import type { z } from 'zod'
import type { RedriveView } from './schemas/redrive.ts'
import type { Redaction } from './views.ts'

export function redriveView(redrive: RedriveDocument, redaction: Redaction, now: number): z.output<typeof RedriveView> {
  const { id, state, actor, reason, tenants, selector, createdAt, startedAt, endedAt } = redrive
  const { total, counts, plan, found, preflight, stages, again, halt, held, owner, leaseUntil } = redrive
  const { actions, ages, causes, expired, superseded } = found
  const told = <T extends { readonly message: string }>(items: readonly T[]): T[] =>
    items.map((item) => ({ ...item, message: redaction.text(item.message) }))
  return {
    id,
    state,
    actor,
    reason,
    tenants,
    selector,
    createdAt,
    startedAt,
    endedAt,
    total,
    counts,
    preflight,
    stages,
    held,
    plan: { ...plan, patch: plan.patch === null ? null : redaction.value(plan.patch) },
    found: { actions, tenants: found.tenants, ages, causes: told(causes), expired, superseded },
    again: told(again),
    halt: halt === null ? null : { ...halt, evidence: told(halt.evidence) },
    isMoved: owner !== null && leaseUntil > now,
  }
}
