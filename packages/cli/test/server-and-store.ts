// Something to run commands against: a store with tasks in every status, reached through a server or straight. The tasks are
// made by a real worker, so that every record is one that happens.

import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { type Engine, openFlags, type PoolName, publishActions, type TaskId, workerId } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { ROLES, type Role } from '@reprise/operations'
import { alertRound, openWorkOrders } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { createWorker, defineAction, PermanentError, silentLogger, TransientError } from '@reprise/worker'
import { onTestFinished } from 'vitest'
import { type Ran, type Shell, type ShellOptions, shell } from './shell.ts'

export const WAYS = ['http', 'store'] as const
type Way = (typeof WAYS)[number]

export interface ServerAndStore extends Shell {
  readonly engine: Engine
  /** Words that lead there: through a server, as an admin unless another role is named, or straight. */
  readonly there: (way: Way, role?: Role) => Promise<readonly string[]>
  /** Runs a command there. */
  readonly over: (way: Way, ...argv: string[]) => Promise<Ran>
}

/** A server over a store in a file, which can be opened by others as well. */
export async function serverAndStore(options: ShellOptions = {}): Promise<ServerAndStore> {
  const here = shell(options)
  const path = join(here.folder, 'store.db')
  const engine = await openSqliteEngine({ path })
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const server = await createServer({ engine, policies, flags, version: '0.0.0-test', maxRetries: 1, port: 0 })
  await server.start()
  onTestFinished(() => server.stop())
  const everybody = new Set([...ROLES.admin, ...ROLES.worker])
  const tokens = new Map<Role, string>()
  const there = async (way: Way, role: Role = 'admin'): Promise<readonly string[]> => {
    if (way === 'store') return ['--engine', `sqlite:${path}`]
    const token = tokens.get(role) ?? (await tokenFor(role))
    tokens.set(role, token)
    return ['--url', server.url(), '--token', token]
  }
  const tokenFor = async (role: Role): Promise<string> => {
    const { token } = await server.access.tokens.create(
      { name: `${role}-test`, scopes: ROLES[role], tenants: null },
      { kind: 'user', actor: 'test:admin', name: 'admin', scopes: everybody, tenants: null },
    )
    return token
  }
  const over = async (way: Way, ...argv: string[]): Promise<Ran> => here.reprise(...argv, ...(await there(way)))
  return { ...here, engine, there, over }
}

export const GREET = 'greet'
export const REFUSE = 'invoice.send'
export const SLOW = 'report.build'
const PAY = 'card.charge'

const greet = defineAction({ name: GREET, run: (input: { readonly name: string }) => ({ hello: input.name }) })
const refuse = defineAction({
  name: REFUSE,
  run: () => {
    throw new PermanentError('the customer has no address\u001b[31m')
  },
})
/** Waits for its retry for long, and its breaker opens at once. */
const pay = defineAction({
  name: PAY,
  retry: { max: 5, backoff: { kind: 'fixed', delay: '1h' } },
  uses: ['stripe'],
  breaker: { minFailures: 1, open: '1h', maxOpen: '1h' },
  run: () => {
    throw new TransientError('connection reset by peer')
  },
})

export interface Seeded {
  readonly succeeded: TaskId
  readonly dead: TaskId
  /** Of another tenant, same failure. */
  readonly deadToo: TaskId
  readonly waiting: TaskId
  readonly parked: TaskId
  readonly running: TaskId
  readonly queued: TaskId
  /** Of what is dead. */
  readonly group: string
}

/** A worker that is there and takes nothing by itself. */
export async function registered(engine: Engine, id: string, pool = 'default') {
  const worker = workerId(id)
  const pools = [pool as PoolName]
  const about = { actions: null, host: 'h1', version: '1', runtimes: [], endpoint: null, concurrency: 4 }
  const { epoch } = await engine.register({ worker, pools, ...about })
  return { worker, epoch, pools }
}

/** Tasks in every status that lasts, a worker that runs one, an open breaker, a held lane, a work order with its alert. */
export async function seeded(engine: Engine): Promise<Seeded> {
  const client = await createClient({ engine, actor: 'operator:ann' })
  const worker = await createWorker({ engine, actions: [greet, refuse, pay], id: 'seeder', log: silentLogger })
  const done = await client.submit(greet, { name: 'Ann' }, { labels: { customer: 'c1' } })
  await done.result()
  const dead = await client.submit(refuse, { invoice: 1 })
  await dead.result().catch(() => undefined)
  const deadToo = await client.submit(refuse, { invoice: 2 }, { tenant: 'acme' })
  await deadToo.result().catch(() => undefined)
  const parked = await client.submit(pay, { amount: 5 })
  for await (const { subject } of client.watch({ cursor: '0', types: ['execution.failed'] }))
    if (subject === parked.id) break
  await worker.stop()
  await publishActions(engine, [greet, refuse, pay])
  const running = await client.submit(SLOW, { pages: 3 })
  const { worker: w1, epoch, pools } = await registered(engine, 'w1')
  await engine.claim({ worker: w1, epoch, pools, actions: null, limit: 1, leaseMs: 600_000 })
  const queued = await client.submit(SLOW, { pages: 4 }, { priority: 1 })
  const waiting = await client.submit(GREET, { name: 'Bob' }, { delay: '1h' })
  await client.pauseLanes({ action: SLOW, reason: 'the printer is out of paper' })
  await client.close()
  while (await openWorkOrders({ engine }));
  await alertRound({ engine }, { now: await engine.now() })
  const [group] = (await engine.failureGroups()).items
  return {
    succeeded: done.id,
    dead: dead.id,
    deadToo: deadToo.id,
    waiting: waiting.id,
    parked: parked.id,
    running: running.id,
    queued: queued.id,
    group: group?.fingerprint ?? '',
  }
}
