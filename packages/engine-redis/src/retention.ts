// Deleting what the rules no longer keep: a bounded number per call, and never a dead letter.

import { BATCH_MAX, type RetainResult, type RetentionRules } from '@reprise/core'
import { checkLimit, pageCursor } from '@reprise/core/engine'
import { asTexts, type Partition } from './partition.ts'
import { retainScript } from './scripts.generated.ts'

export async function retain(
  partition: Partition,
  rules: RetentionRules,
  options: { readonly limit?: number; readonly cursor?: string } | undefined,
): Promise<RetainResult> {
  const limit = options?.limit ?? BATCH_MAX
  checkLimit(limit)
  const after = pageCursor(options) ?? 0
  const { succeededMs, cancelledMs, discardedMs, journalMs, seriesMs } = rules
  const keptMs = [succeededMs, cancelledMs, discardedMs, journalMs, seriesMs].map((ms) =>
    ms === undefined || Number.isNaN(ms) ? '' : String(ms),
  )
  const [tasksRemoved, entriesRemoved, next = ''] = asTexts(
    await partition.once(retainScript, [
      String(limit),
      String(after),
      ...keptMs,
      partition.position.place === 0 ? '1' : '',
    ]),
  )
  return {
    tasksRemoved: Number(tasksRemoved),
    entriesRemoved: Number(entriesRemoved),
    next: next === '' ? null : next,
  }
}
