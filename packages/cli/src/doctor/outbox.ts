// Checks that operators' retries which go out by a queue do not lie in the outbox of the store: the queue refuses them, or no
// orchestrator with that queue runs.

import { formatDuration } from '@reprise/core'
import { type OutboxFigures, outboxFigures } from '@reprise/orchestrator'
import { storeAddress } from '../configuration/store-address.ts'
import { connection } from '../session.ts'
import { type Check, ok, warn } from './finding.ts'

/** Longer than an orchestrator takes to send one, with a restart of it. */
const LYING_MS = 120_000

export const outbox: Check = async ({ target, resolved, host }) => {
  if (target === null) return []
  try {
    const figures = target.kind === 'http' ? await ofServer(target, resolved) : await ofStore(resolved)
    if (figures === null) return []
    const { unsent, refused, oldestAskedAt } = figures
    if (unsent === 0) return [ok('outbox', 'No retry waits to be sent to a queue.')]
    const ageMs = host.clock.now() - (oldestAskedAt ?? host.clock.now())
    const since = formatDuration(Math.max(Math.round(ageMs / 1_000) * 1_000, 0))
    const wait =
      unsent === 1 ? '1 retry waits to be sent to its queue' : `${unsent} retries wait to be sent to their queue`
    const says = `${wait}, the oldest for ${since}; the queue refused ${refused}.`
    if (refused === 0 && ageMs < LYING_MS) return [ok('outbox', says)]
    const advice = 'Does an orchestrator with this queue run, and may it send there? Its log names the cause.'
    return [warn('outbox', says, advice)]
  } catch {
    // No queue, no right to see it, or no store: the checks before tell what is wrong.
    return []
  }
}

async function ofServer(...where: Parameters<typeof connection>): Promise<OutboxFigures | null> {
  const client = await connection(...where)
  try {
    return (await client.showQueue({})).outbox
  } finally {
    await client.close()
  }
}

async function ofStore(resolved: Parameters<typeof storeAddress>[0]): Promise<OutboxFigures | null> {
  const { connectEngine } = await import('@reprise/connect')
  const opened = await connectEngine(storeAddress(resolved), { create: false })
  try {
    const figures = await outboxFigures(opened.engine)
    return figures.unsent === 0 ? null : figures
  } finally {
    await opened.close()
  }
}
