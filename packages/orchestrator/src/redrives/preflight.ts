// What an operator should know before dead letters go back to work: what would hold them, how long it may take, and what is odd
// about them, in sentences.

import { type ActionName, type Engine, type Scope, SERIES_STEP_MS } from '@reprise/core'
import { LaneFacts } from './lane-facts.ts'
import type { Preflight, RedriveDocument, RedriveLane } from './redrive.ts'

/** How far back it is looked how fast these actions go. */
const SPEED_MS = 15 * SERIES_STEP_MS
const SCOPES_LOOKED_AT_MAX = 20

type Asked = Pick<RedriveDocument, 'found' | 'total' | 'plan' | 'tenants'>

export async function preflight(engine: Engine, redrive: Asked, now: number): Promise<Preflight> {
  const { found, total, plan } = redrive
  const facts = new LaneFacts(engine, redrive)
  const held = { paused: 0, breaker: 0, noWorker: 0 }
  const unfixed = new Set<string>()
  for (const { count, ...lane } of found.lanes) {
    if (await facts.isPaused(lane)) held.paused += count
    if ((await facts.breaker(lane)) !== null) held.breaker += count
    if ((await facts.workers(lane)).length === 0) held.noWorker += count
    const why = plan.fixedIn === null ? null : await facts.unfixed(lane, plan.fixedIn)
    if (why !== null) unfixed.add(why)
  }
  const estimatedMs = await estimate(engine, redrive, now)
  return { at: now, ...held, estimatedMs, warnings: [...warningsOf({ found, total, plan }, held), ...unfixed] }
}

/**
 * By the limits that were asked for, or by how fast these actions have gone lately; null if neither tells. A caller limited to
 * tenants goes by the own tasks: how busy others are is not told.
 */
async function estimate(engine: Engine, { found, total, plan, tenants }: Asked, now: number): Promise<number | null> {
  const scopes: readonly Scope[] =
    tenants === null ? found.actions.map(({ name }) => ({ action: name as ActionName })) : found.lanes.map(scopeOf)
  let ended = 0
  for (const scope of scopes.slice(0, SCOPES_LOOKED_AT_MAX)) {
    const points = await engine.series({ ...scope, from: now - SPEED_MS, to: now + SERIES_STEP_MS })
    ended += Math.max(0, ...points.map(({ succeeded, failed }) => succeeded + failed))
  }
  const bySpeed = ended === 0 ? null : (total / ended) * SERIES_STEP_MS
  const byRate = plan.ratePerS === null ? null : (total / plan.ratePerS) * 1_000
  const slowest = Math.max(bySpeed ?? 0, byRate ?? 0)
  return slowest === 0 ? null : Math.round(slowest)
}

const scopeOf = ({ pool, action, tenant }: RedriveLane): Scope => ({ pool, action, tenant })

function warningsOf(
  { found, total, plan }: Pick<Asked, 'found' | 'total' | 'plan'>,
  { paused, breaker, noWorker }: Pick<Preflight, 'paused' | 'breaker' | 'noWorker'>,
): readonly string[] {
  const { expired, superseded, causes } = found
  const warnings: string[] = []
  const say = (count: number, sentence: string): void => {
    if (count > 0) warnings.push(`${count} of ${total} ${sentence}`)
  }
  say(paused, 'would meet a paused lane: they wait there until somebody resumes it.')
  say(breaker, 'would meet a breaker that is not closed: they wait behind it.')
  say(noWorker, 'have no healthy worker now.')
  say(expired, 'are past their deadline. A redrive runs them all the same.')
  say(superseded, 'were superseded: another task has taken their dedupe key since. Look whether they should still run.')
  if (causes.length > 1) warnings.push(`They died of ${causes.length} causes: one fix may not help them all.`)
  if (plan.canary.length === 0 && total > 1)
    warnings.push('There is no canary: nothing halts it if the cause is still there.')
  return warnings
}
