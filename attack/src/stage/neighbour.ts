// The victim's ordinary work, timed while the attacker does its worst: a process of its own, which submits tasks at a calm
// pace and has a worker that starts them. Here is what the run has of it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { NeighbourReport } from './neighbour-process.ts'
import type { Scene } from './scene.ts'

export interface NeighbourOrder {
  readonly origin: string
  readonly submitToken: string
  readonly workToken: string
  readonly tenant: string
}

/** From the submission to the start. */
export interface Timing {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly tasks: number
  /** Submissions that were refused, or whose tasks had not started at the end. */
  readonly lost: number
}

/** What the victim's ordinary work needs. */
export async function neighbourOrder({ server, b, wholeStore }: Scene): Promise<NeighbourOrder> {
  const [submitter, worker] = await Promise.all([b.as(['submit']), wholeStore('worker')])
  return {
    origin: server.url,
    submitToken: submitter.token ?? '',
    workToken: worker.token ?? '',
    tenant: b.tenant,
  }
}

/** Comes back when it is warm; the answer stops it. */
export async function startNeighbour(order: NeighbourOrder): Promise<() => Promise<Timing>> {
  const child = fork(new URL('./neighbour-process.ts', import.meta.url))
  child.send(order)
  await once(child, 'message')
  return async () => {
    const answer = once(child, 'message')
    child.send('stop')
    const [{ latencies, lost }] = (await answer) as [NeighbourReport]
    child.disconnect()
    if (latencies.length === 0) throw new Error("None of the neighbour's tasks has started.")
    const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
    return { p50Ms, p99Ms, tasks: latencies.length, lost }
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0
}
