// The scenarios of one run, in order. Contestants take turns within a round and start in another order in each, so that
// what else goes on in the machine hits all of them alike. Ratios come from one and the same run.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchArguments, EngineName, Mode, Scenario } from './arguments.ts'
import { Figures, type Side } from './figures.ts'
import { type Contestant, measure, type WorkerRuns } from './measurement.ts'
import type { Plan } from './plan.ts'
import { percentile } from './statistics.ts'

export interface RunOptions {
  readonly engine: EngineName
  readonly mode: BenchArguments['mode']
  readonly scenarios: ReadonlySet<Scenario>
  readonly plan: Plan
  /** The peer is there. */
  readonly withPeer: boolean
  readonly tell: (line: string) => void
}

// Beside the sources, not in the temporary folder: that one may be in memory, where `durable` costs nothing.
const DATA_FOLDER = join(import.meta.dirname, '..', '.data')
const SIDE_OF: Readonly<Record<Contestant, Side>> = { reprise: 'ours', plainjob: 'plainjob', limit: 'limit' }
const WORKER_PLACES: readonly { readonly runs: WorkerRuns; readonly name: string }[] = [
  { runs: 'in process', name: 'latencyInProcess' },
  { runs: 'across processes', name: 'latencyAcrossProcesses' },
]

export async function run(options: RunOptions): Promise<Figures> {
  mkdirSync(DATA_FOLDER, { recursive: true })
  const folder = mkdtempSync(join(DATA_FOLDER, 'run-'))
  try {
    return await new Run(options, folder).all()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

class Run {
  readonly #options: RunOptions
  readonly #folder: string
  readonly #mainMode: Mode
  readonly #figures = new Figures()
  #stores = 0
  #peerFailed = false

  constructor(options: RunOptions, folder: string) {
    this.#options = options
    this.#folder = folder
    this.#mainMode = options.mode ?? 'fast'
  }

  async all(): Promise<Figures> {
    const { scenarios, mode } = this.#options
    const suffixes: Partial<Record<Mode, string>> = {
      [this.#mainMode]: '',
      ...(mode === null && { durable: 'Durable' }),
    }
    if (scenarios.has('submit') || scenarios.has('process')) {
      await this.#throughput(this.#mainMode, '', scenarios.has('process'))
    }
    if (scenarios.has('durable')) await this.#throughput('durable', 'Durable', true)
    if (scenarios.has('mixed')) await this.#mixed()
    if (scenarios.has('backlog')) await this.#backlog()
    if (scenarios.has('latency')) {
      for (const [of, suffix] of Object.entries(suffixes)) await this.#latency(of as Mode, suffix)
    }
    return this.#figures
  }

  async #throughput(mode: Mode, suffix: string, process: boolean): Promise<void> {
    const { rounds, tasks, warmupTasks } = this.#options.plan
    for (let round = 0; round < rounds; round++) {
      for (const contestant of this.#inTurn(round)) {
        await this.#withStore(async (path) => {
          const what = `${process ? 'submit and process' : 'submit'}, ${mode}, round ${round + 1} of ${rounds}, ${contestant}`
          const request = { path, mode, tasks: tasks[mode], warmupTasks, process }
          const found = await this.#measureContestant(contestant, what, () =>
            measure({ kind: 'throughput', engine: this.#options.engine, contestant, ...request }),
          )
          if (found === null) return
          const { submitPerS, processPerS } = found
          const side = SIDE_OF[contestant]
          this.#figures.add(side, `submit${suffix}`, submitPerS)
          if (processPerS !== null) this.#figures.add(side, `process${suffix}`, processPerS)
          this.#tell(
            `${what}: ${perS(submitPerS)} submitted${processPerS === null ? '' : `, ${perS(processPerS)} processed`}`,
          )
        })
      }
    }
  }

  async #mixed(): Promise<void> {
    const { rounds, mixedTasks: tasks } = this.#options.plan
    for (let round = 0; round < rounds; round++) {
      await this.#withStore(async (path) => {
        const { processPerS } = await measure({ kind: 'mixed', ...this.#store(path, this.#mainMode), tasks })
        this.#figures.add('ours', 'mixed', processPerS)
        this.#tell(`mixed, ${this.#mainMode}, round ${round + 1} of ${rounds}: ${perS(processPerS)} processed`)
      })
    }
  }

  async #backlog(): Promise<void> {
    const { rounds, backlog } = this.#options.plan
    const { large, small, processed } = backlog
    await this.#withStore(async (largePath) => {
      this.#tell(`backlog: handing in ${large + rounds * processed} tasks`)
      await this.#fill(largePath, large + rounds * processed)
      for (let round = 0; round < rounds; round++) {
        await this.#withStore(async (smallPath) => {
          await this.#fill(smallPath, small + processed)
          await this.#workOff(smallPath, small, 'backlogSmall', 'memorySmallMb')
        })
        await this.#workOff(largePath, large, 'backlogLarge', 'memoryMb')
      }
    })
  }

  /** How safe it is to hand them in is not measured. */
  async #fill(path: string, tasks: number): Promise<void> {
    await measure({ kind: 'fill', ...this.#store(path, 'fast'), tasks })
  }

  async #workOff(path: string, standing: number, rateName: string, memoryName: string): Promise<void> {
    const tasks = this.#options.plan.backlog.processed
    const { processPerS, peakMb } = await measure({ kind: 'backlog', ...this.#store(path, this.#mainMode), tasks })
    this.#figures.add('ours', rateName, processPerS)
    this.#figures.add('ours', memoryName, peakMb)
    this.#tell(`backlog of ${standing}: ${perS(processPerS)} processed, ${Math.round(peakMb)} MB at most`)
  }

  async #latency(mode: Mode, suffix: string): Promise<void> {
    for (const { runs, name } of WORKER_PLACES) {
      await this.#withStore(async (path) => {
        const samples = this.#options.plan.latencySamples
        const { samplesMs } = await measure({ kind: 'latency', ...this.#store(path, mode), samples, workerRuns: runs })
        const [p50, p99] = [percentile(samplesMs, 50), percentile(samplesMs, 99)]
        this.#figures.add('ours', `${name}${suffix}P50Ms`, p50)
        this.#figures.add('ours', `${name}${suffix}P99Ms`, p99)
        this.#tell(`latency ${runs}, ${mode}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
      })
    }
  }

  /** A peer that fails is left out of the run; anybody else's failure ends it. */
  async #measureContestant<T>(contestant: Contestant, what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (contestant !== 'plainjob') throw error
      this.#peerFailed = true
      this.#tell(`${what}: could not be measured, and is left out. ${error instanceof Error ? error.message : error}`)
      return null
    }
  }

  #inTurn(round: number): readonly Contestant[] {
    const all: readonly Contestant[] =
      this.#options.withPeer && !this.#peerFailed ? ['reprise', 'plainjob', 'limit'] : ['reprise', 'limit']
    const first = round % all.length
    return [...all.slice(first), ...all.slice(0, first)]
  }

  async #withStore(work: (path: string) => Promise<void>): Promise<void> {
    const folder = join(this.#folder, String(this.#stores++))
    mkdirSync(folder)
    await work(join(folder, 'store.db'))
    if (existsSync(folder)) rmSync(folder, { recursive: true })
  }

  #store(path: string, mode: Mode): { engine: EngineName; path: string; mode: Mode } {
    return { engine: this.#options.engine, path, mode }
  }

  #tell(line: string): void {
    this.#options.tell(line)
  }
}

function perS(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')} per s`
}
