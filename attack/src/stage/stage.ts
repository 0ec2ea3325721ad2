// Where servers and neighbours are started. An attacker has machines of its own; here everybody shares a few processors, and
// what the attacker's requests cost to make would be taken for what they cost the server. So the attacker is given the
// lowest priority, and everything that is attacked or timed is started by a process of its own, which has the usual one: a
// process can't give away more than it has.

import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { Api } from './api.ts'
import type { LoopFigures } from './loop-probe.ts'
import { type NeighbourOrder, startNeighbour, type Timing } from './neighbour.ts'
import { type RunningServer, type ServerOptions, startServer } from './server.ts'

export interface Stage extends AsyncDisposable {
  readonly startServer: (options: ServerOptions) => Promise<RunningServer>
  /** The answer stops it. */
  readonly startNeighbour: (order: NeighbourOrder) => Promise<() => Promise<Timing>>
}

/** In this process, at its priority: where nobody is timed. */
export const ownStage: Stage = { startServer, startNeighbour, [Symbol.asyncDispose]: async () => undefined }

/** What the process of the stage is told. Each is answered. */
export type StageOrder =
  | { readonly verb: 'start'; readonly options: ServerOptions }
  | { readonly verb: 'reset' | 'figures' | 'log' | 'stop' | 'kill'; readonly server: number }
  | { readonly verb: 'time'; readonly order: NeighbourOrder }
  | { readonly verb: 'timing'; readonly neighbour: number }

export interface Asked {
  readonly number: number
  readonly order: StageOrder
}

export interface Answered {
  readonly number: number
  readonly result?: unknown
  readonly error?: string
}

/** What is told of a server that was started. */
export interface Started extends Pick<RunningServer, 'url' | 'link' | 'data'> {
  readonly server: number
  readonly token: string | null
}

class OtherStage implements Stage {
  readonly #child: ChildProcess
  readonly #asked = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  #number = 0

  constructor() {
    this.#child = fork(new URL('./stage-process.ts', import.meta.url), { serialization: 'advanced' })
    this.#child.on('message', ({ number, result, error }: Answered) => {
      const asked = this.#asked.get(number)
      this.#asked.delete(number)
      if (error === undefined) asked?.resolve(result as never)
      else asked?.reject(new Error(error))
    })
    this.#child.once('exit', () => {
      for (const { reject } of this.#asked.values()) reject(new Error('The stage has ended.'))
    })
  }

  async startServer(options: ServerOptions): Promise<RunningServer> {
    const { server, token, ...shown } = await this.#ask<Started>({ verb: 'start', options })
    const admin = new Api(shown.url, token)
    return {
      ...shown,
      admin,
      reset: () => this.#ask({ verb: 'reset', server }),
      figures: () => this.#ask<LoopFigures>({ verb: 'figures', server }),
      log: () => this.#ask<string>({ verb: 'log', server }),
      stop: async () => {
        admin.close()
        await this.#ask({ verb: 'stop', server })
      },
      kill: () => this.#ask({ verb: 'kill', server }),
    }
  }

  async startNeighbour(order: NeighbourOrder): Promise<() => Promise<Timing>> {
    const neighbour = await this.#ask<number>({ verb: 'time', order })
    return () => this.#ask<Timing>({ verb: 'timing', neighbour })
  }

  #ask<Result = void>(order: StageOrder): Promise<Result> {
    const number = ++this.#number
    return new Promise((resolve, reject) => {
      this.#asked.set(number, { resolve, reject })
      this.#child.send({ number, order } satisfies Asked)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exit = once(this.#child, 'exit')
    this.#child.disconnect()
    await exit
  }
}

/** A stage of the usual priority. From now on this process has the lowest. */
export function stageAboveMe(): Stage {
  const stage = new OtherStage()
  stepBack()
  return stage
}

/**
 * Only when nobody else wants a processor. A priority of 19 alone is not that: on Linux such a process still runs to the end of its
 * slice, several milliseconds, while others wait. All of its threads: on Linux a priority is a thread's.
 */
function stepBack(): void {
  setPriority(constants.priority.PRIORITY_LOW)
  if (process.platform !== 'linux') return
  const { status } = spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)], {
    stdio: 'ignore',
  })
  if (status === 0) return
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), constants.priority.PRIORITY_LOW)
}
