// Whose turn it is to put old dead letters away: one process at a time, so that the same lines are not written by several. The turn is a
// document. A pass begins when `nextPassAt` has come and nobody has the turn; the process that takes it renews it with each page and, at
// the end of the pass, says when the next one begins. If the process dies, its turn runs out and another process begins the pass again.
// The turn spares work only. That nothing is discarded without its line, and nothing twice, is seen to by the store.

import { type Collection, type Engine, getOrInsert, stepDocument } from '@reprise/core'

interface Turn {
  readonly id: string
  readonly owner: string
  readonly until: number
  readonly nextPassAt: number
}

const ID = 'turn'
const LEASE_MS = 60_000

const turnsIn = (engine: Pick<Engine, 'collection'>): Collection<Turn> =>
  engine.collection<Turn>({ name: 'dead-letter-retention', indexes: {} })

/** Takes the turn if a pass is due, or keeps it. False if another process has it, or nothing is due yet. */
export async function takeTurn(engine: Pick<Engine, 'collection' | 'now'>, owner: string): Promise<boolean> {
  const turns = turnsIn(engine)
  const now = await engine.now()
  await getOrInsert(turns, ID, () => ({ id: ID, owner: '', until: 0, nextPassAt: 0 }))
  const taken = await stepDocument(turns, ID, (turn) => {
    const isOwn = turn.owner === owner && turn.until > now
    const isFree = turn.until <= now && turn.nextPassAt <= now
    return isOwn || isFree ? { ...turn, owner, until: now + LEASE_MS } : null
  })
  return taken !== null
}

/** A pass is over, or given up: the next one begins after this time. */
export async function passOn(
  engine: Pick<Engine, 'collection' | 'now'>,
  owner: string,
  intervalMs: number,
): Promise<void> {
  const now = await engine.now()
  await stepDocument(turnsIn(engine), ID, (turn) =>
    turn.owner === owner && turn.until > 0 ? { ...turn, until: 0, nextPassAt: now + intervalMs } : null,
  )
}
