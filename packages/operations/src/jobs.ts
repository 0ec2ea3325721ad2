// Operations about durable jobs: start one, hand over its chunks, look at it, stop and go on. What moves a job is the service of
// the orchestrators; here only its document changes, one step at a time.

import { randomUUID } from 'node:crypto'
import {
  ConflictError,
  cancelled,
  ENDED_JOB,
  type Engine,
  finalId,
  isRepriseError,
  JOB_CHUNKS_MAX,
  JOB_STATUSES,
  type JobDocument,
  type JournalEntryInput,
  jobDefinition,
  LABELS_MAX,
  type Operator,
  ownId,
  progressOf,
  resumed,
  retried,
  stepDocument,
  type TaskId,
  type TenantId,
} from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller, mayTouch, tenantScope } from './access/caller.ts'
import { withinBytes } from './bytes-beside.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { chunkPage } from './jobs/chunk-page.ts'
import { handedOver } from './jobs/hand-over.ts'
import { newJob, refuseBeyond } from './jobs/new-job.ts'
import { ownJob } from './jobs/own-job.ts'
import { sameJob } from './jobs/same-job.ts'
import { operation } from './operation.ts'
import {
  digitsInput,
  JsonValue,
  listOf,
  Moment,
  NameInput,
  NewActionName,
  NewName,
  NewPoolName,
  NewTenantId,
  PageQuery,
  pageOf,
  ReasonInput,
  TenantIdInput,
} from './schemas/names.ts'
import { FailureView } from './schemas/task.ts'
import { visiblePage } from './visible-page.ts'

/** The id of a chunk's task has the job's id in it. */
const JOB_ID_LENGTH_MAX = 120

const JobParams = z.object({ id: NameInput })
const JobView = z
  .object({
    id: z.string(),
    name: z.string(),
    tenant: z.string(),
    action: z.string(),
    pool: z.string(),
    status: z.enum(JOB_STATUSES),
    because: z.string().nullable().meta({ description: 'Why it stopped, failed or was cancelled.' }),
    total: z.int().nullable().meta({ description: 'Null until the last chunk was handed over.' }),
    received: z.int(),
    open: z.int().meta({ description: 'Chunks that are tasks of the store and have not ended.' }),
    succeeded: z.int(),
    failed: z.int().meta({ description: 'Ended in any other way: dead, discarded, cancelled or gone.' }),
    fraction: z.number().nullable(),
    perSecond: z.number().meta({ description: 'Chunks that ended per second, lately.' }),
    leftMs: z.int().nullable().meta({ description: 'Milliseconds until all have ended, at this speed.' }),
    concurrency: z.int().nullable(),
    maxPerSecond: z.number().nullable(),
    tolerate: z.union([z.int(), z.string()]).meta({ description: 'Failed chunks that it tolerates, or their share.' }),
    onFailure: z.enum(['stop', 'continue']),
    final: z.string().nullable().meta({ description: 'The action of its final step.' }),
    finalTask: z.string().nullable().meta({ description: 'The id that the task of its final step has, or will have.' }),
    startedAt: Moment,
    endedAt: Moment.nullable(),
    changes: listOf(z.object({ at: Moment, actor: z.string(), what: z.string(), reason: z.string() })),
  })
  .meta({ id: 'Job' })

const ChunkView = z
  .object({
    place: z.int().meta({ description: 'From 0.' }),
    taskId: z.string(),
    status: z.string(),
    result: JsonValue.optional(),
    failure: FailureView.optional(),
  })
  .meta({ id: 'JobChunk' })

const ToleranceInput = z
  .union([z.int().min(0), z.string().regex(/^\d{1,3}(?:\.\d{1,6})?%$/)])
  .meta({ description: 'How many chunks may fail, or which share of them, such as `5%`; 0 if missing.' })

const StartInput = z.object({
  id: NewName.refine(
    (id) => id.length <= JOB_ID_LENGTH_MAX,
    `The id of a job has at most ${JOB_ID_LENGTH_MAX} characters.`,
  )
    .optional()
    .meta({ description: 'Makes the start idempotent. Drawn at random if missing.' }),
  name: NewName.optional(),
  action: NewActionName.meta({ description: 'What each chunk runs.' }),
  tenant: NewTenantId.optional(),
  pool: NewPoolName.optional(),
  labels: z
    .record(NewName, NewName)
    .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `A task has at most ${LABELS_MAX} labels.`)
    .optional(),
  priority: z.int().min(0).max(9).optional(),
  range: z
    .strictObject({ from: z.int().optional(), to: z.int(), step: z.int().min(1).optional() })
    .optional()
    .meta({ description: 'Chunks are the numbers from `from` (0) to below `to`. Without it, hand the chunks over.' }),
  concurrency: z.int().min(1).max(1_000_000).optional().meta({ description: 'Chunks that are open at once.' }),
  maxPerSecond: z.number().positive().max(1_000_000).optional().meta({ description: 'Chunks handed in per second.' }),
  tolerate: ToleranceInput.optional(),
  onFailure: z.enum(['stop', 'continue']).optional().meta({
    description:
      'When more chunks failed than it tolerates: hand in no more (`stop`, if missing), or go on to the end.',
  }),
  final: NewActionName.optional().meta({ description: 'An action that runs once, when all chunks have ended.' }),
})

const common = { tag: 'jobs', tenants: 'own' } as const

export const jobOperations = {
  startJob: operation({
    ...common,
    route: 'POST /api/v1/jobs',
    summary: 'Start a job made of chunks',
    description: 'Each chunk becomes a task. The same id again is the same job.',
    right: 'submit',
    input: StartInput,
    output: JobView,
    answer: 'The job.',
    status: 201,
    problems: [409],
    run: async (context, caller, input) => {
      const { engine } = context
      const tenant = tenantScope(caller, input.tenant).tenant ?? ('default' as TenantId)
      const id =
        input.id === undefined ? randomUUID() : caller.tenants === null ? input.id : ownId(tenant, input.id as TaskId)
      const jobs = engine.collection(jobDefinition)
      const known = await sameJob(jobs, id, input)
      if (known !== null) return shown(known)
      // One at a time of a tenant: those that come together must see each other.
      return context.largePages.run(caller, async () => {
        const job = await newJob(context, caller, { ...input, id, tenant })
        try {
          await jobs.insert(job)
        } catch (error) {
          // The same start came twice at once, and the other one was faster.
          const other = isRepriseError(error, 'REPRISE_CONFLICT') ? await sameJob(jobs, id, input) : null
          if (other === null) throw error
          return shown(other)
        }
        if (caller.tenants !== null) await refuseBeyond(engine, job)
        await tell(engine, 'job.started', job, byOf(caller, undefined))
        return shown(job)
      })
    },
  }),
  handOverChunks: operation({
    ...common,
    route: 'POST /api/v1/jobs/{id}/chunks',
    summary: 'Hand over chunks of a job',
    description: 'In their order. Chunks that were handed over before are passed over, so that a call can be repeated.',
    right: 'submit',
    input: JobParams.extend({
      from: z.int().min(0).max(JOB_CHUNKS_MAX).meta({ description: 'The place of the first one in the job.' }),
      payloads: z.array(JsonValue).max(1_000),
      last: z.boolean().optional().meta({ description: 'No more will come.' }),
    }),
    output: z
      .object({
        received: z.int().meta({ description: 'How many the job has: the place to go on from.' }),
        isFull: z.boolean().meta({ description: 'Enough wait already. Nothing was taken: come again a little later.' }),
      })
      .meta({ id: 'HandedOver' }),
    answer: 'How many the job has now.',
    repeatable: true,
    problems: [404, 409],
    run: async (context, caller, { id, ...chunks }) => {
      const job = await ownJob(context.engine, caller, id)
      return handedOver(context.engine, job.id, chunks, (bytes, write) =>
        withinBytes(context, caller, job.tenant, bytes, write),
      )
    },
  }),
  listJobs: operation({
    ...common,
    route: 'GET /api/v1/jobs',
    summary: 'List jobs',
    right: 'read',
    input: PageQuery.extend({
      tenant: TenantIdInput.optional(),
      status: z
        .enum([...JOB_STATUSES, 'live'])
        .optional()
        .meta({ description: 'Only these; `live` are those that have not ended.' }),
    }),
    output: pageOf(JobView, 'JobPage'),
    answer: 'Oldest first.',
    run: async ({ engine }, caller, { tenant, status, ...page }) => {
      const jobs = engine.collection(jobDefinition)
      const [only, ...others] = caller.tenants ?? []
      const scope = tenant ?? (others.length === 0 ? only : undefined)
      if (scope !== undefined && !mayTouch(caller, scope)) return { items: [], next: null }
      const read = (request: typeof page) =>
        scope === undefined
          ? jobs.list(given(request))
          : jobs.find({ index: 'tenant', value: scope, ...given(request) })
      const isWanted = (job: JobDocument): boolean =>
        mayTouch(caller, job.tenant) &&
        (status === undefined || (status === 'live' ? !ENDED_JOB.has(job.status) : job.status === status))
      const { items, next } = await visiblePage(given(page), read, ({ document }) => isWanted(document))
      return { items: items.map(({ document }) => shown(document)), next }
    },
  }),
  getJob: operation({
    ...common,
    route: 'GET /api/v1/jobs/{id}',
    summary: 'Get a job and its progress',
    right: 'read',
    input: JobParams,
    output: JobView,
    answer: 'The job.',
    problems: [404],
    run: async ({ engine }, caller, { id }) => shown(await ownJob(engine, caller, id)),
  }),
  listJobChunks: operation({
    ...common,
    route: 'GET /api/v1/jobs/{id}/chunks',
    summary: 'List the chunks of a job with their results',
    description: 'In their order. A page may be short, or empty, though more follow.',
    right: 'read',
    input: JobParams.extend({
      limit: digitsInput(1, 1_000).optional(),
      cursor: z
        .string()
        .regex(/^\d{1,9}$/)
        .optional(),
      status: z.enum(['succeeded', 'failed', 'open']).optional().meta({ description: 'Only those.' }),
    }),
    output: pageOf(ChunkView, 'JobChunkPage'),
    answer: 'A page of them.',
    problems: [404],
    run: async (context, caller, { id, ...page }) => {
      const job = await ownJob(context.engine, caller, id)
      return context.largePages.run(caller, () => chunkPage(context, caller, job, page))
    },
  }),
  resumeJob: act('resume', 'Go on with a job that stopped or failed', resumed, 'job.resumed', {
    description: 'Its failures so far are accepted: they stop it no more.',
    refusal: 'only a job that stopped or failed can go on',
  }),
  retryJob: act('retry', 'Run the failed chunks of a job again', retried, 'job.retried', {
    description: 'Only these, in a new generation each; then the job goes on.',
    refusal: 'it has no failed chunks, or is being cancelled',
  }),
  cancelJob: act('cancel', 'Cancel a job and its open chunks', cancelled, 'job.cancelled', {
    description: 'Chunks that have ended stay as they are.',
    refusal: 'it has ended',
  }),
}

/** What an operator does to one job: one step of its document. */
function act(
  verb: string,
  summary: string,
  step: (job: JobDocument, by: Operator) => JobDocument | null,
  type: JournalEntryInput['type'],
  { description, refusal }: { readonly description: string; readonly refusal: string },
) {
  return operation({
    ...common,
    route: `POST /api/v1/jobs/{id}/${verb}`,
    summary,
    description,
    right: 'operate',
    input: JobParams.extend({ reason: ReasonInput.optional() }),
    output: JobView,
    answer: 'The job as it is now.',
    status: 202,
    problems: [404, 409],
    run: async ({ engine }: Context, caller: Caller, { id, reason }: { id: string; reason?: string | undefined }) => {
      const { id: jobId, status } = await ownJob(engine, caller, id)
      const by = byOf(caller, reason)
      const at = await engine.now()
      const job = await stepDocument(engine.collection(jobDefinition), jobId, (now) =>
        step(now, { at, actor: by.actor, reason: by.reason }),
      )
      if (job === null) throw new ConflictError(`The job '${id}' is ${status}: ${refusal}.`)
      await tell(engine, type, job, by)
      return shown(job)
    },
  })
}

async function tell(
  { journal }: Pick<Engine, 'journal'>,
  type: JournalEntryInput['type'],
  { id, name, tenant, status }: JobDocument,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<void> {
  const data = { job: id, name, tenant, status }
  await journal.append([{ type, taskId: null, attempt: null, actor, reason, data }])
}

function shown(job: JobDocument): z.output<typeof JobView> {
  const { id, name, tenant, action, pool, status, because, concurrency, tolerance, onFailure, startedAt, endedAt } = job
  return {
    id,
    name,
    tenant,
    action,
    pool,
    status,
    because,
    ...progressOf(job),
    concurrency,
    maxPerSecond: job.perSecond,
    tolerate: tolerance.kind === 'count' ? tolerance.count : `${Number((tolerance.share * 100).toFixed(6))}%`,
    onFailure,
    final: job.final?.action ?? null,
    finalTask: job.final === null ? null : finalId(id, job.round),
    startedAt,
    endedAt,
    changes: job.changes,
  }
}
