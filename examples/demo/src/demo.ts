// The demo from beginning to end: open a store, submit the tasks, let two worker processes run them, kill one of them,
// wait until every task has ended, and count. Says how it ended; the caller turns that into words and an exit code.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '@reprise/client'
import { type Engine, seededRandom } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { type Audit, audit } from './audit.ts'
import type { DemoOptions } from './options.ts'
import { type DemoProgress, ended, ProgressReader } from './progress.ts'
import type { Announce, DemoTitle, View } from './view.ts'
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
const VICTIM = 'worker-2'
/** The victim is killed when this share of all tasks has ended. */
const KILL_AT_SHARE = 0.4
const LOOK_EVERY_MS = 100
const EXPLANATIONS_MAX = 5

export function titleOf({ tasks, seed }: DemoOptions): DemoTitle {
  return { tasks, seed, tenants: TENANTS.length, workers: WORKERS.length }
}

/** Leaves nothing running. The signal ends it early. */
export async function runDemo(path: string, options: DemoOptions, view: View, signal: AbortSignal): Promise<DemoEnd> {
  // One engine for the client and for reading the journal; the workers open the same file in their own processes.
  const engine = await openSqliteEngine({ path })
  const client = await createClient({ engine })
  const announce: Announce = (tone, text) => view.announce({ atMs: reader.elapsedMs, tone, text })
  const reader = new ProgressReader(engine, announce)
  const fleet = new WorkerFleet(`sqlite:${path}`, announce)
  try {
    const accepted = await submitWorkload(client, options.tasks, seededRandom(options.seed))
    announce('plain', `${accepted} tasks are accepted, and durable; the workers start`)
    fleet.start(WORKERS)
    const because = await untilAllEnded({ client, reader, fleet, view, announce, signal, limitMs: options.timeLimitMs })
    if (because === 'interrupted') return { kind: 'interrupted' }
    if (because !== null) return await explainUnfinished(client, because)
    await fleet.stop()
    return { kind: 'finished', audit: await audit(client, engine, options.tasks) }
  } finally {
    await fleet.stop()
    await closeAll(client, engine)
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

/** Null when every task has ended; else why it stopped looking. */
async function untilAllEnded(watch: Watch): Promise<string | null> {
  const { reader, fleet, view, signal, limitMs } = watch
  let isKilled = false
  for (;;) {
    if (signal.aborted) return 'interrupted'
    const progress = await reader.read()
    view.show(progress)
    if (ended(progress.counts) === progress.counts.accepted) return null
    if (fleet.isBroken) return 'The workers died too often to be started again.'
    if (progress.elapsedMs > limitMs) return `The time limit of ${limitMs / 1_000} s is over.`
    isKilled ||= await killOnTheWay(watch, progress)
    await sleep(LOOK_EVERY_MS, null, { signal }).catch(() => {})
  }
}

/** Kills the victim once, in the middle of its work. */
async function killOnTheWay({ client, fleet, announce }: Watch, { counts }: DemoProgress): Promise<boolean> {
  if (ended(counts) < counts.accepted * KILL_AT_SHARE) return false
  const running = await client.list({ status: 'running', limit: 100 })
  const inHand = running.items.filter(({ state }) => state.status === 'running' && state.worker === VICTIM).length
  if (inHand === 0 || !fleet.kill(VICTIM)) return false
  announce('bad', `${VICTIM} killed (SIGKILL) by this demo, with ${inHand} tasks in hand`)
  return true
}

async function explainUnfinished(client: Client, because: string): Promise<DemoEnd> {
  const pages = await Promise.all(
    (['running', 'queued', 'waiting'] as const).map((status) => client.list({ status, limit: EXPLANATIONS_MAX })),
  )
  const explanations: string[] = []
  for (const { id } of pages.flatMap(({ items }) => items).slice(0, EXPLANATIONS_MAX)) {
    const explanation = await client.explain(id)
    if (explanation !== null) explanations.push(`${id}: ${explanation.summary}`)
  }
  const { accepted, ...counts } = await client.counts()
  return { kind: 'unfinished', because, unfinished: accepted - ended({ accepted, ...counts }), explanations }
}

async function closeAll(client: Client, engine: Engine): Promise<void> {
  await client.close()
  await engine.close()
}
