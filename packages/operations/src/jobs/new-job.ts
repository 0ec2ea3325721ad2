// The document of a new job, from what its submitter says: settings of the actions captured, limits of the tenant applied. The
// chunks of a job are handed in later, by a service that knows no caller. So what the caller may do is written down here.

import {
  type ActionName,
  ConflictError,
  DEFAULT_PRIORITY,
  type Engine,
  type FinalStep,
  InvalidError,
  isRepriseError,
  JOB_CHUNKS_MAX,
  type JobDocument,
  jobDefinition,
  type PoolName,
  type Priority,
  type TenantId,
  type Tolerance,
} from '@reprise/core'
import type { Caller } from '../access/caller.ts'
import type { Context } from '../context.ts'

export interface RangeRequest {
  readonly from?: number | undefined
  readonly to: number
  readonly step?: number | undefined
}

export interface JobRequest {
  readonly id: string
  readonly name?: string | undefined
  readonly action: ActionName
  readonly tenant: TenantId
  readonly pool?: PoolName | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly priority?: number | undefined
  readonly range?: RangeRequest | undefined
  readonly concurrency?: number | undefined
  readonly maxPerSecond?: number | undefined
  readonly tolerate?: number | string | undefined
  readonly onFailure?: 'stop' | 'continue' | undefined
  readonly final?: ActionName | undefined
}

/** Jobs that have not ended, of a tenant whose callers are limited to it. */
const LIVE_PER_TENANT_MAX = 100

export async function newJob(context: Context, caller: Caller, request: JobRequest): Promise<JobDocument> {
  const { engine, catalogue, room, tenantLimits } = context
  const { id, tenant, range } = request
  const isLimited = caller.tenants !== null
  if (isLimited) await refuseTooMany(context, tenant)
  const { name: action, pool: ownPool, settings } = await catalogue.find(request.action)
  const pool = request.pool ?? ownPool
  await room.admit({ pool, action, tenant }, caller)
  const final = request.final === undefined ? null : await finalStep(context, caller, request.final, tenant)
  const limits = tenantLimits.of(tenant, isLimited)
  const chunks = range === undefined ? 0 : chunksOf(range)
  const now = await engine.now()
  return {
    id,
    name: request.name ?? request.action,
    tenant,
    action,
    pool,
    settings,
    labels: request.labels ?? {},
    priority: (request.priority ?? DEFAULT_PRIORITY) as Priority,
    source: range === undefined ? { kind: 'given' } : { kind: 'range', from: range.from ?? 0, step: range.step ?? 1 },
    total: range === undefined ? null : chunks,
    received: chunks,
    blocks: [],
    concurrency: least(request.concurrency, limits.backlog),
    perSecond: least(request.maxPerSecond, limits.submitsPerSecond),
    tolerance: toleranceOf(request.tolerate ?? 0),
    onFailure: request.onFailure ?? 'stop',
    final,
    status: 'running',
    because: null,
    startedAt: now,
    endedAt: null,
    changes: [{ at: now, actor: caller.actor, what: 'started', reason: 'asked for' }],
    fed: 0,
    open: '',
    succeeded: 0,
    failed: 0,
    forgiven: 0,
    retry: null,
    speed: { perSecond: 0, at: now, ended: 0 },
    round: 1,
    owner: null,
    beats: 0,
    beatMs: 0,
  }
}

async function refuseTooMany({ engine }: Context, tenant: TenantId): Promise<void> {
  const query = { index: 'live', value: tenant, limit: LIVE_PER_TENANT_MAX }
  const { items } = await engine.collection(jobDefinition).find(query)
  if (items.length >= LIVE_PER_TENANT_MAX) throw tooMany(tenant)
}

/** Once it is stored: another server may have let one in at the same moment. A job that is being moved already stays. */
export async function refuseBeyond(engine: Pick<Engine, 'collection'>, { id, tenant }: JobDocument): Promise<void> {
  const jobs = engine.collection(jobDefinition)
  const { items } = await jobs.find({ index: 'live', value: tenant, limit: LIVE_PER_TENANT_MAX + 1 })
  const isIn = items.slice(0, LIVE_PER_TENANT_MAX).some(({ document }) => document.id === id)
  if (isIn || items.length <= LIVE_PER_TENANT_MAX) return
  try {
    if (!(await jobs.remove(id, 1))) return
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return
    throw error
  }
  throw tooMany(tenant)
}

const tooMany = (tenant: TenantId): ConflictError =>
  new ConflictError(
    `Tenant '${tenant}' has ${LIVE_PER_TENANT_MAX} jobs that have not ended. Wait for one, or cancel one.`,
  )

async function finalStep(context: Context, caller: Caller, name: ActionName, tenant: TenantId): Promise<FinalStep> {
  const { name: action, pool, settings } = await context.catalogue.find(name)
  await context.room.admit({ pool, action, tenant }, caller)
  return { action, pool, settings }
}

export function chunksOf({ from = 0, to, step = 1 }: RangeRequest): number {
  const chunks = Math.max(Math.ceil((to - from) / step), 0)
  if (chunks <= JOB_CHUNKS_MAX) return chunks
  throw new InvalidError(`The range has ${chunks} chunks; a job has at most ${JOB_CHUNKS_MAX}.`)
}

function toleranceOf(tolerate: number | string): Tolerance {
  if (typeof tolerate === 'number') return { kind: 'count', count: tolerate }
  const share = Number.parseFloat(tolerate) / 100
  if (share > 1) throw new InvalidError(`A share of failed chunks is at most 100%, not ${tolerate}.`)
  return { kind: 'share', share }
}

const least = (asked: number | undefined, limit: number | null): number | null =>
  asked === undefined ? limit : limit === null ? asked : Math.min(asked, limit)
