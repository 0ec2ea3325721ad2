// Which processes work on a store: each role announces itself there every few seconds, and leaves when it stops. One that died is
// not counted half a minute later, and forgotten after an hour. Workers of the SDK are in the registry of workers already.

import { type Collection, type Document, type Engine, isRepriseError, type Service } from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'

export interface RoleAnnouncement {
  /** As the command line has them: `core`, `orchestrator`, `worker`, `up`. */
  readonly role: string
  readonly host: string
  readonly pid: number
}

interface RoleDocument extends Document, RoleAnnouncement {
  /** By the store's time. */
  readonly seenAt: number
}

const ANNOUNCE_MS = 10_000
const PRESENT_MS = 30_000
const FORGET_MS = 3_600_000
/** More roles than this are not told apart. */
const LOOK_MAX = 200

const collectionOf = (engine: Pick<Engine, 'collection'>): Collection<RoleDocument> =>
  engine.collection({ name: 'roles', indexes: {} })

const idOf = ({ role, host, pid }: RoleAnnouncement): string => `${role}:${host}:${pid}`

export function createRolePresence(
  options: ServiceOptions & RoleAnnouncement & { readonly engine: Pick<Engine, 'collection' | 'now'> },
): Service {
  const around = surroundings('presence', options)
  const { engine, role, host, pid } = options
  const id = idOf(options)
  return createLoop('presence', around, () => ({
    async round() {
      await announceRole(engine, { role, host, pid })
      return jitteredMs(ANNOUNCE_MS, around.random)
    },
    async leave() {
      await collectionOf(engine).remove(id)
    },
  }))
}

/** Once. A role that another process announces in the same moment counts as well. */
export async function announceRole(
  engine: Pick<Engine, 'collection' | 'now'>,
  announcement: RoleAnnouncement,
): Promise<void> {
  const collection = collectionOf(engine)
  const id = idOf(announcement)
  const document = { id, ...announcement, seenAt: await engine.now() }
  const stored = await collection.get(id)
  try {
    if (stored === null) await collection.insert(document)
    else await collection.update(document, stored.version)
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_CONFLICT') && !isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
  }
}

/** Those that were heard of lately. Long gone ones are removed on the way. */
export async function presentRoles(engine: Pick<Engine, 'collection' | 'now'>): Promise<readonly RoleAnnouncement[]> {
  const collection = collectionOf(engine)
  const now = await engine.now()
  const { items } = await collection.list({ limit: LOOK_MAX })
  const documents = items.map(({ document }) => document)
  for (const { id, seenAt } of documents) if (now - seenAt >= FORGET_MS) await collection.remove(id)
  return documents.filter(({ seenAt }) => now - seenAt < PRESENT_MS).map(({ role, host, pid }) => ({ role, host, pid }))
}
