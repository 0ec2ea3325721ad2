// What all fakes of cloud services share: an HTTP server on a loopback port that reads whole requests, notes each call by its name,
// and can fail: refuse, throttle, deny, have no room, hang before or after it did what was asked, or break the connection.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FakeWorker } from './workers.ts'

/** What a call meets. `after`: the service did what was asked, and the answer is lost. */
export type CloudTrouble =
  | 'throttled'
  | 'denied'
  /** No capacity. */
  | 'full'
  /** 500, and nothing was done. */
  | 'failing'
  | 'hanging'
  | 'hanging after'
  | 'broken after'
  /** Did it, and answers as if there were nothing to say of it. */
  | 'lying'

export interface CloudCall {
  /** The operation, as the service names it: `RunTask`, `createJob`. */
  readonly name: string
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

export interface CloudAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface CloudServerOptions {
  /** The time by which everything is dated; the host's clock if missing. */
  readonly now?: () => number
}

interface Rule {
  readonly name: string
  readonly trouble: CloudTrouble
  left: number
}

export abstract class CloudServer {
  readonly calls: CloudCall[] = []
  readonly workers: FakeWorker[] = []
  /** Told of each worker right after it began. */
  onStarted: ((worker: FakeWorker) => void) | null = null
  /** Told of each call once it took effect, before its answer is sent. */
  onDone: ((call: CloudCall) => void) | null = null
  protected readonly now: () => number
  readonly #server: Server
  readonly #rules: Rule[] = []
  #url = ''
  #nextId = 1

  constructor(options: CloudServerOptions) {
    this.now = options.now ?? Date.now
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500)
        response.end(String(error))
      })
    })
  }

  get url(): string {
    return this.#url
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The next calls of this name meet this. */
  trouble(name: string, trouble: CloudTrouble, times = 1): void {
    this.#rules.push({ name, trouble, left: times })
  }

  /** From now on all is well. */
  recover(): void {
    this.#rules.length = 0
  }

  /** The calls of one name. */
  callsOf(name: string): readonly CloudCall[] {
    return this.calls.filter((call) => call.name === name)
  }

  get running(): readonly FakeWorker[] {
    return this.workers.filter(({ isRunning }) => isRunning)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  /** Null for a request that this service does not know. */
  protected abstract nameOf(request: Omit<CloudCall, 'name'>): string | null
  protected abstract perform(call: CloudCall): CloudAnswer | Promise<CloudAnswer>
  protected abstract refusal(kind: 'throttled' | 'denied' | 'full' | 'failing' | 'unknown', call: string): CloudAnswer
  /** What it answers though it did what was asked. */
  protected abstract lie(call: CloudCall): CloudAnswer

  protected begin(
    id: (serial: number) => string,
    env: Readonly<Record<string, string>>,
    request: Readonly<Record<string, unknown>>,
  ): FakeWorker {
    const worker = new FakeWorker(id(this.#nextId), env, request, this.now)
    this.#nextId += 1
    this.workers.push(worker)
    this.onStarted?.(worker)
    return worker
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request)
    const received = {
      method: request.method ?? '',
      url: new URL(request.url ?? '/', this.#url),
      headers: request.headers,
      body: parsed(text),
    }
    const name = this.nameOf(received)
    if (name === null) return send(response, this.refusal('unknown', received.url.pathname))
    const call = { ...received, name }
    this.calls.push(call)
    const trouble = this.#troubleFor(name)
    if (trouble === 'hanging') return
    if (trouble === 'throttled' || trouble === 'denied' || trouble === 'full' || trouble === 'failing') {
      return send(response, this.refusal(trouble, name))
    }
    const answer = await this.perform(call)
    this.onDone?.(call)
    if (trouble === 'hanging after') return
    if (trouble === 'broken after') return void request.socket.destroy()
    send(response, trouble === 'lying' ? this.lie(call) : answer)
  }

  #troubleFor(name: string): CloudTrouble | null {
    const rule = this.#rules.find((one) => one.name === name && one.left > 0)
    if (rule === undefined) return null
    rule.left -= 1
    return rule.trouble
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  if (text === '') return {}
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { value }
}

function send(response: ServerResponse, { status, body, headers = {} }: CloudAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
