// What tenants store beside their tasks: notes, and chunks of jobs that wait to be handed in. Both count as bytes of the tenant, by
// the same limit as payloads.
//
// The chunks that wait are found from the jobs themselves: a tenant has few that have not ended. Notes are many and small, so
// their bytes are added up in a document for each tenant. That is written before a note is, and after a note is gone: a
// process that dies in between leaves a sum that is a little too large, and never one that is too small.

import {
  allPages,
  type Collection,
  type Engine,
  getOrInsert,
  jobDefinition,
  stepDocument,
  TenantBytesError,
  type TenantId,
} from '@reprise/core'
import type { Caller } from './access/caller.ts'
import type { Context } from './context.ts'

interface NoteBytes {
  /** The tenant. */
  readonly id: string
  readonly bytes: number
}

type Store = Pick<Engine, 'collection'>

const JOBS_MAX = 1_000

const noteBytesIn = (engine: Store): Collection<NoteBytes> => engine.collection({ name: 'note-bytes', indexes: {} })

export async function bytesBeside(engine: Store, tenant: TenantId): Promise<number> {
  const jobs = engine.collection(jobDefinition)
  const [notes, { items }] = await Promise.all([
    noteBytesIn(engine).get(tenant),
    allPages((page) => jobs.find({ ...page, index: 'live', value: tenant }), JOBS_MAX),
  ])
  const waiting = items.flatMap(({ document }) => document.blocks.map(({ bytes = 0 }) => bytes))
  return waiting.reduce((sum, bytes) => sum + bytes, notes?.document.bytes ?? 0)
}

/** More notes, or fewer. */
export async function addNoteBytes(engine: Store, tenant: TenantId, bytes: number): Promise<void> {
  const sums = noteBytesIn(engine)
  await getOrInsert(sums, tenant, () => ({ id: tenant, bytes: 0 }))
  await stepDocument(sums, tenant, (sum) => ({ ...sum, bytes: Math.max(sum.bytes + bytes, 0) }))
}

/** Writes something of a tenant, unless the tenant would then have more bytes than it may. */
export async function withinBytes<T>(
  { use, tenantLimits }: Pick<Context, 'use' | 'tenantLimits'>,
  { tenants }: Pick<Caller, 'tenants'>,
  tenant: TenantId,
  bytes: number,
  write: () => Promise<T>,
): Promise<T> {
  const { bytes: limit } = tenantLimits.of(tenant, tenants !== null)
  if (limit === null) return write()
  await use.refresh(tenant)
  const { bytes: before } = use.of(tenant)
  if (before + bytes > limit) throw new TenantBytesError(tenant, before, bytes, limit)
  const amount = { tasks: 0, bytes }
  use.begin(tenant, amount)
  try {
    return await write()
  } finally {
    // Also if it failed: whether the store has it is not known until its next figures.
    use.end(tenant, amount, amount)
  }
}
