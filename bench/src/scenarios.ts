// What a run measures, scenario by scenario. Each turns measurements into named figures; who is measured, how often and
// in which order is the run's business.

import type { BenchArguments, Mode } from './arguments.ts'
import { fullSidesOf } from './contestants.ts'
import type { Figures } from './figures.ts'
import type { WorkerPlace } from './latency.ts'
import { measure } from './measurement.ts'
import { usedMemory } from './redis-admin.ts'
import { perS, Run, type RunOptions } from './run.ts'
import { percentile } from './statistics.ts'
import { clearStore, type Store } from './store.ts'
import { withClusterStore } from './stores.ts'

/** Measures everything that is asked for. Ratios are made of figures of one run, never of two. */
export async function runScenarios(options: RunOptions): Promise<Figures> {
  const { scenarios } = options
  const run = new Run(options)
  if (scenarios.has('submit') || scenarios.has('process')) {
    await throughput(run, run.mainMode, '', scenarios.has('process'))
  }
  if (scenarios.has('durable')) await throughput(run, 'durable', 'Durable', true)
  if (scenarios.has('mixed')) await mixed(run)
  if (scenarios.has('memory')) await memory(run)
  if (scenarios.has('latency')) await latency(run, options.mode)
  if (scenarios.has('lateness')) await lateness(run)
  if (scenarios.has('backlog')) await backlog(run)
  if (scenarios.has('processes')) await processes(run)
  if (scenarios.has('redrive')) await redrive(run)
  if (scenarios.has('decide')) await decide(run)
  if (scenarios.has('job')) await job(run)
  if (scenarios.has('avalanche')) await avalanche(run)
  if (scenarios.has('retention')) await retention(run)
  return run.figures
}

async function throughput(run: Run, mode: Mode, suffix: string, process: boolean): Promise<void> {
  const { tasks, warmupTasks } = run.plan
  const what = process ? 'submit and process' : 'submit'
  await run.inTurns(what, mode, ['ours', 'peer', 'limit'], async (side, store) => {
    const request = { store, side, tasks: tasks[mode], warmupTasks, process }
    const { submitPerS, processPerS } = await measure('throughput', request)
    run.figures.add(side, `submit${suffix}`, submitPerS)
    if (processPerS === null) return `${perS(submitPerS)} submitted`
    run.figures.add(side, `process${suffix}`, processPerS)
    return `${perS(submitPerS)} submitted, ${perS(processPerS)} processed`
  })
}

async function mixed(run: Run): Promise<void> {
  await run.inTurns('mixed', run.mainMode, fullSidesOf(run.engine), async (side, store) => {
    const { processPerS } = await measure('mixed', { store, side, tasks: run.plan.mixedTasks })
    run.figures.add(side, 'mixed', processPerS)
    return `${perS(processPerS)} processed`
  })
}

/** What a finished task takes in the memory of the server. Everybody has left by the time it is looked at. */
async function memory(run: Run): Promise<void> {
  const tasks = run.plan.memoryTasks
  await run.inTurns('memory', run.mainMode, ['ours', 'peer', 'limit'], async (side, store) => {
    const before = await usedMemory(store.at)
    await measure('throughput', { store, side, tasks, warmupTasks: 0, process: true })
    const bytes = ((await usedMemory(store.at)) - before) / tasks
    run.figures.add(side, 'memoryPerTaskBytes', bytes)
    return `${Math.round(bytes)} bytes per finished task`
  })
}

async function latency(run: Run, mode: BenchArguments['mode']): Promise<void> {
  if (run.engine === 'redis') return latencyOf(run, run.mainMode, '', ['across processes'])
  const suffixes: Partial<Record<Mode, string>> = { [run.mainMode]: '', ...(mode === null && { durable: 'Durable' }) }
  for (const [of, suffix] of Object.entries(suffixes)) {
    await latencyOf(run, of as Mode, suffix, ['in process', 'across processes'])
  }
}

const LATENCY_NAMES: Readonly<Record<WorkerPlace, string>> = {
  'in process': 'latencyInProcess',
  'across processes': 'latencyAcrossProcesses',
}

async function latencyOf(run: Run, mode: Mode, suffix: string, places: readonly WorkerPlace[]): Promise<void> {
  for (const worker of places) {
    await run.inTurns(`latency ${worker}`, mode, fullSidesOf(run.engine), async (side, store) => {
      const { samplesMs } = await measure('latency', { store, side, samples: run.plan.latencySamples, worker })
      const add = (name: string, value: number): void => run.figures.add(side, name, value)
      return percentiles(samplesMs, `${LATENCY_NAMES[worker]}${suffix}`, add)
    })
  }
}

async function lateness(run: Run): Promise<void> {
  await run.inTurns('lateness', run.mainMode, fullSidesOf(run.engine), async (side, store) => {
    const { samplesMs } = await measure('lateness', { store, side, ...run.plan.delayed })
    return percentiles(samplesMs, 'lateness', (name, value) => run.figures.add(side, name, value))
  })
  if (run.engine === 'redis') await latenessOnCluster(run)
}

/** The same on a cluster of its own, ours alone. Claims go to several servers there. */
async function latenessOnCluster(run: Run): Promise<void> {
  for (let round = 0; round < run.plan.rounds; round++) {
    const found = await withClusterStore(run.mainMode, async (store) => {
      const { samplesMs } = await measure('lateness', { store, side: 'ours', ...run.plan.delayed })
      return percentiles(samplesMs, 'latenessCluster', (name, value) => run.figures.add('ours', name, value))
    })
    run.tell(`lateness on a cluster of three servers, reprise: ${found}`)
  }
}

function percentiles(samplesMs: readonly number[], name: string, add: (name: string, value: number) => void): string {
  const [p50, p99] = [percentile(samplesMs, 50), percentile(samplesMs, 99)]
  add(`${name}P50Ms`, p50)
  add(`${name}P99Ms`, p99)
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
}

/** Not measured, but it can take a while. */
async function handIn(run: Run, store: Store, tasks: number): Promise<void> {
  run.tell(`handing in ${tasks.toLocaleString('en')} tasks`)
  await measure('fill', { store, tasks })
}

async function backlog(run: Run): Promise<void> {
  const { large, small } = run.plan.backlog
  const workOff = async (store: Store, standing: number, rateName: string, memoryName: string): Promise<string> => {
    const tasks = run.plan.backlog.processed
    await handIn(run, store, standing + tasks)
    const { processPerS, peakMb } = await measure('backlog', { store, tasks })
    run.figures.add('ours', rateName, processPerS)
    run.figures.add('ours', memoryName, peakMb)
    return `${perS(processPerS)} processed, ${Math.round(peakMb)} MB at most`
  }
  await run.inTurns(
    `backlog of ${small.toLocaleString('en')} and of ${large.toLocaleString('en')}`,
    run.mainMode,
    ['ours'],
    async (_side, store) => {
      const first = await workOff(store, small, 'backlogSmall', 'memorySmallMb')
      await clearStore(store)
      return `${first}; ${await workOff(store, large, 'backlogLarge', 'memoryMb')}`
    },
  )
}

const PROCESS_COUNTS: readonly { readonly workers: number; readonly name: string }[] = [
  { workers: 1, name: 'oneProcess' },
  { workers: 2, name: 'twoProcesses' },
]

async function processes(run: Run): Promise<void> {
  await run.inTurns('one and two worker processes', run.mainMode, ['ours'], async (_side, store) => {
    const rates: string[] = []
    for (const { workers, name } of PROCESS_COUNTS) {
      await clearStore(store)
      await handIn(run, store, run.plan.processes.tasks)
      const { processPerS } = await measure('processes', { store, workers, ...run.plan.processes })
      run.figures.add('ours', name, processPerS)
      rates.push(perS(processPerS))
    }
    return rates.join(' and ')
  })
}

async function redrive(run: Run): Promise<void> {
  await run.inTurns('redrive', run.mainMode, fullSidesOf(run.engine), async (side, store) => {
    const { redrivePerS } = await measure('redrive', { store, side, tasks: run.plan.deadLetters })
    run.figures.add(side, 'redrive', redrivePerS)
    return `${perS(redrivePerS)} sent back`
  })
  await run.inTurns('redrive as a resource', run.mainMode, ['ours'], async (side, store) => {
    const { redrivePerS } = await measure('redrive', { store, side, tasks: run.plan.deadLetters, managed: true })
    run.figures.add(side, 'redriveManaged', redrivePerS)
    return `${perS(redrivePerS)} sent back`
  })
}

/** Needs no store, and is the same on every engine. */
async function decide(run: Run): Promise<void> {
  await run.inTurns('decide', run.mainMode, ['ours'], async () => {
    const { decideUs } = await measure('decide', { rounds: 10 })
    run.figures.add('ours', 'decideUs', decideUs)
    return `${decideUs.toFixed(1)} µs per failure`
  })
}

/** Once in a run, next to plain processing in the same run: a million chunks take a while. */
async function job(run: Run): Promise<void> {
  const { tasks, warmupTasks } = run.plan
  await run.onceFor('durable job', run.mainMode, async (store) => {
    const plain = { store, side: 'ours', tasks: tasks[run.mainMode], warmupTasks, process: true } as const
    const { processPerS } = await measure('throughput', plain)
    await clearStore(store)
    const { jobPerS, peakMb } = await measure('job', { store, ...run.plan.job })
    run.figures.add('ours', 'jobPlain', processPerS ?? 0)
    run.figures.add('ours', 'job', jobPerS)
    run.figures.add('ours', 'jobMemoryMb', peakMb)
    return `${perS(jobPerS)} next to ${perS(processPerS ?? 0)} processed plainly, ${Math.round(peakMb)} MB at most`
  })
}

/** Once in a run: a million tasks are handed in for it. */
async function avalanche(run: Run): Promise<void> {
  await run.onceFor('avalanche', run.mainMode, async (store) => {
    const found = await measure('avalanche', { store, ...run.plan.avalanche })
    run.figures.add('ours', 'avalancheBefore', found.beforePerS)
    run.figures.add('ours', 'avalancheDuring', found.duringPerS)
    run.figures.add('ours', 'avalancheUrgentP95Ms', found.urgentP95Ms)
    const { longest } = found
    if (longest !== null) run.figures.add('ours', 'avalancheCallMs', longest.functionMs)
    if (longest !== null) run.figures.add('ours', 'avalancheCommandMs', longest.commandMs)
    const ofCommands = longest === null ? '' : ` (of a single command ${longest.commandMs.toFixed(1)} ms)`
    const call = longest === null ? '' : `, longest call ${longest.functionMs.toFixed(1)} ms${ofCommands}`
    const rates = `${perS(found.beforePerS)} before, ${perS(found.duringPerS)} while they come due`
    return `${rates}, an urgent task starts after ${found.urgentP95Ms.toFixed(1)} ms (p95)${call}`
  })
}

/** Once in a run: what is kept must first get old. */
async function retention(run: Run): Promise<void> {
  await run.onceFor('retention', run.mainMode, async (store) => {
    const { processPerS, keptShare, growth } = await measure('retention', { store, ...run.plan.retention })
    run.figures.add('ours', 'retentionProcess', processPerS)
    run.figures.add('ours', 'retentionKept', keptShare)
    run.figures.add('ours', 'retentionGrowth', growth)
    const kept = `kept ${keptShare.toFixed(2)} times what the rule asks for`
    return `${perS(processPerS)} processed, ${kept}, growing by ${growth.toFixed(2)} per processed task`
  })
}
