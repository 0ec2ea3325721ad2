// The victim's ordinary work, timed while the attacker does its worst: a process of its own, which submits tasks at a calm
// pace and has a worker that starts them. Here is what the run has of it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { NeighbourOrder, NeighbourReport } from './neighbour-process.ts'
import type { Scene } from './scene.ts'

export interface Neighbour {
  /** From the submission to the start, in milliseconds. */
  readonly stop: () => Promise<Timing>
}

export interface Timing {
  readonly p99Ms: number
  readonly tasks: number
  /** Submissions that were refused, or whose tasks had not started at the end. */
  readonly lost: number
}

export async function startNeighbour({ server, b, wholeStore }: Scene): Promise<Neighbour> {
  const child = fork(new URL('./neighbour-process.ts', import.meta.url))
  const [submitter, worker] = await Promise.all([b.as(['submit']), wholeStore('worker')])
  const order: NeighbourOrder = {
    origin: server.url,
    submitToken: submitter.token ?? '',
    workToken: worker.token ?? '',
    tenant: b.tenant,
  }
  child.send(order)
  await once(child, 'message')
  return {
    stop: async () => {
      const answer = once(child, 'message')
      child.send('stop')
      const [{ latencies, lost }] = (await answer) as [NeighbourReport]
      child.disconnect()
      if (latencies.length === 0) throw new Error("None of the neighbour's tasks has started.")
      return { p99Ms: percentile(latencies, 0.99), tasks: latencies.length, lost }
    },
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0
}
