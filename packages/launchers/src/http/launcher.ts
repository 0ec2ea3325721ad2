// The HTTP launcher: each execution is a request to a plugin, which answers with the result, or accepts and calls back. A
// synchronous answer comes to this process only: until it does, launch() has long come back, and look() says 'running'. If
// this process dies, the answer is lost, and any launcher says 'vanished'.

import {
  DuplicateExecutionError,
  type Launched,
  type Launcher,
  type LaunchOrder,
  type LaunchOutcome,
  type LaunchRef,
  type LaunchSighting,
  type LeaseToken,
  mapLimited,
  outcomeRequest,
  PlatformFullError,
  quietly,
  sleep,
} from '@reprise/core'
import { describedFailure } from '../described-failure.ts'
import { monotonicMs } from '../monotonic.ts'
import { reportIn, type StatusReport, type Verdict, verdictOn } from './answer.ts'
import { handleText, isAskerAlive, ownSyncHandle, parseHandle } from './handle.ts'
import {
  type HttpLauncherOptions,
  type HttpSettings,
  httpSettings,
  idempotencyKey,
  messageId,
  requestBody,
  type Target,
} from './options.ts'
import { type HttpAnswer, HttpCallError, HttpCaller } from './request.ts'
import { type RequestLine, signRequest } from './signature.ts'

export interface HttpLauncher extends Launcher {
  onEnded(listener: (key: string) => void): () => void
}

/** The plugin has no room: no attempt failed, and `Retry-After` counts. */
const fullError = (refusal: Error): Error =>
  new PlatformFullError(refusal.message, {
    retryAfterMs: outcomeRequest(refusal)?.retryAfterMs ?? null,
    isOneTarget: true,
    cause: refusal,
  })

const LOOKS_AT_ONCE = 16
/** How much later than its time-out the end of a launch may become known. */
const UNTIL_SLACK_MS = 30_000

/** How long a launch that nobody noted is asked about, if nobody answers. */
const UNNOTED_MS = 86_400_000

/** A launch that this process made. */
interface Entry {
  readonly token: LeaseToken
  readonly target: Target
  readonly controller: AbortController
  readonly until: number
  handle: string
  /** All it was ever known by. */
  readonly handles: Set<string>
  wasSent: boolean
  outcome: LaunchOutcome | null
  /** When its answer, or the lack of one, is noted. */
  noted: Promise<void>
}

export function createHttpLauncher(options: HttpLauncherOptions): HttpLauncher {
  return new WebLauncher(httpSettings(options))
}

class WebLauncher implements HttpLauncher {
  readonly name: string
  readonly #settings: HttpSettings
  readonly #caller: HttpCaller
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Set<(key: string) => void>()

  constructor(settings: HttpSettings) {
    this.name = settings.name
    this.#settings = settings
    this.#caller = new HttpCaller(settings.policy, settings.clock, settings.ca)
  }

  async launch(order: LaunchOrder, signal: AbortSignal): Promise<Launched> {
    signal.throwIfAborted()
    const target = this.#settings.targetOf(order)
    const earlier = this.#entries.get(order.key)
    // What ended under another token was released: its outcome is not this attempt's. Until it ends, nothing else is sent.
    const isTaken = earlier !== undefined && (earlier.outcome === null || earlier.token === order.token)
    if (isTaken) throw new DuplicateExecutionError(order.taskId, order.attempt)
    const until = Math.round(this.#settings.clock.now() + order.timeoutMs + UNTIL_SLACK_MS)
    const handle = handleText(ownSyncHandle(until))
    const entry: Entry = {
      token: order.token,
      target,
      controller: new AbortController(),
      until,
      handle,
      handles: new Set([handle]),
      wasSent: false,
      outcome: null,
      noted: Promise.resolve(),
    }
    this.#entries.set(order.key, entry)
    const verdict = this.#send(order, entry)
    const early = await this.#whatComesEarly(verdict, entry, signal)
    if (early !== null && early.is === 'refused') {
      this.#entries.delete(order.key)
      throw early.isFull === true ? fullError(early.error) : early.error
    }
    if (early !== null) this.#note(order.key, entry, early)
    else entry.noted = verdict.then((late) => this.#note(order.key, entry, late))
    return { handle: entry.handle }
  }

  /** The verdict, or null if it takes longer than launch() waits. */
  async #whatComesEarly(verdict: Promise<Verdict>, entry: Entry, signal: AbortSignal): Promise<Verdict | null> {
    const waiting = new AbortController()
    const aborted = Promise.withResolvers<null>()
    const giveUp = (): void => {
      // What was sent may have been started: it is looked after like any other.
      if (entry.wasSent) aborted.resolve(null)
      else entry.controller.abort()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    const waited = sleep(this.#settings.clock, this.#settings.answerWithinMs, waiting.signal, { hold: true })
    // Until it is sent it can't run, so there is nothing to look after yet.
    const tooLong = waited.then(() => (entry.wasSent || waiting.signal.aborted ? null : verdict))
    try {
      return await Promise.race([verdict, tooLong, aborted.promise])
    } finally {
      waiting.abort()
      signal.removeEventListener('abort', giveUp)
    }
  }

  async #send(order: LaunchOrder, entry: Entry): Promise<Verdict> {
    const { url, keys } = entry.target
    const body = requestBody(order, this.#settings.callbackUrl)
    const content = () => {
      if (monotonicMs() >= order.voidAt) throw launchVoid()
      entry.wasSent = true
      const headers = {
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey(order.key),
        ...this.#signed(order.key, keys, { method: 'POST', url: url.href, body }),
      }
      return { headers, body }
    }
    let isVoid = false
    const voiding = this.#settings.clock.after(order.voidAt - monotonicMs(), () => {
      if (entry.wasSent) return
      isVoid = true
      entry.controller.abort()
    })
    try {
      const call = {
        method: 'POST',
        url,
        content,
        deadlineMs: order.timeoutMs,
        signal: entry.controller.signal,
      } as const
      return verdictOn(await this.#caller.call(call), url, this.#settings.clock.now())
    } catch (error) {
      if (error instanceof HttpCallError && !error.wasSent) {
        return { is: 'refused', error: isVoid ? launchVoid() : error.thrown }
      }
      const thrown = error instanceof HttpCallError ? error.thrown : error
      return { is: 'done', outcome: { ok: false, thrown } }
    } finally {
      voiding.cancel()
    }
  }

  #note(key: string, entry: Entry, verdict: Verdict): void {
    if (verdict.is === 'accepted') {
      const { statusUrl, name } = verdict
      const { until } = entry
      entry.handle = handleText(
        statusUrl === null ? { kind: 'callback', until, name: name ?? key } : { kind: 'status', until, url: statusUrl },
      )
      entry.handles.add(entry.handle)
      return
    }
    // A refusal that came when launch() had come back is a failure of the attempt.
    entry.outcome = verdict.is === 'done' ? verdict.outcome : { ok: false, thrown: verdict.error }
    for (const listener of this.#listeners) quietly(() => listener(key))
  }

  look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    return mapLimited(refs, LOOKS_AT_ONCE, (ref) => this.#sighting(ref))
  }

  async #sighting({ key, handle: noted, token }: LaunchRef): Promise<LaunchSighting> {
    const entry = this.#entries.get(key)
    if (noted === null && token !== undefined && entry !== undefined && entry.token !== token) {
      return this.#besideReleased(key, entry)
    }
    if (entry?.outcome) return { status: 'ended', handle: entry.handle, outcome: entry.outcome }
    const handle = entry?.handle ?? noted
    if (handle === null) return this.#unnoted(key)
    const parsed = parseHandle(handle)
    if (parsed === null) return { status: 'vanished' }
    const isOver = this.#settings.clock.now() > parsed.until
    if (parsed.kind === 'sync') {
      if (entry !== undefined) return { status: 'running', handle }
      const isAlive = isAskerAlive(parsed)
      return isOver || isAlive === false ? { status: 'vanished' } : { status: 'unknown' }
    }
    if (parsed.kind === 'callback') return isOver ? { status: 'vanished' } : { status: 'running', handle }
    const report = await this.#ask(key, parsed.url)
    if (report.is === 'running') return { status: 'running', handle }
    if (report.is === 'done') return { status: 'ended', handle, outcome: report.outcome }
    return report.is === 'gone' || isOver ? { status: 'vanished' } : { status: 'unknown' }
  }

  /** All that is known here is the launch of an attempt that was released: what it came to is not the answer. */
  async #besideReleased(key: string, released: Entry): Promise<LaunchSighting> {
    if (released.outcome === null) return { status: 'unknown' }
    const seen = await this.#unnoted(key)
    return seen.status === 'ended' ? { status: 'vanished' } : seen
  }

  /** A launch that nobody noted: its orchestrator died before or after the request. Its order is void by now. */
  async #unnoted(key: string): Promise<LaunchSighting> {
    // It may have been sent, and nobody can be asked.
    if (this.#settings.statusUrl === null) return { status: 'vanished' }
    const url = this.#settings.statusUrl(key)
    const handle = handleText({ kind: 'status', until: Math.round(this.#settings.clock.now() + UNNOTED_MS), url })
    const report = await this.#ask(key, url)
    if (report.is === 'running') return { status: 'running', handle }
    if (report.is === 'done') return { status: 'ended', handle, outcome: report.outcome }
    if (report.is === 'gone') return { status: report.wasKnown ? 'vanished' : 'never' }
    return { status: 'unknown' }
  }

  async #ask(key: string, place: string): Promise<StatusReport> {
    try {
      const url = new URL(place)
      if (!this.#mayAsk(key, url)) return { is: 'unclear' }
      return reportIn(await this.#question('GET', key, url), url)
    } catch {
      return { is: 'unclear' }
    }
  }

  /** A handle comes from the store: it may point only to where launches go, or to what is configured. */
  #mayAsk(key: string, url: URL): boolean {
    const { origins, statusUrl } = this.#settings
    return origins.has(url.origin) || (statusUrl !== null && statusUrl(key) === url.href)
  }

  #question(method: 'GET' | 'DELETE', key: string, url: URL): Promise<HttpAnswer> {
    // A question about a launch of our own is signed as the launch was; of others it is known only where they went.
    const own = this.#entries.get(key)?.target
    const keys = own?.url.origin === url.origin ? own.keys : this.#settings.keysAt(url.origin)
    const content = () => ({ headers: this.#signed(key, keys, { method, url: url.href, body: '' }), body: '' })
    return this.#caller.call({ method, url, content, deadlineMs: this.#settings.statusWithinMs })
  }

  #signed(
    key: string,
    keys: readonly Buffer[],
    request: RequestLine & { readonly body: string },
  ): Record<string, string> {
    const { clock, headers, signatures } = this.#settings
    const timestampS = Math.floor(clock.now() / 1_000)
    return { ...headers, ...signRequest(keys, signatures, messageId(key), timestampS, request) }
  }

  /**
   * Gives up a synchronous request; asks the status address of others to end (DELETE). Whether a plugin does so is its own
   * matter: what it reports later is refused by its token.
   */
  async end({ key, handle: noted }: LaunchRef): Promise<void> {
    const entry = this.#entries.get(key)
    entry?.controller.abort()
    await entry?.noted
    const parsed = parseHandle(entry?.handle ?? noted ?? '')
    if (parsed?.kind !== 'status' || !URL.canParse(parsed.url)) return
    const url = new URL(parsed.url)
    if (!this.#mayAsk(key, url)) return
    await this.#question('DELETE', key, url).catch(() => undefined)
  }

  forget({ key, handle }: LaunchRef): Promise<void> {
    const entry = this.#entries.get(key)
    if (entry !== undefined && (handle === null || entry.handles.has(handle))) this.#entries.delete(key)
    return Promise.resolve()
  }

  onEnded(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Requests that still wait for an answer are given up. */
  close(): Promise<void> {
    this.#listeners.clear()
    for (const { controller } of this.#entries.values()) controller.abort()
    this.#caller.close()
    return Promise.resolve()
  }
}

const launchVoid = (): Error =>
  describedFailure({
    code: 'LAUNCH_VOID',
    says: 'transient',
    message: 'The connection took so long that the attempt may be somebody else’s by now. Nothing was sent.',
  })
