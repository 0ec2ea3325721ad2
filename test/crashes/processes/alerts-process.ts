// A process that watches a store, tells people and moves runbooks and redrives, as an orchestrator and a server together do, and that
// ends itself by SIGKILL right after one of its writes. Arguments: the address of the engine, and after how many writes to end; 0 to go on.

import { connectEngine } from '@reprise/connect'
import {
  type Clock,
  type Collection,
  type Document,
  type Engine,
  openFlags,
  silentLogger,
  systemClock,
} from '@reprise/core'
import { createContext, createRunbookHands } from '@reprise/operations'
import {
  createAlerts,
  createAudit,
  createCases,
  createRedrives,
  createRunbooks,
  createWorkOrders,
} from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'

const [address, given] = process.argv.slice(2)
if (address === undefined) throw new Error('Usage: alerts-process.ts <engine> <writes>')
const writesMax = Number(given)

/** Ten times as fast: the lease of a process that was killed is over soon. */
const SPEED = 10
const beganAt = systemClock.now()
const fast: Clock = {
  ...systemClock,
  now: () => beganAt + (systemClock.now() - beganAt) * SPEED,
  monotonic: () => systemClock.monotonic() * SPEED,
  after: (delayMs, callback, options) => systemClock.after(delayMs / SPEED, callback, options),
  soon: (callback) => systemClock.soon(callback),
}

let writes = 0
const written = async <T>(write: Promise<T>): Promise<T> => {
  const result = await write
  writes++
  if (writes === writesMax) process.kill(process.pid, 'SIGKILL')
  return result
}

/** Cases are none of this. */
const COUNTED = new Set([
  'audit-seals',
  'audit-head',
  'redrives',
  'redrive-items',
  'runbook-runs',
  'work-orders',
  'work-order-progress',
  'work-order-tickets',
  'alerts',
  'webhook-progress',
  'webhook-deliveries',
])

const counted = <D extends Document>(inner: Collection<D>): Collection<D> => ({
  get: (id) => inner.get(id),
  list: (page) => inner.list(page),
  find: (query) => inner.find(query),
  insert: (document) => written(inner.insert(document)),
  update: (document, version) => written(inner.update(document, version)),
  remove: (id, version) => written(inner.remove(id, version)),
})

const { engine: inner } = await connectEngine(address)
const changed: Partial<Engine> = {
  change: (request) => written(inner.change(request)),
  collection: (definition) => {
    const collection = inner.collection(definition)
    return COUNTED.has(definition.name) ? counted(collection) : collection
  },
}
const engine = new Proxy(inner, {
  get(target, name) {
    if (name in changed) return Reflect.get(changed, name) as unknown
    const member: unknown = Reflect.get(target, name)
    return typeof member === 'function' ? (member.bind(target) as unknown) : member
  },
})
const [policies, flags] = await Promise.all([openPolicies({ engine }), openFlags({ engine })])
const context = createContext({
  engine,
  policies,
  flags,
  maxRetries: 1,
  version: 'test',
  clock: fast,
  webhookAllow: ['127.0.0.0/8'],
})
await context.events.telling.start()
const around = { engine, policies, log: silentLogger, intervalMs: 100 }
const hands = createRunbookHands({ context })
for (const service of [
  createCases(around),
  createWorkOrders(around),
  createAlerts(around),
  createAudit({ engine, log: silentLogger, intervalMs: 100 }),
  createRedrives({ engine, log: silentLogger, intervalMs: 100, leaseMs: 500 }),
  createRunbooks({ engine, hands, log: silentLogger, intervalMs: 100, leaseMs: 500 }),
]) {
  await service.start()
}
setInterval(() => process.send?.(process.memoryUsage().heapUsed), 250).unref()
// Nobody would ever stop it.
process.once('disconnect', () => process.exit())
