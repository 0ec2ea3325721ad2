// Chunks come to a job block by block, in their order, and wait there until the service hands them in. A block is stored first,
// and counts from the moment the job's document names it; a process that dies in between leaves a block that nobody reads, which goes when
// the job ends. Only so many blocks wait at once: a submitter that is faster than the workers waits too.

import { randomUUID } from 'node:crypto'
import {
  blockDefinition,
  ConflictError,
  ENDED_JOB,
  type Engine,
  encodeJson,
  JOB_BLOCKS_MAX,
  JOB_CHUNKS_MAX,
  type JobDocument,
  type JsonText,
  jobDefinition,
  NotFoundError,
  stepDocument,
  TooLargeError,
} from '@reprise/core'

export interface Chunks {
  readonly from: number
  readonly payloads: readonly unknown[]
  readonly last?: boolean | undefined
}

export interface HandedOver {
  readonly received: number
  readonly isFull: boolean
}

/** As JSON inside of a document, which has to have room for it. */
const BLOCK_LENGTH_MAX = 60_000

/** Writes so many bytes, if there is room for them. */
export type Room = <T>(bytes: number, write: () => Promise<T>) => Promise<T>

export async function handedOver(
  engine: Pick<Engine, 'collection'>,
  id: string,
  chunks: Chunks,
  room: Room,
): Promise<HandedOver> {
  const jobs = collectionOf(engine)
  const texts = chunks.payloads.map((payload) => encodeJson(payload, 'payload of a chunk'))
  const end = chunks.from + texts.length
  let job = await currentJob(jobs, id)
  for (;;) {
    refuseUnfit(job, chunks, end)
    const isLast = chunks.last === true
    const rest = texts.slice(Math.max(job.received - chunks.from, 0))
    if (rest.length === 0) {
      if (isLast && job.total === null) await closed(engine, id, end)
      return { received: job.received, isFull: false }
    }
    if (job.blocks.length >= JOB_BLOCKS_MAX) return { received: job.received, isFull: true }
    const block = blockOf(rest)
    const bytes = block.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const before = job
    job = await room(bytes, () => withBlock(engine, before, block, bytes))
  }
}

/** The document with one more block, or as another submitter of the same job has left it. */
async function withBlock(
  engine: Pick<Engine, 'collection'>,
  job: JobDocument,
  payloads: readonly JsonText[],
  bytes: number,
) {
  const jobs = engine.collection(jobDefinition)
  const blocks = engine.collection(blockDefinition)
  const { document: block } = await blocks.insert({ id: `${job.id}/${randomUUID()}`, job: job.id, payloads })
  const from = job.received
  const written = await stepDocument(jobs, job.id, (now) => {
    if (now.received !== from || now.total !== null || ENDED_JOB.has(now.status)) return null
    const ref = { id: block.id, from, count: payloads.length, bytes }
    return { ...now, received: from + payloads.length, blocks: [...now.blocks, ref] }
  })
  if (written !== null) return written
  await blocks.remove(block.id)
  return currentJob(jobs, job.id)
}

async function closed(engine: Pick<Engine, 'collection'>, id: string, total: number): Promise<void> {
  await stepDocument(engine.collection(jobDefinition), id, (job) => {
    return job.total === null && job.received === total ? { ...job, total } : null
  })
}

async function currentJob(jobs: ReturnType<typeof collectionOf>, id: string): Promise<JobDocument> {
  const stored = await jobs.get(id)
  if (stored === null) throw new NotFoundError('job', id)
  return stored.document
}

const collectionOf = (engine: Pick<Engine, 'collection'>) => engine.collection(jobDefinition)

function refuseUnfit(job: JobDocument, { from }: Chunks, end: number): void {
  const { id, received, total, status } = job
  if (ENDED_JOB.has(status)) throw new ConflictError(`The job '${id}' is ${status}: it takes no more chunks.`)
  if (job.source.kind === 'range')
    throw new ConflictError(`The chunks of the job '${id}' are a range: none are handed over.`)
  if (from > received) {
    throw new ConflictError(
      `The job '${id}' has ${received} chunks, and these begin at ${from}. Go on from ${received}.`,
    )
  }
  if (total !== null && end > total) throw new ConflictError(`The job '${id}' has all of its ${total} chunks.`)
  if (end > JOB_CHUNKS_MAX) throw new ConflictError(`A job has at most ${JOB_CHUNKS_MAX} chunks.`)
}

/** As many as fit into one block. */
function blockOf(texts: readonly JsonText[]): readonly JsonText[] {
  let length = 0
  let count = 0
  for (const text of texts) {
    const own = JSON.stringify(text).length
    if (own > BLOCK_LENGTH_MAX) throw new TooLargeError('payload of a chunk', own, BLOCK_LENGTH_MAX)
    if (length + own > BLOCK_LENGTH_MAX) break
    length += own
    count++
  }
  return texts.slice(0, count)
}
