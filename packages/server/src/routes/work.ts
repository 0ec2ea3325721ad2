// Handlers for workers in any language. A worker claims and settles here as one that uses the SDK does on the store itself;
// what a failure comes to is judged by the policies in force (settlements.ts). Workers are outsiders: what they hold is a lease
// credential, and every write is fenced by the token in it.

import {
  type AttemptLog,
  type CataloguedAction,
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  ConflictError,
  decodeJson,
  type Engine,
  escapeUnseen,
  fittingLog,
  isDrainOrdered,
  isSuspect,
  type JsonText,
  type LeaseRef,
  type LogLine,
  NotFoundError,
  PayloadExpiredError,
  publishActions,
  type RenewRequest,
  RequestError,
  SupersededError,
  turnsOf,
} from '@reprise/core'
import { type Context, wholeStore, type workRoutes } from '@reprise/operations'
import { type LeaseCredentials, openLeaseCredentials } from '@reprise/orchestrator'
import type { AccessControl } from '../access/index.ts'
import { type Handlers, json, text } from '../http/handler.ts'
import { answerWith, claimFor, giveBackUnlessSent } from './claiming.ts'
import { bearerOf, callerLease, holder } from './lease-holder.ts'
import {
  answered,
  type EntryAnswer,
  isEntryAnswer,
  type ReportedEnd,
  resultText,
  settled,
  settlementOf,
  settlementsOf,
  standingsFor,
  UNKNOWN,
  withSentences,
} from './settlements.ts'
import { WorkerForecasts } from './worker-forecasts.ts'

const LEASE_MS = 30_000
const BEAT_EVERY_MS = 5_000
const WAIT_MS = 20_000
/** The in-flight payload is not handed out for longer than this after the dispatch (A11). */
const PAYLOAD_MS = 2 * 3_600_000
const JSON_TYPE = 'application/json; charset=utf-8'

export function workHandlers(context: Context, access: AccessControl): Handlers<typeof workRoutes> {
  const { engine, clock } = context
  const forecasts = new WorkerForecasts(engine, clock)
  return {
    registerWorker: async ({ body, caller, request }) => {
      wholeStore(caller)
      const { epoch } = await engine.register({
        worker: body.worker,
        pools: body.pools,
        actions: body.actions ?? null,
        host: body.host ?? 'unknown',
        version: body.version ?? 'unknown',
        runtimes: body.runtimes ?? [],
        endpoint: body.probe === undefined ? null : endpointAt(request.ip, body.probe),
        ...(body.concurrency === undefined ? {} : { concurrency: body.concurrency }),
      })
      return json(201, { worker: body.worker, epoch, beatEveryMs: BEAT_EVERY_MS, leaseMs: LEASE_MS })
    },
    publishActions: async ({ body, caller }) => {
      wholeStore(caller)
      // What is missing in JSON is missing, and never undefined.
      await publishActions(engine, body.actions as readonly CataloguedAction[])
      return { kind: 'empty' }
    },
    beat: async ({ params: { id }, body, caller }) => {
      wholeStore(caller)
      const figures = { queueDepth: body.queueDepth ?? 0, loopLagMs: body.loopLagMs ?? 0 }
      const { outcome } = await engine.beat({
        worker: id,
        epoch: body.epoch,
        inFlight: body.inFlight ?? 0,
        ...figures,
        memoryBytes: body.memoryBytes ?? 0,
        draining: body.draining ?? false,
        maxQuietMs: body.maxQuietMs ?? 0,
        outlook: body.outlook === undefined ? await forecasts.outlook(id, body.epoch, figures) : body.outlook,
      })
      return json(200, { outcome, drain: await isDrainOrdered(engine, id, body.epoch) })
    },
    vouch: async ({ params: { id }, body, caller }) => {
      wholeStore(caller)
      const { epoch, leaseMs = LEASE_MS, outlook = null } = body
      return json(200, await engine.vouch({ worker: id, epoch, leaseMs, outlook }))
    },
    deregisterWorker: async ({ params: { id }, query, caller }) => {
      wholeStore(caller)
      await engine.deregister(id, query.epoch)
      return { kind: 'empty' }
    },
    claim: async ({ body, caller, signal, reply }) => {
      wholeStore(caller)
      const request: ClaimRequest = {
        worker: body.worker,
        epoch: body.epoch,
        pools: body.pools,
        actions: body.actions ?? null,
        limit: body.limit ?? 1,
        leaseMs: body.leaseMs ?? LEASE_MS,
      }
      const credentials = await openLeaseCredentials(engine, clock)
      const drain = await isDrainOrdered(engine, body.worker, body.epoch)
      const waitMs = drain ? 0 : (body.waitMs ?? WAIT_MS)
      const leave = waitMs > 0 ? context.waits.enter(caller) : () => undefined
      const result = await (drain ? nothing(context) : claimFor(context, request, waitMs, signal)).finally(leave)
      const { claimed, heldBack, now } = result
      const written = await answerWith(context, claimed, () =>
        JSON.stringify({ claimed: claimed.map((one) => claimedView(context, one, credentials)), heldBack, drain, now }),
      )
      giveBackUnlessSent(context, claimed, reply)
      return text(200, written, JSON_TYPE)
    },
    renew: async ({ body, caller }) => {
      wholeStore(caller)
      const credentials = await openLeaseCredentials(engine, clock)
      const leases = body.leases.map((lease): RenewRequest | EntryAnswer => {
        const ref = credentials.read({ ...lease, credential: lease.token })
        if (ref === null) return UNKNOWN
        return renewalOf(ref, lease, clock.now())
      })
      const leaseMs = body.leaseMs ?? LEASE_MS
      return json(200, { results: await answered(leases, (requests) => engine.renew(requests, leaseMs)) })
    },
    settle: async ({ body, caller }) => {
      wholeStore(caller)
      const credentials = await openLeaseCredentials(engine, clock)
      const ends = body.settlements.map((end) => ({ end, ref: credentials.read({ ...end, credential: end.token }) }))
      const settlements = await settlementsOf(context, ends)
      return json(200, {
        results: await answered(settlements, async (good) => withSentences(good, await settled(context, good))),
      })
    },
    taskComplete: async ({ body, request }) => {
      const { taskId, attempt, status } = body
      const ref = await callerLease(context, access, request, body)
      const end: ReportedEnd =
        status === 'succeeded'
          ? { outcome: status, result: body.result }
          : { outcome: status, error: body.error ?? { message: 'The worker failed and did not say why.' } }
      const standings = await standingsFor(engine, [{ ref, end }])
      const turns = turnsOf(context.clock)
      if (end.outcome === 'failed' && turns.isSpent) await turns.wait()
      const settlement = settlementOf(context, ref, end, standings)
      const [result] = isEntryAnswer(settlement) ? [settlement] : await engine.settle([settlement])
      if (result === undefined) throw new RequestError('REPRISE_INTERNAL', 'The store did not answer the settlement.')
      if (result.outcome === 'superseded') throw new SupersededError(taskId, attempt, result.because)
      if (end.outcome === 'succeeded' && 'repeated' in result && result.repeated) {
        await refuseOtherResult(engine, ref, resultText(end.result))
      }
      return json(200, result)
    },
    taskHeartbeat: async ({ body, request }) => {
      const ref = await callerLease(context, access, request, body)
      const [result] = await engine.renew([renewalOf(ref, body, clock.now())], LEASE_MS)
      if (result === undefined) throw new RequestError('REPRISE_INTERNAL', 'The store did not answer the heartbeat.')
      if (result.outcome === 'superseded') throw new SupersededError(ref.taskId, ref.attempt, result.because)
      return json(200, { ...result, leaseMs: LEASE_MS, beatEveryMs: BEAT_EVERY_MS })
    },
    payload: async ({ params: { id, attempt }, request }) => {
      const credential = bearerOf(request) ?? ''
      const { token } = await holder(context, access, request, { taskId: id, attempt, credential })
      const execution = await engine.execution(id, attempt)
      const isHeld = execution?.status === 'running' && execution.token === token
      const now = await engine.now()
      if (isHeld && now - execution.dispatchedAt > PAYLOAD_MS) {
        throw new PayloadExpiredError(
          `The attempt ${attempt} of task '${id}' was dispatched more than 2 h ago: its payload is not handed out any more.`,
        )
      }
      const task = isHeld ? await engine.task(id) : null
      // Between the two looks the next attempt may have begun.
      if (task?.state.status !== 'running' || task.attempt !== attempt)
        throw new NotFoundError('payload for attempt', `${id}:${attempt}`)
      const { payload, labels, retryToken, action, tenant } = task
      const { timeoutAt, leaseUntil } = task.state
      return json(200, {
        taskId: id,
        attempt,
        action,
        tenant,
        payload: decodeJson(payload),
        labels,
        retryToken,
        timeoutAt,
        leaseUntil,
        now,
      })
    },
  }
}

interface GivenNews {
  readonly progress?:
    | { readonly fraction?: number | null | undefined; readonly note?: string | null | undefined }
    | undefined
  readonly log?: GivenLog | undefined
}

function renewalOf(ref: LeaseRef, { progress, log }: GivenNews, now: number): RenewRequest {
  const seen = progress === undefined ? null : { fraction: progress.fraction ?? null, note: progress.note ?? null }
  return { ...ref, progress: seen, ...(log === undefined ? {} : { log: logOf(log, now) }) }
}

/** An outsider has our probes call nobody but itself: it names no host. */
function endpointAt(ip: string, { port, path }: { readonly port: number; readonly path: string }): string {
  const host = ip.startsWith(MAPPED) ? ip.slice(MAPPED.length) : ip
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
}

/** What an IPv4 address has before it where a server listens on IPv6. */
const MAPPED = '::ffff:'

/** What others send is in one line, too. */
function logOf({ lines, dropped = 0 }: GivenLog, now: number): AttemptLog {
  const given = lines.map(({ at = now, level = 'info', text: words }) => ({ at, level, text: escapeUnseen(words) }))
  return fittingLog(given, dropped)
}

interface GivenLog {
  readonly lines: readonly {
    readonly at?: number | undefined
    readonly level?: LogLine['level'] | undefined
    readonly text: string
  }[]
  readonly dropped?: number | undefined
}

/** The first call counts. One that repeats it must say the same: otherwise two workers ran, or one changed its mind. */
async function refuseOtherResult(engine: Pick<Engine, 'task'>, { taskId, attempt }: LeaseRef, result: JsonText | null) {
  const task = await engine.task(taskId)
  if (task?.state.status !== 'succeeded' || task.state.result === result) return
  throw new ConflictError(
    `Attempt ${attempt} of task '${taskId}' has succeeded already, with another result. That one counts; nothing was changed.`,
  )
}

async function nothing({ engine }: Context): Promise<ClaimResult> {
  return { claimed: [], nextDueAt: null, heldBack: null, now: await engine.now() }
}

function claimedView({ policies }: Context, claimed: Claimed, credentials: LeaseCredentials) {
  const { snapshot, taskId, attempt, retryReason, generation, startedAt, leaseUntil, timeoutAt } = claimed
  return {
    taskId,
    attempt,
    token: credentials.issue(claimed),
    // Whole: a worker must get what was submitted, whatever people may see of it.
    snapshot: { ...snapshot, payload: decodeJson(snapshot.payload) },
    retryReason,
    alone: isSuspect(policies.current(), claimed),
    generation,
    startedAt,
    leaseUntil,
    timeoutAt,
  }
}
