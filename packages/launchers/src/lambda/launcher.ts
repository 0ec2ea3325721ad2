// The Lambda launcher: each execution is one invocation. As an event, the function calls back, and nobody can be asked about it: it
// counts as running until its own time is over. As a request, the answer comes to this process only, as of a plugin over HTTP. Lambda
// knows no launch again, so one that nobody noted counts as gone; what it still reports is refused by its token.

import {
  DuplicateExecutionError,
  type Launched,
  type Launcher,
  type LaunchOrder,
  type LaunchOutcome,
  type LaunchRef,
  type LaunchSighting,
  type LeaseToken,
  type LossCause,
  quietly,
  sleep,
} from '@reprise/core'
import { awsStartFailure } from '../aws/failure.ts'
import { handleText, isAskerAlive, ownSyncHandle, parseHandle } from '../http/handle.ts'
import { requestBody } from '../http/options.ts'
import { monotonicMs } from '../monotonic.ts'
import { UnclearStartError } from '../platform/platform.ts'
import { launchVoid } from '../platform/refusals.ts'
import { lambdaEnd } from './answer.ts'
import { type LambdaClient, type LambdaLimits, openLambda } from './client.ts'
import { type LambdaLauncherOptions, type LambdaSettings, type LambdaTarget, lambdaSettings } from './options.ts'

/** How much later than its time-out the end of an invocation may become known. */
const UNTIL_SLACK_MS = 30_000
/** Between the tries that Lambda itself makes of an event. */
const RETRY_PAUSE_MS = 120_000
/** How long what a function's configuration said is believed. */
const LIMITS_MS = 300_000

export interface LambdaLauncher extends Launcher {
  onEnded(listener: (key: string) => void): () => void
}

/** An invocation that this process made. */
interface Entry {
  readonly token: LeaseToken
  readonly controller: AbortController
  readonly handle: string
  end: { readonly outcome: LaunchOutcome } | { readonly cause: LossCause | null } | null
  noted: Promise<void>
}

export function createLambdaLauncher(options: LambdaLauncherOptions): LambdaLauncher {
  return new FunctionLauncher(lambdaSettings(options))
}

class FunctionLauncher implements LambdaLauncher {
  readonly name: string
  readonly #settings: LambdaSettings
  readonly #client: LambdaClient
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Set<(key: string) => void>()
  readonly #limits = new Map<string, { readonly at: number; readonly limits: LambdaLimits | null }>()

  constructor(settings: LambdaSettings) {
    const { region, endpoint } = settings.options
    this.name = settings.name
    this.#settings = settings
    this.#client = openLambda({
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint }),
    })
  }

  async launch(order: LaunchOrder, signal: AbortSignal): Promise<Launched> {
    signal.throwIfAborted()
    const target = this.#settings.targetOf(order)
    const earlier = this.#entries.get(order.key)
    const isTaken = earlier !== undefined && (earlier.end === null || earlier.token === order.token)
    if (isTaken) throw new DuplicateExecutionError(order.taskId, order.attempt)
    const isEvent = this.#settings.invocation === 'event'
    const until = Math.round(this.#settings.clock.now() + (await this.#longestMs(order, target)))
    if (monotonicMs() >= order.voidAt) throw launchVoid()
    const controller = new AbortController()
    const handle = handleText(isEvent ? { kind: 'callback', until, name: order.key } : ownSyncHandle(until))
    const entry: Entry = { token: order.token, controller, handle, end: null, noted: Promise.resolve() }
    this.#entries.set(order.key, entry)
    try {
      await (isEvent ? this.#sendEvent(order, target, signal) : this.#sendRequest(order, target, entry, signal))
      return { handle }
    } catch (error) {
      this.#entries.delete(order.key)
      throw error
    }
  }

  /** Comes back when Lambda has it, or may have it. */
  async #sendEvent(order: LaunchOrder, target: LambdaTarget, signal: AbortSignal): Promise<void> {
    const controller = new AbortController()
    const giveUp = (): void => controller.abort()
    const withinMs = Math.min(this.#settings.callWithinMs, order.voidAt - monotonicMs())
    const timer = this.#settings.clock.after(withinMs, giveUp, { hold: true })
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await this.#client.invoke(this.#invocation(order, target, controller.signal))
    } catch (error) {
      const failure = awsStartFailure('Lambda', error)
      if (!(failure instanceof UnclearStartError)) throw failure
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Comes back when it is refused, when it has an answer, or when it takes longer than launch() waits. */
  async #sendRequest(order: LaunchOrder, target: LambdaTarget, entry: Entry, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController()
    const answered = this.#client
      .invoke(this.#invocation(order, target, entry.controller.signal))
      .then((answer) => lambdaEnd(answer, target.functionName, order.timeoutMs))
    const tooLong = sleep(this.#settings.clock, this.#settings.answerWithinMs, waiting.signal, { hold: true })
    const stopped = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true, signal: waiting.signal }),
    )
    const noted = answered.then(
      (end) => this.#note(order.key, entry, end.is === 'done' ? { outcome: end.outcome } : { cause: end.cause }),
      (error: unknown) => {
        const failure = awsStartFailure('Lambda', error)
        const isUnclear = failure instanceof UnclearStartError
        this.#note(order.key, entry, isUnclear ? { cause: null } : { outcome: { ok: false, thrown: failure } })
      },
    )
    entry.noted = noted
    try {
      await Promise.race([answered, tooLong, stopped])
    } catch (error) {
      const failure = awsStartFailure('Lambda', error)
      if (!(failure instanceof UnclearStartError)) throw failure
    } finally {
      waiting.abort()
    }
  }

  #invocation(order: LaunchOrder, target: LambdaTarget, signal: AbortSignal) {
    const { invocation: kind, callbackUrl } = this.#settings
    const payload = requestBody(order, callbackUrl)
    return { ...target, kind, payload, signal }
  }

  #note(key: string, entry: Entry, end: NonNullable<Entry['end']>): void {
    entry.end = end
    for (const listener of this.#listeners) quietly(() => listener(key))
  }

  /** How long it can take until the function has called back for the last time. */
  async #longestMs({ timeoutMs }: LaunchOrder, target: LambdaTarget): Promise<number> {
    const limits = await this.#limitsOf(target)
    if (limits === null) return timeoutMs + UNTIL_SLACK_MS
    const { retries, eventAgeMs } = limits
    const ownMs =
      this.#settings.invocation === 'event'
        ? limits.timeoutMs * (1 + retries) + RETRY_PAUSE_MS * retries + eventAgeMs
        : limits.timeoutMs
    return Math.min(timeoutMs, ownMs) + UNTIL_SLACK_MS
  }

  /** Null if the function may not be asked about: its task's time-out counts then. */
  async #limitsOf({ functionName, qualifier }: LambdaTarget): Promise<LambdaLimits | null> {
    const now = this.#settings.clock.monotonic()
    const name = `${functionName}:${qualifier ?? ''}`
    const known = this.#limits.get(name)
    if (known !== undefined && now - known.at < LIMITS_MS) return known.limits
    const controller = new AbortController()
    const timer = this.#settings.clock.after(this.#settings.callWithinMs / 2, () => controller.abort(), { hold: true })
    const limits = await this.#client.limits(functionName, qualifier, controller.signal).catch(() => null)
    timer.cancel()
    this.#limits.set(name, { at: now, limits })
    return limits
  }

  look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    return Promise.resolve(refs.map((ref) => this.#sighting(ref)))
  }

  #sighting({ key, handle: noted, token }: LaunchRef): LaunchSighting {
    const entry = this.#entries.get(key)
    if (noted === null && token !== undefined && entry !== undefined && entry.token !== token) {
      // All that is known here is an invocation of an attempt that was released.
      return entry.end === null ? { status: 'unknown' } : { status: 'vanished' }
    }
    if (entry?.end) {
      if ('outcome' in entry.end) return { status: 'ended', handle: entry.handle, outcome: entry.end.outcome }
      return entry.end.cause === null ? { status: 'vanished' } : { status: 'vanished', cause: entry.end.cause }
    }
    const handle = entry?.handle ?? noted
    const parsed = parseHandle(handle ?? '')
    // It may have been sent, and nobody can be asked.
    if (handle === null || parsed === null || parsed.kind === 'status') return { status: 'vanished' }
    if (this.#settings.clock.now() > parsed.until) return { status: 'vanished' }
    if (parsed.kind === 'callback' || entry !== undefined) return { status: 'running', handle }
    return isAskerAlive(parsed) === false ? { status: 'vanished' } : { status: 'unknown' }
  }

  /** Gives up a request. A function that runs can't be stopped: what it reports later is refused by its token. */
  async end({ key }: LaunchRef): Promise<void> {
    const entry = this.#entries.get(key)
    entry?.controller.abort()
    await entry?.noted
    if (entry !== undefined) entry.end ??= { cause: null }
  }

  forget({ key, handle }: LaunchRef): Promise<void> {
    const entry = this.#entries.get(key)
    if (entry !== undefined && (handle === null || entry.handle === handle)) this.#entries.delete(key)
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
    this.#client.close()
    return Promise.resolve()
  }
}
