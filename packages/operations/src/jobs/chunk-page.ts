// Pages of a job's chunks in their order, with results and failures as their caller may see them: read by place, from the tasks
// themselves. A page is bounded by what it shows and by what it looks at.

import {
  chunkId,
  decodeJson,
  END_STATUSES,
  type JobDocument,
  LEFT_OUT,
  PAGE_LIMIT_DEFAULT,
  type Page,
  type Task,
  type Turns,
  turnsOf,
} from '@reprise/core'
import type { Caller } from '../access/caller.ts'
import type { Context } from '../context.ts'
import { Written } from '../operation.ts'
import { sightOf } from '../sight.ts'
import { failureView, type Sight } from '../views.ts'

export interface ChunkQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly status?: 'succeeded' | 'failed' | 'open' | undefined
}

const LOOK = 100
/** Chunks that one page looks at, where only some are wanted. */
const LOOKED_AT_MAX = 5_000
const PAGE_LENGTH_MAX = 1_000_000

type ChunkPage = Page<Awaited<ReturnType<typeof shown>>>

/** As text, since that is how its length is known. */
export async function chunkPage(context: Context, caller: Caller, job: JobDocument, query: ChunkQuery) {
  const { limit = PAGE_LIMIT_DEFAULT, cursor = '0', status } = query
  const sight = sightOf(context, caller)
  const turns = turnsOf(context.clock)
  const items: string[] = []
  const from = Number(cursor)
  let place = from
  let length = 0
  while (place < job.fed && items.length < limit && place - from < LOOKED_AT_MAX && length < PAGE_LENGTH_MAX) {
    if (turns.isSpent) await turns.wait()
    const count = Math.min(LOOK, job.fed - place)
    const ids = Array.from({ length: count }, (_, index) => chunkId(job.id, place + index))
    const found = await Promise.all(ids.map((id) => context.engine.task(id, { light: true })))
    // A task of another tenant that has the id is no chunk.
    const tasks = found.map((task) => (task === null || task.tenant === job.tenant ? task : null))
    for (const task of tasks) {
      if (items.length >= limit || length >= PAGE_LENGTH_MAX) break
      if (isWanted(task, status)) {
        if (turns.isSpent) await turns.wait()
        const item = await shown(place, chunkId(job.id, place), await whole(context, task), sight, turns)
        const text = JSON.stringify(item)
        items.push(text)
        length += text.length
      }
      place++
    }
  }
  const next = place < job.fed ? String(place) : null
  return new Written<ChunkPage>(`{"items":[${items.join()}],"next":${JSON.stringify(next)}}`)
}

function isWanted(task: Task | null, status: ChunkQuery['status']): boolean {
  if (status === undefined) return true
  if (task === null) return status === 'failed'
  if (status === 'open') return !END_STATUSES.has(task.state.status)
  const isSuccess = task.state.status === 'succeeded'
  return status === 'succeeded' ? isSuccess : !isSuccess && END_STATUSES.has(task.state.status)
}

/** A light look leaves long results out. */
async function whole({ engine }: Pick<Context, 'engine'>, task: Task | null): Promise<Task | null> {
  const isCut = task?.state.status === 'succeeded' && task.state.result === LEFT_OUT
  return task !== null && isCut ? engine.task(task.id) : task
}

async function shown(place: number, taskId: string, task: Task | null, sight: Sight, turns: Turns) {
  if (task === null) return { place, taskId, status: 'gone' }
  const { state } = task
  const { status } = state
  if (status === 'dead') return { place, taskId, status, failure: failureView(state.failure, sight) }
  if (status !== 'succeeded') return { place, taskId, status }
  const result = state.result === null ? null : await sight.paced(decodeJson(state.result), turns)
  return { place, taskId, status, result }
}
