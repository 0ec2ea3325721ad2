// The incident: tasks of three actions in two regions, workers of version 1 for one of them and of version 2, the bad deploy,
// for the other. When everything has ended or died, the workers leave. What they leave behind is for operators.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@reprise/client'
import { actionsOf, type Order, VERSIONS } from './actions.ts'

const WORKER_PROCESS = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const ACTIONS = actionsOf(VERSIONS.old)
const REGIONS = ['eu', 'us'] as const
const POISON_EVERY = 100

export interface Left {
  readonly succeeded: number
  readonly dead: number
}

export interface IncidentOptions {
  readonly engine: string
  readonly tasks: number
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

export async function runIncident({ engine, tasks, tell, signal }: IncidentOptions): Promise<Left> {
  const client = await createClient({ engine })
  try {
    tell(`Submitting ${tasks} tasks of ${ACTIONS.length} actions in ${REGIONS.length} regions.`)
    const orders = Array.from({ length: tasks }, (_, order) => orderOf(order))
    for (const [place, action] of ACTIONS.entries()) {
      const mine = orders.filter(({ order }) => placeOf(order) === place)
      await client.submitMany(action, mine, ({ region }) => ({ pool: region, labels: { region } }))
    }
    tell(`Version ${VERSIONS.bad} is deployed to region eu; us stays at ${VERSIONS.old}.`)
    const fleet = [
      startWorker(engine, VERSIONS.bad, 'eu', 'shop-eu-1'),
      startWorker(engine, VERSIONS.bad, 'eu', 'shop-eu-2'),
      startWorker(engine, VERSIONS.old, 'us', 'shop-us-1'),
    ]
    try {
      return await allEnded(client, tell, signal)
    } finally {
      tell('The workers leave.')
      await Promise.all(fleet.map((stop) => stop()))
    }
  } finally {
    await client.close()
  }
}

/** Workers of the fixed version, in both regions, until the signal fires. */
export async function runFixed(engine: string, tell: (line: string) => void, signal: AbortSignal): Promise<void> {
  tell(`Version ${VERSIONS.fixed} is deployed to both regions. Redrive what died; Ctrl-C ends the workers.`)
  const fleet = REGIONS.map((region) => startWorker(engine, VERSIONS.fixed, region, `shop-${region}-fixed`))
  if (!signal.aborted) await once(signal, 'abort')
  await Promise.all(fleet.map((stop) => stop()))
}

function orderOf(order: number): Order {
  const region = REGIONS[order % REGIONS.length] ?? 'eu'
  // In all regions alike.
  const isPoison = Math.floor(order / REGIONS.length) % POISON_EVERY === 17
  return { order, region, ...(isPoison ? {} : { customer: `customer-${order % 40}` }) }
}

/** Which action it is for. All regions have orders for each. */
const placeOf = (order: number): number => Math.floor(order / REGIONS.length) % ACTIONS.length

function startWorker(engine: string, version: string, region: string, id: string): () => Promise<void> {
  const child = fork(WORKER_PROCESS, [engine, version, region, id])
  const exit = once(child, 'exit')
  return async () => {
    child.kill('SIGTERM')
    await exit
  }
}

async function allEnded(client: Client, tell: (line: string) => void, signal: AbortSignal): Promise<Left> {
  let toldAt = 0
  for (;;) {
    const { queued, waiting, running, succeeded, dead } = await client.counts()
    const left = queued + waiting + running
    if (left === 0 || signal.aborted) return { succeeded, dead }
    if (Date.now() - toldAt > 2_000) {
      toldAt = Date.now()
      tell(`${succeeded} succeeded, ${dead} died, ${left} to go.`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
