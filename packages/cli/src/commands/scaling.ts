// reprise scaling: how many workers each pool would need now (C9).

import type { ScalingSignal } from '@reprise/client'
import { type PoolName, poolName } from '@reprise/core'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { showRows } from '../operate/rows.ts'
import { storeOf } from '../operate/store.ts'
import { shortSpan } from '../views/spans.ts'

const TARGET_WAIT_MS = 10_000
const SLOTS_MAX = 100_000
const POOLS_MAX = 100

export const scaling: CommandDefinition = {
  path: ['scaling'],
  group: 'Operate',
  summary: 'Say how many workers each pool would need',
  details:
    'Says for each pool how many slots, and workers, would keep its promise on waiting now, with the sum that leads to it. It scales nothing itself.',
  options: [
    { flags: '--pool <pool>', about: 'Only this pool' },
    { flags: '--target-wait <duration>', about: 'How long a task may wait before it starts; 10s if not given' },
    { flags: '--slots-per-worker <count>', about: 'What one worker runs at once' },
    { flags: '--duration <duration>', about: 'How long one attempt takes, for when the figures do not tell' },
    { flags: '-w, --watch', about: 'Keep looking, until interrupted' },
  ],
  examples: [
    { command: 'reprise scaling --target-wait 5s --slots-per-worker 10', says: 'How many workers?' },
    { command: "reprise scaling --pool render -o json | jq '.[0].workers'", says: 'For an autoscaler' },
  ],
  async run(invocation) {
    const read = await reader(invocation)
    await showRows<ScalingSignal>(invocation, {
      read,
      key: ({ pool }) => pool,
      columns: () => [
        { title: 'POOL', value: ({ pool }) => pool },
        { title: 'NEEDS', value: ({ workers }) => workers ?? '?', right: true },
        { title: 'HAS', value: ({ workersNow }) => workersNow, right: true },
        { title: 'SLOTS', value: ({ slots }) => slots ?? '?', right: true },
        { title: 'DEPTH', value: ({ numbers }) => numbers.depth, right: true },
        { title: 'WAIT', value: ({ numbers }) => shortSpan(numbers.targetWaitMs), right: true },
        { title: 'BECAUSE', value: ({ sum }) => sum, flexible: true, wraps: true },
      ],
      none: 'There is no pool yet: no worker and no task names one.',
    })
    return undefined
  },
}

async function reader(invocation: Invocation): Promise<() => Promise<readonly ScalingSignal[]>> {
  const { options } = invocation
  const pool = options.text('pool')
  const slotsPerWorker = options.whole('slots-per-worker', 1, SLOTS_MAX)
  const targetWait = options.durationMs('target-wait')
  const duration = options.durationMs('duration')
  const engine = await storeOf(invocation)
  const slots = slotsPerWorker === undefined ? {} : { slotsPerWorker }
  if (engine === null) {
    const client = await invocation.connect()
    return () =>
      client.figures.scaling({
        ...slots,
        ...(pool === undefined ? {} : { pool }),
        ...(targetWait === undefined ? {} : { targetWait }),
        ...(duration === undefined ? {} : { duration }),
      })
  }
  const { registrySnapshot, scalingSignals } = await import('@reprise/orchestrator')
  const pools = async (): Promise<readonly PoolName[]> => {
    if (pool !== undefined) return [poolName(pool)]
    const served = (await registrySnapshot(engine)).flatMap((worker) => worker.pools)
    const { items } = await engine.lanes({ limit: 1_000 })
    return [...new Set([...served, ...items.map((lane) => lane.pool)])].sort().slice(0, POOLS_MAX)
  }
  return async () =>
    scalingSignals(engine, await pools(), {
      targetWaitMs: targetWait ?? TARGET_WAIT_MS,
      ...slots,
      ...(duration === undefined ? {} : { durationMs: duration }),
    })
}
