// A store behind a server, spoken to as docs/protocol.md says. The server judges failures and sweeps; the leases are the same.
//
// Work is waited for with one claim that the server answers when there is something: the poll. It asks for no more than the
// worker had room for, and nothing else is claimed while it is under way, so whatever it brings finds room. What it brings lies
// in the tray until the worker's next claim. The end of tasks can't be waited for over HTTP: the one that waits looks again soon.

import {
  type BeatReport,
  type BeatResult,
  type Call,
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  DEFAULT_HEALTH_THRESHOLDS,
  decodeJson,
  encodeJson,
  type Failure,
  type Mark,
  path,
  present,
  type RenewRequest,
  type RenewResult,
  released,
  type Settlement,
  type SettleResult,
  type Snapshot,
  sleep,
  type Transport,
  type Voucher,
  type WorkerRegistration,
} from '@reprise/core'
import type { WorkerStore } from './worker-store.ts'

/** How long the server may take to answer a claim. */
const POLL_MS = 20_000
/** Between two looks for tasks that were cancelled: the handler hears of it within a second. */
const LOOK_MS = 400
/** What one request carries, in characters, if it is more than one thing. */
const REQUEST_LENGTH_MAX = 500_000
/** After a poll that failed. */
const REST_MS = 1_000
const PUBLISHED_AT_ONCE = 100
const NO_MARK = 0 as Mark

export function remoteStore(transport: Transport, voucher: Voucher | null): WorkerStore {
  return new RemoteStore(transport, voucher)
}

/** A claim's answer: the same records, with the payload as a value. */
interface ClaimsAnswer extends Pick<ClaimResult, 'heldBack' | 'now'> {
  readonly claimed: readonly (Claimed & {
    readonly snapshot: Snapshot & { readonly payload: unknown }
    /** Missing in the answer of an older server. */
    readonly alone?: boolean
  })[]
  readonly drain: boolean
}

class RemoteStore implements WorkerStore {
  readonly info = { kind: 'http', durability: 'as the server says', callsAtOnce: 2, lacks: [] }
  readonly healthThresholds = DEFAULT_HEALTH_THRESHOLDS
  readonly #transport: Transport
  readonly #voucher: Voucher | null
  #lastClaim: ClaimRequest | null = null
  #poll: Promise<void> | null = null
  #polling = new AbortController()
  #tray: { readonly epoch: number; readonly result: ClaimResult } | null = null
  #drain = false

  constructor(transport: Transport, voucher: Voucher | null) {
    this.#transport = transport
    this.#voucher = voucher
  }

  async register(registration: WorkerRegistration): Promise<{ readonly epoch: number }> {
    const { worker, pools, actions, host, version, runtimes, endpoint, concurrency } = registration
    const probe = endpoint === null ? null : probeOf(new URL(endpoint))
    const body = { worker, pools, actions, host, version, runtimes, ...present({ concurrency, probe }) }
    const { epoch } = await this.#post<{ readonly epoch: number }>('/api/v1/workers', body, { isRepeatable: false })
    this.#drain = false
    return { epoch }
  }

  async beat({ worker, policyVersion: _policies, ...body }: BeatReport) {
    const beat = await this.#post<BeatResult & { readonly drain: boolean }>(path`/api/v1/workers/${worker}/beat`, body)
    this.#drain = beat.drain
    if (body.draining) await this.#giveBack()
    return { outcome: beat.outcome }
  }

  async deregister(worker: string, epoch: number): Promise<void> {
    await this.#giveBack()
    const call = { method: 'DELETE', path: path`/api/v1/workers/${worker}`, query: { epoch } } as const
    await this.#transport.call({ ...call, isRepeatable: true })
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    // The server knows for which actions health does not matter, and has seen to it.
    if (request.regardless === true) return { claimed: [], nextDueAt: null, heldBack: null, now: 0 }
    this.#lastClaim = request
    const found = this.#fromTray(request)
    if (found !== null) return found
    // The poll gets whatever there is; a claim beside it could bring more than there is room for.
    if (this.#poll !== null) return { claimed: [], nextDueAt: null, heldBack: null, now: 0 }
    return this.#claimNow(request, 0)
  }

  async renew(leases: readonly RenewRequest[], leaseMs: number): Promise<readonly RenewResult[]> {
    const bodies = leases.map(({ taskId, attempt, token, progress, log }) => {
      return { taskId, attempt, token, ...present({ progress, log }) }
    })
    return this.#inParts<RenewResult>('/api/v1/leases/renew', bodies, (part) => ({ leases: part, leaseMs }))
  }

  voucher(): Voucher | null {
    return this.#voucher
  }

  async settle(settlements: readonly Settlement[]): Promise<readonly SettleResult[]> {
    const results = await this.#inParts<SettleResult | Refused>(
      '/api/v1/settlements',
      settlements.map(settlementBody),
      (part) => ({ settlements: part }),
    )
    // What the server can't take the sweep will settle.
    return results.map((result) =>
      result.outcome === 'refused' ? { outcome: 'superseded', because: 'unknown' } : result,
    )
  }

  async settleAndClaim(settlements: readonly Settlement[], request: ClaimRequest) {
    const settled = await this.settle(settlements)
    try {
      return { settled, ...(await this.claim(request)) }
    } catch {
      // The settlements stand; the next claim meets the same trouble, and tells of it.
      return { settled, claimed: [], nextDueAt: null, heldBack: null, now: 0 }
    }
  }

  mark(): Mark {
    return NO_MARK
  }

  async wait(interest: Parameters<WorkerStore['wait']>[0], timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#transport
    if (interest.tasks !== undefined) return sleep(clock, Math.min(LOOK_MS, timeoutMs), signal, { hold: true })
    if (this.#lastClaim === null || this.#tray !== null) return
    if (this.#poll === null) {
      this.#polling = new AbortController()
      this.#poll = this.#pollFor(this.#lastClaim, this.#polling).finally(() => {
        this.#poll = null
      })
    }
    await Promise.race([this.#poll, aborted(signal)])
  }

  isDrainOrdered(): Promise<boolean> {
    return Promise.resolve(this.#drain)
  }

  async publishActions(actions: Parameters<WorkerStore['publishActions']>[0]): Promise<void> {
    for (let at = 0; at < actions.length; at += PUBLISHED_AT_ONCE) {
      const some = actions.slice(at, at + PUBLISHED_AT_ONCE)
      await this.#post('/api/v1/actions', {
        actions: some.map(({ name, pool, settings, leftOpen, inputSchema }) => ({
          name,
          pool,
          settings,
          ...present({ leftOpen, inputSchema }),
        })),
      })
    }
  }

  /** Never rejects: the claim that follows meets the same trouble, and tells of it. */
  async #pollFor(request: ClaimRequest, { signal }: AbortController): Promise<void> {
    try {
      const result = await this.#claimNow(request, POLL_MS, signal)
      if (result.claimed.length > 0 || result.heldBack !== null) this.#tray = { epoch: request.epoch, result }
    } catch {
      await sleep(this.#transport.clock, REST_MS, signal)
    }
  }

  /** A worker that takes nothing new asks for nothing any more, and returns what it did not begin. */
  async #giveBack(): Promise<void> {
    this.#polling.abort()
    await this.#poll
    const tray = this.#tray
    this.#tray = null
    const begun = tray?.result.claimed ?? []
    if (begun.length > 0) await this.settle(begun.map((lease) => released(lease, 'released: its worker stops')))
  }

  /** What was claimed for an epoch of before has ended with it. */
  #fromTray({ epoch }: ClaimRequest): ClaimResult | null {
    const tray = this.#tray
    this.#tray = null
    return tray?.epoch === epoch ? tray.result : null
  }

  async #claimNow(request: ClaimRequest, waitMs: number, signal?: AbortSignal): Promise<ClaimResult> {
    const { worker, epoch, pools, actions, limit, leaseMs } = request
    const body = { worker, epoch, pools, actions, limit, leaseMs, waitMs }
    const answer = await this.#post<ClaimsAnswer>('/api/v1/claims', body, { waitMs, ...present({ signal }) })
    this.#drain = answer.drain
    return { claimed: answer.claimed.map(claimedOf), nextDueAt: null, heldBack: answer.heldBack, now: answer.now }
  }

  /** One after the other, so that none is larger than a server takes. */
  async #inParts<Result>(
    pathname: string,
    items: readonly object[],
    bodyOf: (part: readonly object[]) => object,
  ): Promise<Result[]> {
    const results: Result[] = []
    for (const part of parts(items)) {
      results.push(...(await this.#post<{ readonly results: readonly Result[] }>(pathname, bodyOf(part))).results)
    }
    return results
  }

  async #post<Body>(pathname: string, body: object, more: Partial<Call> = {}): Promise<Body> {
    const answer = await this.#transport.call({ method: 'POST', path: pathname, body, isRepeatable: true, ...more })
    return answer.body as Body
  }
}

interface Refused {
  readonly outcome: 'refused'
}

function* parts(items: readonly object[]): Generator<readonly object[]> {
  let part: object[] = []
  let length = 0
  for (const item of items) {
    const size = JSON.stringify(item).length
    if (part.length > 0 && length + size > REQUEST_LENGTH_MAX) {
      yield part
      part = []
      length = 0
    }
    part.push(item)
    length += size
  }
  if (part.length > 0) yield part
}

/** What the task has used up is the server's to know: it judges. Whether one more loss would be the last, it says. */
function claimedOf({ snapshot, alone, ...claimed }: ClaimsAnswer['claimed'][number]): Claimed {
  const spent = { failures: 0, losses: alone === true ? Number.POSITIVE_INFINITY : 0, parks: 0, deferrals: 0 }
  const payload = encodeJson(snapshot.payload, 'payload')
  return { ...claimed, ...spent, acceptedAt: claimed.startedAt, snapshot: { ...snapshot, payload } }
}

function settlementBody(settlement: Settlement): object {
  const { taskId, attempt } = settlement.ref
  const lease = { taskId, attempt, ...('token' in settlement.ref ? { token: settlement.ref.token } : {}) }
  switch (settlement.kind) {
    case 'succeeded':
      return {
        ...lease,
        outcome: 'succeeded',
        result: settlement.result === null ? null : decodeJson(settlement.result),
      }
    case 'released':
      return { ...lease, outcome: 'released', reason: settlement.reason }
    case 'failed':
    case 'lost':
    case 'expired':
      return { ...lease, outcome: 'failed', error: reportedError(settlement.failure) }
  }
}

/**
 * What was thrown, as the server would have seen it. Only the handler's own word is passed on as a verdict: a code that this
 * worker gave to an error without one would make another failure group, and a rule of its own, there.
 */
function reportedError({
  code,
  name,
  message,
  stack,
  retryAfterMs,
  details,
  reason,
  rule,
  retriable,
}: Failure): object {
  const isOwnCode = code !== reason || rule === `code:${code}`
  // A status beside a code of its own stands in the rule that went by it.
  const [, status] = /^code:HTTP_(\d{3})$/.exec(rule) ?? []
  return {
    name,
    message,
    ...(isOwnCode ? { code } : {}),
    ...(status === undefined ? {} : { status: Number(status) }),
    ...present({ stack, retryAfterMs }),
    ...(details === null ? {} : { details: decodeJson(details) }),
    ...(rule === 'handler' ? { retryable: retriable } : {}),
  }
}

const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })

/** The server knows the host: it is the one that calls. */
const probeOf = ({ port, pathname: path }: URL) => ({ port: Number(port), path })
