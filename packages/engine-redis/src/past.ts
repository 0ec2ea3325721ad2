// The past of a task that comes from elsewhere, as the script that accepts it wants it: see lua/include/past.lua.

import type { PastAttempt, TaskPast } from '@reprise/core'
import { importedData, standingAfter } from '@reprise/core/engine'
import { badEnd, buildMembers } from './records.ts'

/** What stands around it. JSON has none of its own: it escapes them. */
const AROUND = '\f'

export function pastText(action: string, past: TaskPast): string {
  const { dead, attemptsBefore: before, parks, retryReason, died, ...spent } = standingAfter(past)
  const json = {
    actor: past.by.actor.toWellFormed(),
    reason: past.by.reason.toWellFormed(),
    data: Object.fromEntries(
      (['dead', 'queued', 'waiting'] as const).map((status) => [
        status,
        JSON.stringify(importedData(past, action, status)),
      ]),
    ),
    // What is missing is nothing for the script: it knows no null.
    spent: {
      ...spent,
      before,
      ...(parks === 0 ? {} : { parks }),
      ...(retryReason === null ? {} : { retryReason }),
    },
    records: past.attempts.map((one) => ({ attempt: one.attempt, ...recordAround(one) })),
    isDead: dead !== null,
    ...(died === null
      ? {}
      : {
          died: {
            at: died.resolvedAt,
            reason: died.decision.reason,
            fingerprint: died.failure.fingerprint,
            sample: badEnd(died.failure, died.decision),
          },
        }),
  }
  return `${AROUND}${JSON.stringify(json)}${AROUND}`
}

/** The record of an attempt before and after its token. */
function recordAround(one: PastAttempt): { readonly head: string; readonly tail: string } {
  const { status, attempt, worker, build, dispatchedAt, resolvedAt, generation, retryReason, failure, decision } = one
  const extra =
    (generation > 1 ? `,"generation":${generation}` : '') +
    (retryReason === null ? '' : `,"retryReason":${JSON.stringify(retryReason)}`) +
    (build === null ? '' : buildMembers(build))
  return {
    head: `{"status":"${status}","attempt":${attempt},"token":"`,
    tail: `","worker":${JSON.stringify(worker)},"dispatchedAt":${dispatchedAt}${extra}${badEnd(failure, decision)},"resolvedAt":${resolvedAt}}`,
  }
}
