// Core, orchestrator and workers must share one store and one prefix (A17). Each role announces itself in its store. At the start it
// looks for the other half of a deployment that fell apart: in stores beside its own on the same server, in stores that other
// variables of the environment name, behind the server of this folder, and behind the one that launched workers call back to. It
// names both sides, and goes on.

import { hostname } from 'node:os'
import { type Engine, inTime, isAlive, type Logger, messageOf, type Service } from '@reprise/core'
import type { RoleAnnouncement } from '@reprise/orchestrator'
import type { Resolved } from '../configuration/resolve.ts'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import type { Host } from '../host.ts'
import { readLocalServer } from '../local-server.ts'

/** What a deployment needs. */
const PARTS = ['core', 'orchestrator', 'worker'] as const
type Part = (typeof PARTS)[number]

/** One store, and who works on it. */
export interface Side {
  /** As it may be shown. */
  readonly address: string
  readonly store: string
  readonly parts: ReadonlySet<Part>
  /** For people: `core on host-1 (process 4711)`. */
  readonly members: readonly string[]
}

const VARIABLES = ['REPRISE_ENGINE', 'TASK_TRACKING_REDIS_URL', 'REDIS_URL'] as const
const WORKERS_MAX = 50
const PEEK_MS = 5_000
const ASK_MS = 3_000
const ASKED_MAX = 5

interface Joining {
  readonly resolved: Resolved
  readonly host: Host
  readonly engine: Engine
  readonly log: Logger
  /** Told of what the announcements meet. */
  readonly onError: (error: unknown) => void
}

/** Announces the role from now on, and tells what does not fit. */
export async function joinStore({ resolved, host, engine, log, onError }: Joining, role: string): Promise<Service> {
  const { announceRole, createRolePresence } = await import('@reprise/orchestrator')
  const self = { role, host: hostname(), pid: process.pid }
  const presence = createRolePresence({ engine, log, onError, clock: host.clock, ...self })
  const look = async (): Promise<void> => {
    await announceRole(engine, self)
    const own = await sideOf(engine, shownAddress(storeAddress(resolved)))
    for (const words of mismatches(own, await otherSides(resolved, host))) log.warn(words)
    if (!own.parts.has('core')) await tellOfLocalServer({ resolved, log }, own)
  }
  // Nobody waits for it: what it finds is told when it is found.
  look().catch((error: unknown) => log.debug('Nobody looked for other stores.', { error: messageOf(error) }))
  await presence.start()
  return presence
}

export async function sideOf(engine: Engine, address: string): Promise<Side> {
  const { presentRoles, storeIdentity } = await import('@reprise/orchestrator')
  const [store, roles, now] = [await storeIdentity(engine), await presentRoles(engine), await engine.now()]
  const { items } = await engine.workers({ limit: WORKERS_MAX })
  // Dispatchers and launch services stand in the registry too, without pools.
  const workers = items.filter((worker) => worker.pools.length > 0 && isAlive(worker, now))
  const parts = new Set(roles.flatMap(partsOf))
  if (workers.length > 0) parts.add('worker')
  const others = workers.slice(0, 1).map(({ worker, host }) => `worker ${worker} on ${host}`)
  const isTold = roles.some(({ role }) => role === 'worker')
  return { address, store, parts, members: [...roles.map(nameOf), ...(isTold ? [] : others)] }
}

const partsOf = ({ role }: RoleAnnouncement): readonly Part[] =>
  role === 'up' ? ['core', 'orchestrator'] : PARTS.filter((part) => part === role)

const nameOf = ({ role, host, pid }: RoleAnnouncement): string => `${role} on ${host} (process ${pid})`

/** A sentence for each store that has a part which this one lacks, and lacks a part which this one has. */
export function mismatches(own: Side, others: readonly Side[]): readonly string[] {
  return others
    .filter(({ store, parts }) => store !== own.store && hasMore(parts, own.parts) && hasMore(own.parts, parts))
    .map(
      (other) =>
        `Two halves of a deployment do not share a store: ${own.members.join(', ')} on ${own.address} (store ${short(own.store)}), ` +
        `and ${other.members.join(', ')} on ${other.address} (store ${short(other.store)}). Tasks of one half never reach the other. ` +
        'Give all of them the same address and the same prefix.',
    )
}

const hasMore = (one: ReadonlySet<Part>, other: ReadonlySet<Part>): boolean => [...one].some((part) => !other.has(part))

export const short = (store: string): string => store.slice(0, 8)

/** Stores beside that of the configuration, with somebody working on them. */
export async function otherSides(
  resolved: Resolved,
  { env, clock }: Pick<Host, 'env' | 'clock'>,
): Promise<readonly Side[]> {
  const { addressesBeside } = await import('@reprise/connect')
  const own = storeAddress(resolved)
  const named = VARIABLES.flatMap((name) => {
    const engine = env[name]?.trim() ?? ''
    const address = storeAddress({ ...resolved, values: { ...resolved.values, engine } })
    return /^rediss?:/.test(engine) && address !== own ? [address] : []
  })
  const beside = await addressesBeside(own).catch(() => [])
  const sides: Side[] = []
  for (const address of new Set([...beside, ...named])) {
    const side = await inTime(clock, PEEK_MS, peek(address)).catch(() => 'late' as const)
    if (side !== 'late' && side.members.length > 0) sides.push(side)
  }
  return sides
}

async function peek(address: string): Promise<Side> {
  const { connectEngine } = await import('@reprise/connect')
  const connection = await connectEngine(address, { create: false })
  try {
    return await sideOf(connection.engine, shownAddress(address))
  } finally {
    await connection.close()
  }
}

/** A server that launched workers call back to, and that keeps another store, refuses all of them: said at once. */
export async function tellOfOtherServers(
  { resolved, engine, log }: Pick<Joining, 'resolved' | 'engine' | 'log'>,
  servers: readonly string[],
): Promise<void> {
  const { storeIdentity } = await import('@reprise/orchestrator')
  for (const url of servers.slice(0, ASKED_MAX)) {
    const [theirs, ours] = [await storeOf(url), await storeIdentity(engine).catch(() => null)]
    if (theirs === null || ours === null || theirs === ours) continue
    log.warn(
      `The server that launched workers call back to keeps another store: ${url} (store ${short(theirs)}), and this orchestrator ${shownAddress(storeAddress(resolved))} (store ${short(ours)}). ` +
        'It will refuse their results. Give both the same address and the same prefix.',
    )
  }
}

/** Files have no stores beside them: what is known is the server that runs in this folder. */
async function tellOfLocalServer(
  { resolved, log }: Pick<Joining, 'resolved' | 'log'>,
  { address, store, members }: Side,
): Promise<void> {
  const local = await readLocalServer(resolved.values.data).catch(() => null)
  const theirs = local === null ? null : await storeOf(local.url)
  if (local === null || theirs === null || theirs === store) return
  log.warn(
    `The server of this folder keeps another store: ${local.url} (store ${short(theirs)}), and ${members.join(', ')} ${address} (store ${short(store)}). ` +
      'Tasks that are submitted there never come here. Give both the same address and the same prefix.',
  )
}

/** As the server tells everybody; null if it does not. */
async function storeOf(url: string): Promise<string | null> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ASK_MS), redirect: 'manual' })
    const body = (await response.json()) as { readonly store?: unknown }
    return typeof body.store === 'string' ? body.store : null
  } catch {
    return null
  }
}
