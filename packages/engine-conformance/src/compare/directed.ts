// The commands of those who don't run what they claim, in a random run: dispatchers, who assign it to workers, and launchers,
// who see to what they launched.

import { present } from '@reprise/core'
import type { AssignDraft } from './command.ts'
import { launchSettlement } from './decisions.ts'
import { poolOf, workerOf } from './draft.ts'
import type { Run, Side } from './pair.ts'

export async function assign({ pair }: Run, doing: string, drafts: readonly AssignDraft[]): Promise<void> {
  const picked = drafts.flatMap((draft) => {
    const place = pair.pick(draft.lease, pair.dispatched)
    return place === null ? [] : [{ draft, place }]
  })
  const assignmentsOf = ({ leases }: Side) =>
    picked.flatMap(({ draft: { worker, ttlMs, regardless }, place }) =>
      leases.slice(place, place + 1).map((lease) => {
        return { ...lease, worker: workerOf(worker), ttlMs, ...present({ regardless }) }
      }),
    )
  await pair.both(doing, (side) => side.engine.assign(assignmentsOf(side)))
}

export async function reconcile({ pair, observer }: Run, doing: string, pool: number, gone: boolean): Promise<void> {
  const answers = await pair.both(doing, ({ engine }) => engine.launches({ pool: poolOf(pool) }))
  if (answers === null) return
  const settlementsFor = (side: Side) =>
    (side === pair.model ? answers.model : answers.engine).items.flatMap((launch) =>
      launchSettlement(launch, pair.now, gone),
    )
  const results = await pair.both(`${doing}, settling,`, (side) => side.engine.settle(settlementsFor(side)))
  if (results !== null) observer.settled(settlementsFor(pair.engine), results.engine, pair.now)
}
