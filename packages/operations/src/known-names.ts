// Names that nothing has, in a hold or a limit: a misspelt one would hold nothing, and nobody would notice. It is taken all the
// same, because tasks may come later; the answer says so, with the known name that is nearest. For callers who may see
// everything: others can name only lanes that are there.

import { type Engine, listActions, nearMiss, type Scope } from '@reprise/core'
import { registrySnapshot } from '@reprise/orchestrator'
import type { Caller } from './access/caller.ts'

/** How many lanes and actions are looked at for a name that is near. */
const LOOKED_AT_MAX = 1_000

type Field = 'action' | 'tenant' | 'pool'
const FIELDS: readonly Field[] = ['action', 'tenant', 'pool']

export async function unknownNames(
  engine: Engine,
  scope: Scope,
  { tenants }: Caller,
): Promise<{ readonly warnings?: string[] }> {
  if (tenants !== null) return {}
  const warnings: string[] = []
  for (const field of FIELDS) {
    const name = scope[field]
    if (name === undefined || (await hasLane(engine, { [field]: name }))) continue
    const known = await knownNames(engine, field)
    if (known.has(name)) continue
    const near = nearMiss(
      name,
      [...known].filter((one) => isAsLong(one, name)),
    )
    warnings.push(`No task and no worker has the ${field} '${name}' yet: this holds for those that come.${near}`)
  }
  return warnings.length === 0 ? {} : { warnings }
}

/** A lane is there from the first task on. */
async function hasLane(engine: Engine, scope: Scope): Promise<boolean> {
  const { items, next } = await engine.lanes({ ...scope, limit: 1 })
  return items.length > 0 || next !== null
}

async function knownNames(engine: Engine, field: Field): Promise<ReadonlySet<string>> {
  const [lanes, workers, actions] = await Promise.all([
    engine.lanes({ limit: LOOKED_AT_MAX }),
    registrySnapshot(engine),
    listActions(engine, { limit: LOOKED_AT_MAX }),
  ])
  const names = new Set<string>(lanes.items.map((lane) => lane[field]))
  if (field === 'action') {
    for (const { name } of actions.items) names.add(name)
    for (const worker of workers) for (const action of worker.actions ?? []) names.add(action)
  }
  if (field === 'pool') for (const worker of workers) for (const pool of worker.pools) names.add(pool)
  return names
}

/** Names of very different length are not near, and comparing them takes time. */
const isAsLong = (one: string, other: string): boolean => Math.abs(one.length - other.length) <= other.length / 3 + 1
