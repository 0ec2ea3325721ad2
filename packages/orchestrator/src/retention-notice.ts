// Tells operators which retention rules are in force. The rules stand in the configuration of the process that sweeps, which a
// server elsewhere can't see: so that process writes them to the store. If several have other rules, those of the one that
// began last are told; each of them deletes by its own.

import {
  type Collection,
  type Document,
  durationMs,
  type Engine,
  isRepriseError,
  type RetentionRules,
  type Service,
} from '@reprise/core'
import type { DeadLetterRule } from './dead-letters/retention.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'

export interface RetentionInForce extends RetentionRules {
  /** When dead letters are exported and discarded. Where to is nobody's business here. */
  readonly deadMs?: number
}

interface RetentionDocument extends Document {
  readonly rules: RetentionInForce
}

const ID = 'rules'
/** What was told is told again only after a trouble with the store. */
const REST_MS = 3_600_000

const collectionOf = (engine: Pick<Engine, 'collection'>): Collection<RetentionDocument> =>
  engine.collection({ name: 'retention', indexes: {} })

export function createRetentionNotice(
  options: ServiceOptions & {
    readonly engine: Pick<Engine, 'collection'>
    readonly rules: RetentionRules
    readonly dead: DeadLetterRule | undefined
  },
): Service {
  const around = surroundings('retention-notice', options)
  const { engine, dead } = options
  const deadMs = dead === undefined ? {} : { deadMs: durationMs(dead.after, 'retention of dead letters') }
  const document: RetentionDocument = { id: ID, rules: { ...options.rules, ...deadMs } }
  return createLoop('retention-notice', around, () => {
    let isTold = false
    return {
      async round() {
        if (!isTold) await write(collectionOf(engine), document)
        isTold = true
        return jitteredMs(REST_MS, around.random)
      },
    }
  })
}

async function write(collection: Collection<RetentionDocument>, document: RetentionDocument): Promise<void> {
  for (;;) {
    const stored = await collection.get(ID)
    try {
      if (stored === null) await collection.insert(document)
      else await collection.update(document, stored.version)
      return
    } catch (error) {
      // Another process tells of its own at this moment.
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    }
  }
}

/** Null if no process that deletes has ever told. What is not named in it is kept for ever. */
export async function retentionInForce(engine: Pick<Engine, 'collection'>): Promise<RetentionInForce | null> {
  return (await collectionOf(engine).get(ID))?.document.rules ?? null
}
