// The demo from beginning to end: open a store, submit the tasks, let two worker processes run them, kill one of them,
// wait until every task has ended, and count. Says how it ended; the caller turns that into words and an exit code.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { formatDuration, seededRandom } from '@reprise/core'
import { type Audit, audit, unfinished } from './audit.ts'
import type { DemoOptions } from './options.ts'
import { type DemoProgress, ended, ProgressReader } from './progress.ts'
import type { Announce, DemoTitle, View } from './view.ts'
import { grouped } from './words.ts'
import { WorkerFleet } from './worker-fleet.ts'
import { submitWorkload, TENANTS } from './workload.ts'

export type DemoEnd =
  | { readonly kind: 'finished'; readonly audit: Audit }
  /** With one line for some of the tasks that had not ended: what each is waiting for. */
  | {
      readonly kind: 'unfinished'
      readonly because: string
      readonly unfinished: number
      readonly explanations: readonly string[]
    }
  | { readonly kind: 'interrupted' }

const WORKERS = ['worker-1', 'worker-2'] as const
/** A worker is killed when this share of all tasks has ended. */
const KILL_AT_SHARE = 0.4
const LOOK_EVERY_MS = 100
const EXPLANATIONS_MAX = 5

export function titleOf({ tasks, seed }: DemoOptions): DemoTitle {
  return { tasks, seed, tenants: TENANTS.length, workers: WORKERS.length }
}

/** Leaves nothing running. The signal ends it early. */
export async function runDemo(
  address: string,
  options: DemoOptions,
  view: View,
  signal: AbortSignal,
): Promise<DemoEnd> {
  // One engine for the client and for reading the journal; the workers open the same store in their own processes.
  const connection = await connectEngine(address)
  const { engine } = connection
  const client = await createClient({ engine })
  const startedAt = performance.now()
  const announce: Announce = (tone, text) => view.announce({ atMs: performance.now() - startedAt, tone, text })
  const reader = new ProgressReader(engine, startedAt, announce)
  const fleet = new WorkerFleet(address, announce)
  try {
    const acknowledged = await submitWorkload(client, options.tasks, seededRandom(options.seed))
    announce('plain', `${grouped(acknowledged)} tasks are accepted (${engine.info.durability}); the workers start`)
    fleet.start(WORKERS)
    const limitMs = options.timeLimitMs
    const outcome = await untilAllEnded({ client, reader, fleet, view, announce, signal, limitMs })
    switch (outcome) {
      case 'interrupted':
        return { kind: 'interrupted' }
      case 'too late':
        return await explainUnfinished(client, `The time limit of ${formatDuration(limitMs)} is over.`)
      case 'broken':
        return await explainUnfinished(client, 'The workers died too often to be started again.')
      case 'all ended':
        await fleet.stop()
        return { kind: 'finished', audit: await audit(client, engine, acknowledged) }
    }
  } finally {
    await fleet.stop()
    await client.close()
    await connection.close()
  }
}

interface Watch {
  readonly client: Client
  readonly reader: ProgressReader
  readonly fleet: WorkerFleet
  readonly view: View
  readonly announce: Announce
  readonly signal: AbortSignal
  readonly limitMs: number
}

async function untilAllEnded(watch: Watch): Promise<'all ended' | 'interrupted' | 'too late' | 'broken'> {
  const { reader, fleet, view, signal, limitMs } = watch
  let isKilled = false
  for (;;) {
    if (signal.aborted) return 'interrupted'
    const progress = await reader.read()
    view.show(progress)
    if (ended(progress.counts) === progress.counts.accepted) return 'all ended'
    if (fleet.isBroken) return 'broken'
    if (progress.elapsedMs > limitMs) return 'too late'
    if (!isKilled) isKilled = await killOnTheWay(watch, progress)
    await sleep(LOOK_EVERY_MS, null, { signal }).catch(() => {})
  }
}

/** Kills the worker with most in hand, once, in the middle of its work. True when it has done so. */
async function killOnTheWay({ client, fleet, announce }: Watch, { counts }: DemoProgress): Promise<boolean> {
  if (ended(counts) < counts.accepted * KILL_AT_SHARE) return false
  const running = await client.listTasks({ q: 'status:running', limit: 100 })
  const holders = running.items.flatMap(({ state }) =>
    state.status === 'running' && state.leaseUntil > Date.now() ? [state.worker] : [],
  )
  const [victim] = WORKERS.map((id) => ({ id, inHand: holders.filter((holder) => holder === id).length }))
    .filter(({ inHand }) => inHand > 0)
    .sort((a, b) => b.inHand - a.inHand)
  if (victim === undefined || !fleet.kill(victim.id)) return false
  announce('bad', `${victim.id} killed (SIGKILL) by this demo, with ${victim.inHand} tasks in hand`)
  return true
}

async function explainUnfinished(client: Client, because: string): Promise<DemoEnd> {
  const pages = await Promise.all(
    ['running', 'queued', 'waiting'].map((status) =>
      client.listTasks({ q: `status:${status}`, limit: EXPLANATIONS_MAX }),
    ),
  )
  const explanations: string[] = []
  for (const { id } of pages.flatMap(({ items }) => items).slice(0, EXPLANATIONS_MAX)) {
    explanations.push(`${id}: ${(await client.explainTask({ id })).summary}`)
  }
  return { kind: 'unfinished', because, unfinished: unfinished(await client.counts()), explanations }
}
