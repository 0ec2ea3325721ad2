// Handlers for workers in any language. A worker claims and settles here as one that uses the SDK does on the store itself;
// what a failure comes to is judged here, by the policies in force. Workers are outsiders: what they hold is a lease
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
  encodeJson,
  escapeUnseen,
  fittingLog,
  isDrainOrdered,
  isRepriseError,
  isSuspect,
  type JsonText,
  type JudgedAttempt,
  type LeaseRef,
  type LogLine,
  NotFoundError,
  PayloadExpiredError,
  publishActions,
  type RenewRequest,
  RequestError,
  released,
  type Settlement,
  type SettleResult,
  SupersededError,
  succeeded,
  type TaskId,
  turnsOf,
  type Work,
} from '@reprise/core'
import { type Context, wholeStore, type workRoutes } from '@reprise/operations'
import { type LeaseCredentials, openLeaseCredentials } from '@reprise/orchestrator'
import type { AccessControl } from '../access/index.ts'
import { type Handlers, json, text } from '../http/handler.ts'
import { answerWith, claimFor, giveBackUnlessSent } from './claiming.ts'
import { bearerOf, callerLease, holder } from './lease-holder.ts'
import { failedSettlement, type ReportedError } from './reported-failure.ts'
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

/** What an entry of a batch gets without the store being asked. */
type EntryAnswer = { readonly outcome: 'superseded'; readonly because: 'unknown' } | Refused
interface Refused {
  readonly outcome: 'refused'
  readonly code: string
  readonly detail: string
}

const UNKNOWN = { outcome: 'superseded', because: 'unknown' } as const

/** The entries that are requests get what `ask` says of them, the others have their answers already. */
async function answered<Request extends object, Result>(
  entries: readonly (Request | EntryAnswer)[],
  ask: (requests: readonly Request[]) => Promise<readonly Result[]>,
): Promise<readonly (Result | EntryAnswer | undefined)[]> {
  const requests = entries.filter((entry): entry is Request => !isEntryAnswer(entry))
  const results = requests.length === 0 ? [] : await ask(requests)
  let next = 0
  return entries.map((entry) => (isEntryAnswer(entry) ? entry : results[next++]))
}

const isEntryAnswer = (entry: object): entry is EntryAnswer => 'outcome' in entry

/** What is wrong with one entry is told of that one. What is wrong with the store is not about an entry. */
function refusable<T>(step: () => T): T | Refused {
  try {
    return step()
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): Refused {
  if (!isRepriseError(error) || error.status >= 500) throw error
  return { outcome: 'refused', code: error.code, detail: error.message }
}

/** All at once; one by one if the store refuses what one of them says. */
async function settled(
  { engine }: Context,
  settlements: readonly Settlement[],
): Promise<readonly (SettleResult | Refused | undefined)[]> {
  const results = await engine.settle(settlements).catch(refused)
  if (!('outcome' in results)) return results
  if (settlements.length === 1) return [results]
  const each: (SettleResult | Refused | undefined)[] = []
  for (const one of settlements) {
    const result = await engine.settle([one]).catch(refused)
    each.push('outcome' in result ? result : result[0])
  }
  return each
}

/** A worker that did not judge its failures can't say what was decided about them. */
function withSentences<Result extends SettleResult | Refused>(
  settlements: readonly Settlement[],
  results: readonly (Result | undefined)[],
): readonly (Result | SettleResult | undefined)[] {
  return results.map((result, at) => {
    const settlement = settlements[at]
    if (result?.outcome !== 'settled' || result.repeated || settlement?.kind !== 'failed') return result
    return { ...result, sentence: settlement.decision.sentence }
  })
}

type ReportedEnd =
  | { readonly outcome: 'succeeded'; readonly result?: unknown }
  | { readonly outcome: 'failed'; readonly error: ReportedError }
  | { readonly outcome: 'released'; readonly reason?: string | undefined }

/** How a worker says that an attempt ended; the lease is null if the credential is not the attempt's. */
interface Report {
  readonly end: ReportedEnd
  readonly ref: LeaseRef | null
}

/** The store is asked once, however many of them failed. */
async function settlementsOf(
  context: Context,
  reports: readonly Report[],
): Promise<readonly (Settlement | EntryAnswer)[]> {
  const standings = await standingsFor(context.engine, reports)
  const turns = turnsOf(context.clock)
  const settlements: (Settlement | EntryAnswer)[] = []
  for (const { end, ref } of reports) {
    // A thousand failures with long messages are a lot to judge.
    if (turns.isSpent) await turns.wait()
    settlements.push(ref === null ? UNKNOWN : refusable(() => settlementOf(context, ref, end, standings)))
  }
  return settlements
}

/** Where the tasks stand whose failures are to be judged, and the store's time. */
interface Standings {
  readonly of: ReadonlyMap<TaskId, JudgedAttempt>
  readonly now: number
}

async function standingsFor(engine: Pick<Work, 'standings'>, reports: readonly Report[]): Promise<Standings> {
  const ids = new Set(reports.flatMap(({ end, ref }) => (end.outcome === 'failed' && ref !== null ? ref.taskId : [])))
  if (ids.size === 0) return { of: new Map(), now: 0 }
  const { standings, now } = await engine.standings([...ids])
  const known = standings.filter((standing) => standing !== null)
  return { of: new Map(known.map((standing) => [standing.snapshot.id, standing])), now }
}

function settlementOf(
  context: Context,
  ref: LeaseRef,
  end: ReportedEnd,
  { of, now }: Standings,
): Settlement | typeof UNKNOWN {
  switch (end.outcome) {
    case 'succeeded':
      return succeeded(ref, resultText(end.result))
    case 'released':
      return released(ref, end.reason ?? 'The worker gave it back.')
    case 'failed': {
      const standing = of.get(ref.taskId)
      return standing === undefined ? UNKNOWN : failedSettlement(context, ref, end.error, standing, now)
    }
  }
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

const resultText = (result: unknown): JsonText | null =>
  result === undefined || result === null ? null : encodeJson(result, 'result')
