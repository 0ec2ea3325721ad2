// Runs cases one after the other, and puts down what came of each: whether it was refused, how long it held the server's
// event loop, how much memory the server took, and how much slower the neighbour's tasks started meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineName } from './arguments.ts'
import type { AttackCase, Verdict } from './case.ts'
import { neighbourOrder, type Timing } from './stage/neighbour.ts'
import { setScene } from './stage/scene.ts'
import type { RunningServer } from './stage/server.ts'
import { ownStage, type Stage, stageAboveMe } from './stage/stage.ts'
import { openStores, type Stores } from './stage/store.ts'

export interface Row {
  readonly name: string
  readonly outcome: Verdict['outcome'] | 'failed'
  readonly seen: string
  /** The longest that the event loop was late. */
  readonly loopDelayMs: number
  /** The longest that the server itself was at work meanwhile: what an attack is judged by, on a busy machine too. */
  readonly loopWorkMs: number
  readonly memoryMb: number
  /** Null if nobody was timed. */
  readonly neighbour: Timing | null
  /** The neighbour's p99 on an idle server right before, where it was timed again. */
  readonly idleP99Ms?: number
}

export interface RunOptions {
  readonly engine: EngineName
  readonly cases: readonly AttackCase[]
  readonly tell: (line: string) => void
  /** The fast part: small amounts, nobody is timed, and of the figures only the server's own work is judged, with room. */
  readonly isSmall?: boolean
  /** A folder for profiles of the attacked servers. */
  readonly profile?: string | undefined
}

/** What a server may take, whatever is asked of it. */
export const BOUNDS = { loopDelayMs: 50, memoryMb: 600, neighbour: 3 } as const
/** A delay counts if it is so many times that of an idle server: less is the machine's own, its disk or other processes. */
const IDLE_DELAYS = 3

/** In the fast part servers are new, and much of their work is done for the first time. */
const SMALL_WORK_MS = 150

/** How long an attack is kept up while the neighbour is timed. */
const TIMED_MS = 8_000
/** Of an idle server, which all others are compared with, more is looked at. */
const IDLE_MS = 16_000
const WARM_UP_REQUESTS = 200

/** What every attacked server is configured with. */
const SETTINGS = { webhooks: { allow: ['127.0.0.1'] } } as const

/** Who has the processors, said with the figures. */
export const PRIORITY_NOTE =
  'The attacker runs at the lowest priority, as if it had machines of its own: what its requests cost to make is not measured.'

export interface Report {
  /** The same figures of a server that only the neighbour uses; null if nobody is timed. */
  readonly idle: Row | null
  readonly rows: readonly Row[]
}

export async function runCases(options: RunOptions): Promise<Report> {
  await using stores = await openStores(options.engine)
  await using stage = options.isSmall === true ? ownStage : stageAboveMe()
  if (stage !== ownStage) options.tell(PRIORITY_NOTE)
  const runner = new Runner(options, stores, stage)
  try {
    const idle = options.isSmall === true ? null : await runner.idle()
    const rows: Row[] = []
    for (const one of options.cases) rows.push(await runner.row(one))
    return { idle, rows }
  } finally {
    await runner.close()
  }
}

class Runner {
  readonly #options: RunOptions
  readonly #stores: Stores
  readonly #stage: Stage
  #shared: RunningServer | null = null
  #number = 0
  /** What the latest look at an idle server has shown. */
  #idle: Row | null = null

  constructor(options: RunOptions, stores: Stores, stage: Stage) {
    this.#options = options
    this.#stores = stores
    this.#stage = stage
  }

  /** Nothing happens but the neighbour's own work. */
  async idle(): Promise<Row> {
    const run: AttackCase['run'] = async () => {
      await sleep(IDLE_MS)
      return { outcome: 'refused', seen: 'nobody attacks' }
    }
    this.#idle = await this.#told({ name: 'idle', tries: 'Nobody does anything.', alone: true, timed: true, run })
    return this.#idle
  }

  /** What only took too long is looked at twice, the second time right after an idle server: the machine may have been busy. */
  async row(one: AttackCase): Promise<Row> {
    const first = await this.#told(one)
    if (first.outcome !== 'refused' || this.#lateness(first).length === 0) return first
    const { neighbour } = await this.idle()
    const second = { ...(await this.#told(one)), ...(neighbour === null ? {} : { idleP99Ms: neighbour.p99Ms }) }
    const late = this.#lateness(second)
    if (second.outcome !== 'refused' || late.length === 0) return second
    return { ...second, outcome: 'succeeded', seen: [...late, second.seen].join('; ') }
  }

  /** How the loop or the neighbour was late, beyond what an idle server has. */
  #lateness({ loopDelayMs, neighbour }: Row): readonly string[] {
    const idle = this.#idle
    if (idle === null || this.#options.isSmall === true) return []
    const delayMax = Math.max(BOUNDS.loopDelayMs, IDLE_DELAYS * idle.loopDelayMs)
    const ratio = neighbour === null || idle.neighbour === null ? 0 : neighbour.p99Ms / idle.neighbour.p99Ms
    return [
      ...(loopDelayMs > delayMax ? [`delayed the loop by ${Math.round(loopDelayMs)} ms`] : []),
      ...(ratio > BOUNDS.neighbour ? [`slowed the neighbour ${ratio.toFixed(1)} times`] : []),
    ]
  }

  async #told(one: AttackCase): Promise<Row> {
    const { tell } = this.#options
    const startedAt = performance.now()
    const row = await this.#tried(one)
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    tell(
      `${row.outcome === 'refused' ? 'refused' : row.outcome.toUpperCase()}  ${one.name} (${seconds} s): ${row.seen}`,
    )
    return row
  }

  async #tried(one: AttackCase): Promise<Row> {
    const blank = { name: one.name, loopDelayMs: 0, loopWorkMs: 0, memoryMb: 0, neighbour: null }
    try {
      const isAlone = one.alone === true || (one.timed === true && this.#options.isSmall !== true)
      const server = isAlone ? await this.#start() : await this.#sharedServer()
      try {
        return await this.#measured(one, server)
      } finally {
        if (isAlone) await server.stop()
      }
    } catch (error) {
      return { ...blank, outcome: 'failed', seen: error instanceof Error ? error.message.slice(0, 500) : String(error) }
    }
  }

  async #measured(one: AttackCase, server: RunningServer): Promise<Row> {
    const { engine, isSmall = false } = this.#options
    const isTimed = one.timed === true && !isSmall
    await using scene = setScene({
      server,
      stage: this.#stage,
      engine,
      stores: this.#stores,
      number: this.#number,
      isSmall,
      keepUpMs: isTimed ? TIMED_MS : 0,
    })
    await one.prepare?.(scene)
    const neighbour = isTimed ? await this.#stage.startNeighbour(await neighbourOrder(scene)) : null
    await server.reset()
    const verdict = await one.run(scene)
    const { loopDelayMs, loopWorkMs, memoryMb } = await server.figures()
    const figures = { loopDelayMs, loopWorkMs, memoryMb }
    const timing = (await neighbour?.()) ?? null
    return { name: one.name, ...this.#judged(verdict, figures), ...figures, neighbour: timing }
  }

  /** An attack that gets no answer may have succeeded all the same. */
  #judged(verdict: Verdict, { loopWorkMs, memoryMb }: Pick<Row, 'loopWorkMs' | 'memoryMb'>) {
    if (verdict.outcome === 'succeeded') return verdict
    const isSmall = this.#options.isSmall === true
    const held =
      loopWorkMs > (isSmall ? SMALL_WORK_MS : BOUNDS.loopDelayMs)
        ? [`held the loop for ${Math.round(loopWorkMs)} ms`]
        : []
    const took = memoryMb > BOUNDS.memoryMb ? [`took ${Math.round(memoryMb)} MB`] : []
    const seen = [...held, ...took, verdict.seen].join('; ')
    return { outcome: held.length + took.length > 0 ? ('succeeded' as const) : verdict.outcome, seen }
  }

  async #sharedServer(): Promise<RunningServer> {
    this.#shared ??= await this.#start()
    this.#number++
    return this.#shared
  }

  async #start(): Promise<RunningServer> {
    const number = ++this.#number
    const folder = `${this.#stores.folder}/server-${number}`
    const server = await this.#stage.startServer({
      folder,
      store: this.#stores.fresh(),
      settings: SETTINGS,
      profile: this.#options.profile,
    })
    await warmUp(server, this.#options.isSmall === true ? 1 : WARM_UP_REQUESTS)
    return server
  }

  async close(): Promise<void> {
    await this.#shared?.stop()
  }
}

/** What is only slow because it was never done before says nothing about an attack. */
async function warmUp({ admin }: RunningServer, requests: number): Promise<void> {
  for (let turn = 0; turn < requests; turn++) {
    const [submitted] = await Promise.all([
      admin.post<{ readonly id: string }>('/api/v1/tasks', { action: 'shared.work', tenant: 'warm-up', payload: {} }),
      admin.get('/api/v1/tasks?limit=10'),
      admin.get('/api/v1/lanes'),
    ])
    await admin.get(`/api/v1/tasks/${submitted.body.id}/explain`)
  }
}
