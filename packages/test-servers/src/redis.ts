// One Redis server with a port, a folder and a process of its own. It saves nothing but what `appendonly` asks for,
// reads no configuration file, and can be killed, paused and started again in the same place.

import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { redisLaunch } from './binary.ts'
import { fieldsOf, sendCommand } from './command.ts'
import { freePort } from './ports.ts'
import type { RedisReply } from './resp.ts'
import { removeAtExit, removeNow, ServerProcess } from './server-process.ts'

const portTries = 5
const startLimitMs = 20_000
const pollMs = 5

export interface RedisOptions {
  /** Whether writes go to an append-only file, so that they are there after a restart; default false. */
  readonly appendonly?: boolean
  /** Default everysec. */
  readonly appendfsync?: 'everysec' | 'always' | 'no'
  /** Such as '20mb'; default unlimited. */
  readonly maxmemory?: string
  /** Default noeviction. */
  readonly maxmemoryPolicy?: string
  /** Starts it as a replica, and waits until it has caught up. */
  readonly replicaOf?: { readonly port: number }
  /** More options of redis-server, as on its command line: ['--maxclients', '20']. */
  readonly extra?: readonly string[]
  /** Where it keeps its data; the caller removes it. Default: a new temporary folder, which stop() removes. */
  readonly folder?: string
  /** Default: a free one. */
  readonly port?: number
}

export interface RedisServer {
  readonly port: number
  /** redis://127.0.0.1:<port> */
  readonly url: string
  /** Another one after each restart. */
  readonly pid: number
  readonly folder: string
  /** What the server has written since it was last started. */
  log(): string
  /** Ends it like kill -9, and waits for its end. */
  kill(): Promise<void>
  /** Starts it again with the same port, folder and options; kills it first if it is running. */
  restart(): Promise<void>
  /** Ends it for good, and removes its folder unless the caller chose that. */
  stop(): Promise<void>
  /** Freezes it: connections stay, nothing is answered. */
  pause(): void
  resume(): void
  /** One command over a connection of its own; rejects if the answer is an error. */
  command(...args: string[]): Promise<RedisReply>
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const launch = await redisLaunch()
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'reprise-redis-'))
  if (options.folder === undefined) removeAtExit(folder)
  mkdirSync(folder, { recursive: true })

  const start = async (port: number) => {
    const args = [...launch.args, ...commandLine(port, folder, options)]
    const server = new ServerProcess({ command: launch.command, args }, join(folder, 'redis.log'))
    await untilReady(server, port)
    return server
  }
  try {
    const [port, server] = await startOnFreePort(start, options.port)
    if (options.replicaOf !== undefined) await untilLinked(server, port)
    return new StartedRedis(port, server, start, folder, options.folder === undefined)
  } catch (error) {
    if (options.folder === undefined) removeNow(folder)
    throw error
  }
}

function commandLine(port: number, folder: string, options: RedisOptions): string[] {
  const settings: Record<string, string | undefined> = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: options.appendonly === true ? 'yes' : 'no',
    appendfsync: options.appendfsync ?? 'everysec',
    'maxmemory-policy': options.maxmemoryPolicy ?? 'noeviction',
    maxmemory: options.maxmemory,
    'enable-debug-command': 'local',
    'repl-diskless-sync-delay': '0',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
  const { replicaOf } = options
  if (replicaOf !== undefined) args.push('--replicaof', '127.0.0.1', String(replicaOf.port))
  return [...args, ...(options.extra ?? [])]
}

type Start = (port: number) => Promise<ServerProcess>

async function startOnFreePort(start: Start, fixed: number | undefined): Promise<[number, ServerProcess]> {
  for (let tries = 1; ; tries += 1) {
    const port = fixed ?? (await freePort())
    try {
      return [port, await start(port)]
    } catch (error) {
      if (!(error instanceof PortTaken) || fixed !== undefined || tries === portTries) throw error
    }
  }
}

class PortTaken extends Error {}

async function untilReady(server: ServerProcess, port: number): Promise<void> {
  await until(server, 'did not answer PING', async () => {
    if ((await sendCommand(port, ['PING'])) !== 'PONG') return false
    // Another process that took the port first may answer too.
    return fieldsOf(await sendCommand(port, ['INFO', 'server'])).get('process_id') === String(server.pid)
  })
}

async function untilLinked(server: ServerProcess, port: number): Promise<void> {
  await until(server, 'did not catch up with its master', async () => {
    return fieldsOf(await sendCommand(port, ['INFO', 'replication'])).get('master_link_status') === 'up'
  })
}

/** Asks again and again, taking a failure for a no, while the process runs. */
async function until(server: ServerProcess, otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + startLimitMs
  while (performance.now() < limit) {
    if (!server.isRunning) {
      const message = `redis-server ended before it was ready:\n${server.logTail()}`
      throw server.log().includes('Address already in use') ? new PortTaken(message) : new Error(message)
    }
    if (await Promise.race([isSo().catch(() => false), server.ended.then(() => false)])) return
    await sleep(pollMs)
  }
  await server.kill()
  throw new Error(`redis-server ${otherwise} within ${startLimitMs / 1000} s:\n${server.logTail()}`)
}

class StartedRedis implements RedisServer {
  readonly port: number
  readonly url: string
  readonly folder: string
  #process: ServerProcess
  readonly #start: Start
  readonly #ownsFolder: boolean
  #isStopped = false

  constructor(port: number, server: ServerProcess, start: Start, folder: string, ownsFolder: boolean) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.folder = folder
    this.#process = server
    this.#start = start
    this.#ownsFolder = ownsFolder
  }

  get pid(): number {
    return this.#process.pid
  }

  log(): string {
    return this.#process.log()
  }

  async kill(): Promise<void> {
    await this.#process.kill()
  }

  async restart(): Promise<void> {
    if (this.#isStopped) throw new Error('This server was stopped for good; start another one.')
    await this.#process.kill()
    this.#process = await this.#start(this.port)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    // Nothing is lost that was acknowledged: a write reaches the append-only file before its reply goes out.
    await this.#process.kill()
    if (this.#ownsFolder) removeNow(this.folder)
  }

  pause(): void {
    this.#process.signal('SIGSTOP')
  }

  resume(): void {
    this.#process.signal('SIGCONT')
  }

  command(...args: string[]): Promise<RedisReply> {
    // While it is down, its port may be somebody else's.
    if (!this.#process.isRunning) return Promise.reject(new Error('The server is not running.'))
    return sendCommand(this.port, args)
  }
}
