// Where the workers of these tests run: a platform that starts each launch once, by its key, and keeps what it ran. It outlives
// the orchestrators. It is spoken to in process, or over HTTP by orchestrators that are killed.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Launched, Launcher, LaunchOrder, LaunchOutcome, LaunchRef, LaunchSighting } from '@reprise/core'

interface Run {
  readonly handle: string
  readonly token: string
  outcome: LaunchOutcome | null
}

export type Behaviour = (order: LaunchOrder) => LaunchOutcome | null

const SUCCEEDS: Behaviour = () => ({ ok: true, result: null })

export class Platform implements Launcher {
  readonly name = 'platform'
  /** `task:attempt` of each run, in the order of their starts. */
  readonly ran: string[] = []
  /** What becomes of a run at once; null if it goes on. */
  behaviour: Behaviour = SUCCEEDS
  /** Thrown by launches while it is set. */
  failure: Error | null = null
  /** Launches wait for it. */
  holdUp: Promise<void> | null = null
  readonly #runs = new Map<string, Run>()
  readonly #listeners = new Set<(key: string) => void>()

  async launch(order: LaunchOrder): Promise<Launched> {
    await this.holdUp
    if (this.failure !== null) throw this.failure
    const known = this.#runs.get(order.key)
    if (known !== undefined) return { handle: known.handle }
    const handle = `${order.taskId}:${order.attempt}`
    this.ran.push(handle)
    this.#runs.set(order.key, { handle, token: order.token, outcome: this.behaviour(order) })
    this.#tell(order.key)
    return { handle }
  }

  async look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    return refs.map(({ key }) => {
      const run = this.#runs.get(key)
      if (run === undefined) return { status: 'never' }
      const { handle, outcome } = run
      return outcome === null ? { status: 'running', handle } : { status: 'ended', handle, outcome }
    })
  }

  async end(): Promise<void> {}

  /** Nothing is forgotten: a key that comes twice must be seen. */
  async forget(): Promise<void> {}

  onEnded(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {}

  /** Ends every run that goes on. */
  finishAll(outcome: LaunchOutcome): void {
    for (const [key, run] of this.#runs) {
      if (run.outcome !== null) continue
      run.outcome = outcome
      this.#tell(key)
    }
  }

  #tell(key: string): void {
    setImmediate(() => {
      for (const listener of this.#listeners) listener(key)
    })
  }
}

export interface ServedPlatform {
  readonly url: string
  close(): Promise<void>
}

export async function servePlatform(platform: Platform): Promise<ServedPlatform> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const input = JSON.parse(Buffer.concat(parts).toString()) as never
      const answer = request.url === '/launch' ? platform.launch(input) : platform.look(input)
      answer.then(
        (value) => response.end(JSON.stringify(value)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** The same over HTTP. A run has ended when its launch comes back. */
export function remotePlatform(url: string): Launcher {
  const listeners = new Set<(key: string) => void>()
  const ask = async <T>(path: string, input: unknown): Promise<T> => {
    const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(input) })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as T
  }
  return {
    name: 'platform',
    async launch(order) {
      const launched = await ask<Launched>('/launch', order)
      setImmediate(() => {
        for (const listener of listeners) listener(order.key)
      })
      return launched
    },
    look: (refs) => ask<readonly LaunchSighting[]>('/look', refs),
    end: async () => undefined,
    forget: async () => undefined,
    onEnded(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: async () => undefined,
  }
}
