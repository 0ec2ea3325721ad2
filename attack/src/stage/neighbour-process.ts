// The victim in a process of its own: submits a task every now and then, claims it as a worker over HTTP does, and notes how
// long that took. Its clock is one clock, so the two ends can be compared.

import { setTimeout as sleep } from 'node:timers/promises'
import { Api } from './api.ts'
import type { NeighbourOrder } from './neighbour.ts'

export interface NeighbourReport {
  readonly latencies: readonly number[]
  readonly lost: number
}

interface Claims {
  readonly claimed: readonly {
    readonly taskId: string
    readonly attempt: number
    readonly token: string
    readonly snapshot: { readonly payload: number }
  }[]
}

const EVERY_MS = 25
const WORKERS = 2
const CLAIM_WAIT_MS = 1_000
/** How long what was submitted last may take to start. */
const LAST_MS = 5_000
/** What is slow at first, because nothing of it was done before, is not counted. */
const WARM_UP_MS = 3_000

const ended = new AbortController()
/** By the number that is its payload: a worker may know a task by another id than its submitter. */
const submittedAt = new Map<number, number>()
const latencies: number[] = []
let lost = 0

async function submit(api: Api, { tenant }: NeighbourOrder): Promise<void> {
  for (let number = 1; !ended.signal.aborted; number++) {
    submittedAt.set(number, performance.now())
    const submission = { action: `${tenant}.calm`, pool: tenant, payload: number }
    void api.post('/api/v1/tasks', submission).then(({ status }) => {
      if (status === 201) return
      lost++
      submittedAt.delete(number)
    })
    await sleep(EVERY_MS)
  }
}

async function work(api: Api, { tenant }: NeighbourOrder, worker: string): Promise<void> {
  const registered = await api.post<{ readonly epoch: number }>('/api/v1/workers', { worker, pools: [tenant] })
  const { epoch } = registered.body
  const until = (): boolean => ended.signal.aborted && submittedAt.size === 0
  while (!until()) {
    const request = { worker, epoch, pools: [tenant], limit: 10, waitMs: CLAIM_WAIT_MS }
    const { status, body } = await api.post<Partial<Claims>>('/api/v1/claims', request)
    if (status !== 200) await sleep(EVERY_MS)
    const now = performance.now()
    const claimed = body.claimed ?? []
    for (const { snapshot } of claimed) {
      const sentAt = submittedAt.get(snapshot.payload)
      if (sentAt !== undefined) latencies.push(now - sentAt)
      submittedAt.delete(snapshot.payload)
    }
    if (claimed.length === 0) continue
    const settlements = claimed.map(({ taskId, attempt, token }) => ({ taskId, attempt, token, outcome: 'succeeded' }))
    void api.post('/api/v1/settlements', { settlements })
    void api.post(`/api/v1/workers/${worker}/beat`, { epoch })
  }
}

async function run(order: NeighbourOrder): Promise<void> {
  const submitter = new Api(order.origin, order.submitToken)
  const worker = submitter.as(order.workToken)
  const working = Array.from({ length: WORKERS }, (_, index) => work(worker, order, `${order.tenant}-worker-${index}`))
  const submitting = submit(submitter, order)
  await sleep(WARM_UP_MS)
  latencies.length = 0
  process.send?.('ready')
  process.once('message', () => void end([...working, submitting]))
}

async function end(under: readonly Promise<void>[]): Promise<void> {
  ended.abort()
  await Promise.race([Promise.all(under), sleep(LAST_MS)])
  const report: NeighbourReport = { latencies, lost: lost + submittedAt.size }
  process.send?.(report, () => process.exit(0))
}

process.once('message', (order: NeighbourOrder) => void run(order))
// Nobody would stop it any more.
process.once('disconnect', () => process.exit(0))
