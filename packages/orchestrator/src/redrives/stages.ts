// The canary: a redrive goes in stages, 1 → 10 → 100 → the rest, and each waits for the outcomes of the one before. Pure: from
// what a stage has come to, it says whether to go on, to wait, or to halt and why.

import type { ItemCounts, RedriveDocument, RedrivePlan, StageResult } from './redrive.ts'

/** In the last stage, which may be long, a share means something from this many outcomes on. */
const OUTCOMES_MIN = 20

export type StageVerdict =
  /** Send up to this many more; 0 to wait for outcomes. */
  | { readonly kind: 'go on'; readonly room: number }
  | { readonly kind: 'next stage' }
  | { readonly kind: 'halt'; readonly sentence: string }
  | { readonly kind: 'done' }

/** The size of a stage; null for the rest. */
const stageSize = ({ canary }: Pick<RedrivePlan, 'canary'>, at: number): number | null => canary[at] ?? null

/** A stage that begins now. */
export const newStage = (plan: RedrivePlan, at: number, now: number): StageResult => ({
  size: stageSize(plan, at),
  sent: 0,
  recovered: 0,
  failed: 0,
  same: 0,
  startedAt: now,
  endedAt: null,
})

/** How far the whole redrive has come; `same` failed of the cause they had died of before. */
export type Standing = ItemCounts & { readonly same: number }

/** What that means for the stage under way, given those that came before it. */
export function stageOf({ stages }: Pick<RedriveDocument, 'stages'>, standing: Standing): StageResult | null {
  const current = stages.at(-1)
  if (current === undefined) return null
  const { sent, recovered, failed, ended, same } = standing
  const before = (part: 'sent' | 'recovered' | 'failed' | 'same'): number =>
    stages.slice(0, -1).reduce((all, stage) => all + stage[part], 0)
  return {
    ...current,
    sent: Math.max(0, sent + recovered + failed + ended - before('sent')),
    recovered: Math.max(0, recovered - before('recovered')),
    failed: Math.max(0, failed - before('failed')),
    same: Math.max(0, same - before('same')),
  }
}

export function judgeStage(
  { minSuccess, canary }: Pick<RedrivePlan, 'minSuccess' | 'canary'>,
  stage: StageResult,
  { pending, sent: underWay }: Pick<ItemCounts, 'pending' | 'sent'>,
): StageVerdict {
  if (pending === 0 && underWay === 0) return { kind: 'done' }
  const sentence = canary.length === 0 ? null : whyHalt(stage, minSuccess)
  if (sentence !== null) return { kind: 'halt', sentence }
  if (stage.size === null) return { kind: 'go on', room: pending }
  const room = Math.min(pending, Math.max(0, stage.size - stage.sent))
  return room > 0 || underWay > 0 ? { kind: 'go on', room } : { kind: 'next stage' }
}

/**
 * A stage of the canary halts as soon as it can't reach its share any more, or one item fails of its old cause. In the rest,
 * single failures are expected: only the share of many outcomes counts there.
 */
function whyHalt({ size, sent, recovered, failed, same }: StageResult, minSuccess: number): string | null {
  if (failed === 0) return null
  if (size !== null && same > 0) {
    return `The cause is still there: ${same} of ${sent} sent in this stage failed of the same cause again.`
  }
  const outcomes = recovered + failed
  const best = size === null ? recovered / outcomes : (Math.max(size, sent) - failed) / Math.max(size, sent)
  if (best >= minSuccess || (size === null && outcomes < OUTCOMES_MIN)) return null
  return `Too many fail: ${recovered} of ${outcomes} succeeded in this stage, and ${Math.round(minSuccess * 100)} % must.`
}
