// The connection to Redis as the engine sees it: run a script, ask a question, listen to a channel. Outages stay in here: a call
// either gets its answer, perhaps late and after repeats, or is refused with an error that says what that means.

import { type Clock, InvalidError, inTime, type Random, StoreClosedError } from '@reprise/core'
import { ClusterRoutes } from './cluster.ts'
import type { Reply, Script } from './connection.ts'
import { type Endpoint, parseEndpoint } from './endpoint.ts'
import type { KeeperOptions } from './keeper.ts'
import { type Routes, ServerRoutes } from './routes.ts'
import { Sender } from './sender.ts'
import { Subscriber } from './subscriber.ts'

export type { Library, Reply, Script } from './connection.ts'
export { ScriptRefusal } from './faults.ts'

export interface Link {
  /** Runs a script whose keys all live in the slot of `key` (its only one in KEYS). It may run more than once. */
  run(script: Script, key: string, args: readonly string[]): Promise<Reply>
  /** A plain command about `key` that only looks; with null, any server of a cluster answers. */
  command(key: string | null, args: readonly string[]): Promise<Reply>
  /** Commands sent in one go; replies in their order. The first error is the error of all. */
  pipeline(key: string, commands: readonly (readonly string[])[]): Promise<readonly Reply[]>
  /**
   * Listens to a sharded channel until the link is closed. `onGap` is called whenever messages may have been missed: after
   * it listens again, so a look after that misses nothing.
   */
  subscribe(channel: string, onMessage: (message: string) => void, onGap: () => void): Promise<void>
  readonly isCluster: boolean
  /** Waits shortly for what is under way, then ends. Everything later, and whatever still waits, is refused. */
  close(): Promise<void>
}

export interface LinkOptions {
  /** One server, or any servers of a cluster. A single server of a cluster is recognised as such. */
  readonly url: string | readonly string[]
  /** Real time: deadlines are about real servers. */
  readonly clock: Clock
  readonly random: Random
  /** A connection that says nothing for so long, though it was asked, is given up; default 5 s. */
  readonly commandTimeoutMs?: number
  /** How long a call is repeated before it is refused; default 10 s. */
  readonly patienceMs?: number
  /** For connecting and signing in; default 2 s. */
  readonly connectTimeoutMs?: number
  /** How often a connection that only listens is asked whether it is alive; default 4 s. */
  readonly checkMs?: number
  /** Pauses between attempts to connect are drawn up to a bound that doubles from 20 ms to 1 s. */
  readonly backoffMinMs?: number
  readonly backoffMaxMs?: number
  /** How many calls may wait for the server; default 10,000. */
  readonly maxWaiting?: number
  /** How long closing waits for what is under way; default 1 s. */
  readonly closeMs?: number
  /** For a log: a connection was lost or could not be built, and why. Another one is on its way. */
  readonly onTrouble?: (server: string, reason: string) => void
}

/** The longest pause before a server that refused for now is asked again. */
const REPEAT_MS_MAX = 250

/** Resolves once a server answers; refused like any call if none does, or if we are not let in. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const endpoints = (typeof options.url === 'string' ? [options.url] : options.url).map(parseEndpoint)
  const [first, ...others] = endpoints
  if (first === undefined) throw new InvalidError('A Redis engine needs the address of a server.')
  if (others.length === 0) {
    const link = new RedisLink([first], false, options)
    const info = await answered(link, ['INFO', 'cluster'])
    if (!String(info).includes('cluster_enabled:1')) return link
    await link.close()
  }
  const link = new RedisLink(endpoints, true, options)
  await answered(link, ['PING'])
  return link
}

async function answered(link: Link, args: readonly string[]): Promise<Reply> {
  try {
    return await link.command(null, args)
  } catch (error) {
    await link.close()
    throw error
  }
}

class RedisLink implements Link {
  readonly isCluster: boolean
  readonly #clock: Clock
  readonly #closeMs: number
  readonly #routes: Routes
  readonly #sender: Sender
  readonly #subscriber: Subscriber
  #closing: Promise<void> | null = null

  constructor(endpoints: readonly Endpoint[], isCluster: boolean, options: LinkOptions) {
    const { clock, random } = options
    const patienceMs = options.patienceMs ?? 10_000
    const keeping: KeeperOptions = {
      clock,
      random,
      patienceMs,
      commandTimeoutMs: options.commandTimeoutMs ?? 5_000,
      connectTimeoutMs: options.connectTimeoutMs ?? 2_000,
      backoffMinMs: options.backoffMinMs ?? 20,
      backoffMaxMs: options.backoffMaxMs ?? 1_000,
      protocol: 2,
      report: (server, reason) => options.onTrouble?.(server, reason),
      recover: (call, connection, error) => this.#sender.recover(call, connection, error),
    }
    const onChange = (): void => this.#sender.look()
    const [first] = endpoints
    this.isCluster = isCluster
    this.#clock = clock
    this.#closeMs = options.closeMs ?? 1_000
    this.#routes =
      first === undefined || isCluster
        ? new ClusterRoutes(endpoints, keeping, onChange)
        : new ServerRoutes(first, keeping, onChange)
    this.#sender = new Sender(this.#routes, {
      clock,
      random,
      patienceMs,
      maxWaiting: options.maxWaiting ?? 10_000,
      backoffMinMs: keeping.backoffMinMs,
      backoffMaxMs: Math.min(keeping.backoffMaxMs, REPEAT_MS_MAX),
    })
    this.#subscriber = new Subscriber(this.#routes, {
      ...keeping,
      protocol: 3,
      checkMs: options.checkMs ?? 4_000,
      isCluster,
    })
  }

  run(script: Script, key: string, args: readonly string[]): Promise<Reply> {
    return this.#sender.send(key, [script.readOnly ? 'FCALL_RO' : 'FCALL', script.name, '1', key, ...args], script)
  }

  command(key: string | null, args: readonly string[]): Promise<Reply> {
    return this.#sender.send(key, args, null)
  }

  pipeline(key: string, commands: readonly (readonly string[])[]): Promise<readonly Reply[]> {
    return Promise.all(commands.map((args) => this.#sender.send(key, args, null)))
  }

  subscribe(channel: string, onMessage: (message: string) => void, onGap: () => void): Promise<void> {
    return this.#subscriber.subscribe(channel, onMessage, onGap)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#subscriber.close()
    await inTime(this.#clock, this.#closeMs, this.#sender.close())
    this.#sender.abandon()
    this.#routes.close(new StoreClosedError())
  }
}
