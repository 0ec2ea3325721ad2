// A server with the console, and a shop on it that has had a bad deploy: tasks of two actions that succeeded and that died of two
// causes, in two regions and of two versions. Everything runs in this process, on a store in memory.

import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@reprise/client'
import { type Engine, openFlags, silentLogger } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createContext, createRunbookHands } from '@reprise/operations'
import { createOrchestrator } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createServer, type ServerOptions } from '@reprise/server'
import { createWorker, defineAction, PermanentError } from '@reprise/worker'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))

export interface Shop {
  readonly url: string
  readonly engine: Engine
  /** Of an admin. */
  readonly client: Client
  /** A link that signs a browser in, once. */
  readonly link: () => Promise<string>
  /** Workers of a version, until they are stopped. */
  readonly deploy: (version: string) => Promise<{ stop(): Promise<void> }>
  readonly close: () => Promise<void>
}

interface Order {
  readonly order: number
  readonly region: string
  readonly customer?: string
}

/** Markup in a name: it must stay text wherever it is shown. */
const EVIL = '<img src=x onerror="document.title=1">'

const actionsOf = (version: string) => [
  defineAction({
    name: 'order.confirm',
    retry: { max: 0 },
    run: async ({ region, customer }: Order): Promise<string> => {
      if (customer === undefined) throw new PermanentError(`The order has no customer: ${EVIL}`)
      if (version === '2' && region === 'eu')
        throw Object.assign(new Error('connect ECONNREFUSED billing:443'), { code: 'ECONNREFUSED' })
      return 'confirmed'
    },
  }),
  defineAction({
    name: 'invoice.render',
    retry: { max: 0 },
    run: async ({ order }: Order): Promise<string> => `two pages of ${order}`,
  }),
]

export async function openShop(options: Partial<ServerOptions> = {}): Promise<Shop> {
  const engine = await openSqliteEngine({ path: ':memory:' })
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const common = { engine, policies, flags, version: '0.0.0-test', maxRetries: 1, port: 0, console: DIST }
  const server = await createServer({ ...common, access: { env: 'local' }, ...options })
  await server.start()
  const runbooks = createRunbookHands({
    context: createContext({ engine, policies, flags, version: '0.0.0-test', maxRetries: 1 }),
  })
  const orchestrator = createOrchestrator({ engine, policies, log: silentLogger, runbooks })
  await orchestrator.start()
  const client = await createClient({ engine })
  const deploy = (version: string) =>
    createWorker({
      engine,
      id: `shop-${version}`,
      version,
      host: 'here',
      actions: actionsOf(version),
      concurrency: 20,
      log: silentLogger,
      sweep: false,
    })
  return {
    url: server.url(),
    engine,
    client,
    deploy,
    link: async () => {
      const link = await server.access.firstLink()
      if (link === null) throw new Error('This server makes no links.')
      return link
    },
    close: async () => {
      await client.close()
      await orchestrator.stop()
      await server.stop()
      await flags.stop()
      await engine.close()
    },
  }
}

/** 60 orders: those of version 1 succeed, of version 2 in region eu they die; two are poisoned. */
export async function haveBadDeploy({ client, deploy }: Shop): Promise<void> {
  const [confirm, render] = actionsOf('1')
  if (confirm === undefined || render === undefined) throw new Error('The shop has two actions.')
  const orders = (from: number, count: number): Order[] =>
    Array.from({ length: count }, (_, index) => ({
      order: from + index,
      region: (from + index) % 2 === 0 ? 'eu' : 'us',
      ...(index % 20 === 7 ? {} : { customer: `customer-${index % 7}` }),
    }))
  const run = async (version: string, some: readonly Order[]): Promise<void> => {
    const worker = await deploy(version)
    const tasks = await client.submitMany(confirm, some, ({ region }) => ({
      labels: { region },
      tenant: region === 'eu' ? 'acme' : 'blue',
    }))
    await Promise.all(tasks.map((task) => task.result({ timeout: '30s' }).catch(() => undefined)))
    await worker.stop()
  }
  await run('1', orders(0, 20))
  await run('2', orders(20, 40))
  await client.submitMany(render, orders(100, 5))
}
