// Claims of workers that are not well (C11). The store holds such a worker back; where health-aware selection is switched off for
// some actions, a second claim asks for their tasks alone, whatever the worker's health.

import type { ActionName } from '../model/ids.ts'
import type { TaskSettings } from '../model/task.ts'
import type { PolicyBook } from '../policy/policy.ts'
import { actionsNamedOnHealth, healthMatters } from '../policy/policy-match.ts'
import type { Work } from '../port/engine.ts'
import type { ClaimRequest, ClaimResult } from '../port/leases.ts'

/** An action that a worker takes tasks of. */
export interface ClaimedAction {
  readonly name: ActionName
  readonly settings: Pick<TaskSettings, 'pack' | 'healthAware'>
}

/** Of these actions, or of any if null: those whose tasks go to workers that are not well, too. */
export function actionsOfAnyHealth(book: PolicyBook, actions: readonly ClaimedAction[] | null): readonly ActionName[] {
  const asked = actions ?? actionsNamedOnHealth(book).map((name) => ({ name: name as ActionName, settings: {} }))
  return asked.filter(({ name, settings }) => !healthMatters(book, { action: name, settings })).map(({ name }) => name)
}

/** What a claim came to, and what a second one brings if the first was held back. */
export async function claimedWhateverHealth<Result extends ClaimResult>(
  engine: Pick<Work, 'claim'>,
  request: ClaimRequest,
  first: Result,
  actions: readonly ActionName[],
): Promise<Result> {
  const limit = request.limit - first.claimed.length
  if (first.heldBack === null || actions.length === 0 || limit < 1) return first
  const { claimed, nextDueAt, now } = await engine.claim({ ...request, actions, limit, regardless: true })
  const times = [first.nextDueAt, nextDueAt].filter((at) => at !== null)
  return {
    ...first,
    claimed: [...first.claimed, ...claimed],
    nextDueAt: times.length === 0 ? null : Math.min(...times),
    // Work may come that it gets: then it is not to sleep like one that gets none.
    heldBack: first.heldBack === 'unhealthy' ? 'degraded' : first.heldBack,
    // The later one: nobody takes a lease of the first for longer than it is.
    now,
  }
}
