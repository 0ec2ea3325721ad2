// The conservation ledger: for each tenant and action, that what was accepted stands somewhere; and what the continuous check
// found that does not fit.

import {
  addedSums,
  type LaneView,
  type LedgerSums,
  ledgerDifferences,
  ledgerSums,
  ledgerWalks,
  type Page,
  WALK_ID,
} from '@reprise/core'
import { z } from 'zod'
import { mayTouch, tenantScope } from './access/caller.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import { ActionNameInput, Moment, PageQuery, TenantIdInput } from './schemas/names.ts'

const SumsView = z.object({
  accepted: z.int(),
  succeeded: z.int(),
  dead: z.int(),
  discarded: z.int(),
  cancelled: z.int(),
  live: z.int().meta({ description: 'Queued, waiting and running.' }),
  removed: z.int(),
  difference: z.int().meta({ description: 'What was accepted and stands nowhere; 0 as long as the counts agree.' }),
})

const DifferenceView = z
  .object({
    kind: z.string(),
    subject: z.string(),
    task: z.string().nullable(),
    found: z.string(),
    expected: z.string(),
    sentence: z.string(),
    since: Moment,
  })
  .meta({ id: 'LedgerDifference' })

const LedgerView = z
  .object({
    items: z.array(SumsView.extend({ tenant: z.string(), action: z.string() })).meta({
      description: 'By tenant and action. If an action runs in several pools, two pages may have parts of it.',
    }),
    next: z.string().nullable(),
    differences: z
      .array(DifferenceView)
      .meta({ description: 'What does not fit. For callers who may see all tenants.' }),
    checked: z
      .object({
        endedAt: Moment,
        startedAt: Moment,
        checked: z.int().nullable().meta({ description: 'How many tasks; null for a caller limited to tenants.' }),
      })
      .nullable()
      .meta({ description: 'The last whole look through the store; null if there was none yet.' }),
    isChecking: z.boolean().meta({ description: 'Whether an orchestrator looks through the store now.' }),
  })
  .meta({ id: 'Ledger' })

const DIFFERENCES_SHOWN_MAX = 100

export const ledgerOperations = {
  getLedger: operation({
    route: 'GET /api/v1/ledger',
    summary: 'Does every accepted task stand somewhere?',
    description:
      'accepted = succeeded + dead + discarded + cancelled + live + removed, for each tenant and action. The counts are kept; an orchestrator holds them against the tasks all the time, and what does not fit is listed.',
    tag: 'configuration',
    right: 'read',
    tenants: 'own',
    input: PageQuery.extend({ action: ActionNameInput.optional(), tenant: TenantIdInput.optional() }),
    output: LedgerView,
    answer: 'The sums, and what does not fit.',
    run: async ({ engine }, caller, { action, tenant, ...page }) => {
      const isLimited = caller.tenants !== null
      const scope = { ...tenantScope(caller, tenant), ...given({ action }) }
      const lanes: Page<LaneView> = await engine.lanes({ ...scope, ...given(page) })
      const rows = new Map<string, { tenant: string; action: string; sums: LedgerSums }>()
      for (const lane of lanes.items.filter((one) => mayTouch(caller, one.tenant))) {
        const key = `${lane.tenant}\0${lane.action}`
        const its = ledgerSums(lane.counts)
        const known = rows.get(key)?.sums
        const sums = known === undefined ? its : addedSums(known, its)
        rows.set(key, { tenant: lane.tenant, action: lane.action, sums })
      }
      const now = await engine.now()
      const walk = (await ledgerWalks(engine).get(WALK_ID))?.document
      const found = isLimited ? [] : (await ledgerDifferences(engine).list({ limit: DIFFERENCES_SHOWN_MAX })).items
      return {
        items: [...rows.values()].map(({ sums, ...row }) => ({ ...sums, ...row })),
        next: lanes.next,
        differences: found.map(({ document }) => {
          const { kind, subject, task, found: is, expected, sentence, since } = document
          return { kind, subject, task, found: is, expected, sentence, since }
        }),
        // How many tasks there are is about all tenants.
        checked: walk?.last == null ? null : { ...walk.last, checked: isLimited ? null : walk.last.checked },
        isChecking: walk !== undefined && walk.until > now,
      }
    },
  }),
}
