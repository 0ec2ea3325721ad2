// One attempt inside a container, function or process that a launcher started. It goes forward only:
//
// - **fetching**: the order is read, the payload fetched with the credential. Left for *running*; or for the end, because the
//   attempt is not this worker's any more, the order is not right, or the server did not answer in time.
// - **running**: the handler runs, the heartbeat renews the lease and brings progress and log lines. Left for *reporting* when
//   the handler comes back or its time is up, or when the process was asked to end and the grace time is over. Left for the
//   end when the attempt is somebody else's: the handler's signal fires, and nothing is reported.
// - **reporting**: the end is brought to the server, with repeats, while the heartbeat goes on. A result that the server does not
//   take becomes a failure.
// - **ended**: the exit code says what happened. The process ends, whether or not the handler came back.

import {
  type Action,
  type ActionName,
  actionName,
  type Clock,
  checkOutput,
  type Duration,
  decodeJson,
  durationMs,
  encodeJson,
  type Fetch,
  formatDuration,
  isRepriseError,
  type Logger,
  messageOf,
  normalise,
  parseInput,
  present,
  type RetryToken,
  type RunContext,
  sleep,
  systemClock,
  type TaskId,
  type TenantId,
  TimedOutError,
} from '@reprise/core'
import { consoleLogger, lineText } from '../console-logger.ts'
import { Heartbeat } from './heartbeat.ts'
import { type EphemeralOrder, orderFromEnvironment, orderFromEvent } from './order.ts'
import { leaveResult } from './result-file.ts'
import { type Assignment, type Completion, ServerCalls } from './server-calls.ts'

export type EphemeralHandler = (input: never, context: RunContext) => unknown

/** An action with its handler, as defineAction() makes it. */
type RunnableAction = Pick<Action<never, never>, 'name' | 'input' | 'output' | 'run'>

export interface EphemeralOptions {
  /** What to run, as an event of a function brings it; read from the environment if not given. */
  readonly order?: unknown
  /** How long the server is waited for, at each step; 2 minutes if not given. */
  readonly patience?: Duration
  /** After SIGTERM or SIGINT: how long the handler may go on, and as long again to call back; 4 s if not given. */
  readonly stopGrace?: Duration
  /** Whether the process ends with the exit code; true if not given. False in a function that serves more than one event. */
  readonly exit?: boolean
  readonly log?: Logger
  readonly fetch?: Fetch
  readonly clock?: Clock
}

export interface EphemeralEnd {
  readonly outcome: 'succeeded' | 'failed' | 'superseded' | 'interrupted' | 'undelivered' | 'refused'
  readonly exitCode: number
}

/** As sysexits.h has them, and as a shell tells of a signal. */
const EXIT_CODES: Readonly<Record<EphemeralEnd['outcome'], number>> = {
  succeeded: 0,
  failed: 1,
  /** Nobody waits for it: that is no failure. */
  superseded: 0,
  interrupted: 143,
  undelivered: 75,
  refused: 78,
}

const PATIENCE_MS = 120_000
const STOP_GRACE_MS = 4_000
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Runs the attempt that this process was started for. Never rejects; ends the process unless `exit` is false. */
export async function runEphemeral(
  handler: EphemeralHandler | readonly RunnableAction[],
  options: EphemeralOptions = {},
): Promise<EphemeralEnd> {
  const log = options.log ?? consoleLogger()
  const asked = new AbortController()
  const onSignal = (signal: NodeJS.Signals): void => asked.abort(signal)
  for (const signal of SIGNALS) process.on(signal, onSignal)
  let outcome: EphemeralEnd['outcome']
  try {
    const order = options.order === undefined ? orderFromEnvironment() : orderFromEvent(options.order)
    outcome = await new Attempt(handler, order, options, log, asked.signal).run()
  } catch (error) {
    log.error(`The worker can't begin: ${messageOf(error)}`)
    outcome = 'refused'
  }
  for (const signal of SIGNALS) process.off(signal, onSignal)
  const end = { outcome, exitCode: EXIT_CODES[outcome] }
  if (options.exit ?? true) process.exit(end.exitCode)
  return end
}

/** How the handler's part ended. */
type Ended =
  | { readonly kind: 'completed'; readonly completion: Completion }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'interrupted' }

class Attempt {
  readonly #handler: EphemeralHandler | readonly RunnableAction[]
  readonly #order: EphemeralOrder
  readonly #log: Logger
  readonly #clock: Clock
  readonly #asked: AbortSignal
  readonly #stopGraceMs: number
  readonly #calls: ServerCalls
  readonly #heartbeat: Heartbeat
  readonly #abort = new AbortController()
  readonly #superseded = Promise.withResolvers<Ended>()
  readonly #overdue = new AbortController()

  constructor(
    handler: EphemeralHandler | readonly RunnableAction[],
    order: EphemeralOrder,
    options: EphemeralOptions,
    log: Logger,
    asked: AbortSignal,
  ) {
    this.#handler = handler
    this.#order = order
    this.#log = log
    this.#asked = asked
    this.#clock = options.clock ?? systemClock
    this.#stopGraceMs = durationMs(options.stopGrace ?? STOP_GRACE_MS, 'stopGrace')
    const patienceMs = durationMs(options.patience ?? PATIENCE_MS, 'patience')
    this.#calls = new ServerCalls(order, { clock: this.#clock, fetch: options.fetch, patienceMs })
    this.#heartbeat = new Heartbeat({
      calls: this.#calls,
      clock: this.#clock,
      log,
      onSuperseded: (error) => {
        log.warn(`The attempt is not this worker's any more: ${error.message}`)
        this.#abort.abort(error)
        this.#superseded.resolve({ kind: 'superseded' })
      },
    })
  }

  async run(): Promise<EphemeralEnd['outcome']> {
    try {
      const assignment = await this.#assignment()
      if (assignment === null) {
        this.#log.warn('There is nothing to run: the attempt has ended.')
        return 'superseded'
      }
      this.#heartbeat.start()
      const ended = await this.#ended(assignment)
      return ended.kind === 'superseded' ? 'superseded' : await this.#report(ended)
    } catch (error) {
      if (this.#asked.aborted) return 'interrupted'
      this.#log.error(`The server did not help: ${messageOf(error)}`)
      return isRefusal(error) ? 'refused' : 'undelivered'
    } finally {
      await this.#heartbeat.stop()
      this.#calls.close()
    }
  }

  /** Null if the attempt is not this worker's any more. */
  async #assignment(): Promise<Assignment | null> {
    const { payload, action, tenant, retryToken, labels = {}, timeoutMs } = this.#order
    const sentAt = this.#clock.monotonic()
    if (payload === undefined || action === undefined || tenant === undefined || retryToken === undefined) {
      const fetched = await this.#calls.payload(this.#asked)
      if (fetched !== null) this.#heartbeat.leaseLasts(fetched.leaseLeftMs, sentAt)
      return fetched
    }
    if (!(await this.#heartbeat.beat(this.#asked))) return null
    const timeLeftMs = timeoutMs ?? Number.POSITIVE_INFINITY
    return { action, tenant, payload, labels, retryToken, timeLeftMs, leaseLeftMs: this.#heartbeat.leaseMsLeft }
  }

  /** Whatever comes first: the handler, its time-out, news that the attempt is somebody else's, the end of the grace time. */
  #ended(assignment: Assignment): Promise<Ended> {
    return Promise.race([
      this.#handled(assignment),
      this.#superseded.promise,
      this.#timedOut(assignment),
      this.#interrupted(),
    ])
  }

  async #handled(assignment: Assignment): Promise<Ended> {
    try {
      const { input, run, action } = await this.#runnable(assignment)
      const value = await run(input, this.#contextOf(assignment))
      if (action !== null) await checkOutput(action, value)
      const result = value === undefined || value === null ? null : decodeJson(encodeJson(value, 'result'))
      return { kind: 'completed', completion: { status: 'succeeded', result } }
    } catch (thrown) {
      if (this.#asked.aborted) return { kind: 'interrupted' }
      return { kind: 'completed', completion: { status: 'failed', error: reportedError(thrown) } }
    } finally {
      this.#overdue.abort()
    }
  }

  async #runnable({ action: name, payload }: Assignment) {
    const handler = this.#handler
    if (typeof handler === 'function') {
      return { input: payload as never, run: handler, action: null }
    }
    const action = handler.find((one) => one.name === (name as ActionName))
    if (action?.run === null || action === undefined) {
      throw Object.assign(new Error(`This worker has no action '${name}'.`), { code: 'action_not_found' })
    }
    return { input: await parseInput<never, never>(action, payload), run: action.run, action: action as Action }
  }

  async #timedOut({ timeLeftMs }: Assignment): Promise<Ended> {
    if (timeLeftMs === Number.POSITIVE_INFINITY) return new Promise(() => undefined)
    await sleep(this.#clock, Math.max(timeLeftMs, 0), this.#overdue.signal, { hold: true })
    // The handler was faster.
    if (this.#overdue.signal.aborted) return new Promise(() => undefined)
    const message = `The handler did not end in time (${formatDuration(Math.round(timeLeftMs))}).`
    this.#abort.abort(new TimedOutError(message))
    return { kind: 'completed', completion: { status: 'failed', error: { code: 'timeout', message } } }
  }

  async #interrupted(): Promise<Ended> {
    await fired(this.#asked)
    const signal = String(this.#asked.reason)
    this.#log.warn(`${signal}: the handler is asked to stop.`)
    this.#abort.abort(new Error(`The process was asked to end (${signal}).`))
    await sleep(this.#clock, this.#stopGraceMs, this.#overdue.signal, { hold: true })
    // A handler that came back in the grace time says itself how it went.
    return this.#overdue.signal.aborted ? new Promise(() => undefined) : { kind: 'interrupted' }
  }

  async #report(ended: Exclude<Ended, { kind: 'superseded' }>): Promise<EphemeralEnd['outcome']> {
    const completion = ended.kind === 'completed' ? ended.completion : INTERRUPTED
    const late = new AbortController()
    // Once the process was asked to end, it is ended soon.
    void fired(this.#asked).then(async () => {
      await sleep(this.#clock, this.#stopGraceMs)
      late.abort(new TimedOutError('The process has to end before the server has answered.'))
    })
    await this.#heartbeat.tellTheRest(late.signal)
    const brought = await this.#complete(completion, late.signal).catch((error: unknown) => {
      // A launcher of processes reads it there.
      if (isRefusal(error) || !leaveResult(completion)) throw error
      this.#log.warn(`The server can't be reached: ${messageOf(error)} The end is left to the launcher.`)
      return completion.status
    })
    if (brought === 'superseded') {
      this.#log.warn("The end was not taken: the attempt is not this worker's any more.")
      return 'superseded'
    }
    if (ended.kind === 'interrupted') return 'interrupted'
    return brought
  }

  /** A result that the server does not take is told as a failure: otherwise nobody would hear of it. */
  async #complete(completion: Completion, signal: AbortSignal): Promise<Completion['status'] | 'superseded'> {
    try {
      const answer = await this.#calls.complete(completion, signal)
      return answer === 'settled' ? completion.status : answer
    } catch (error) {
      if (completion.status === 'failed' || !isRepriseError(error) || (error.status !== 400 && error.status !== 413))
        throw error
      return this.#complete({ status: 'failed', error: { ...reportedError(error), retryable: false } }, signal)
    }
  }

  #contextOf({ tenant, labels, retryToken, action }: Assignment): RunContext {
    const { taskId, attempt } = this.#order
    const heartbeat = this.#heartbeat
    const about = { task: taskId, attempt, action: actionName(action) }
    const at =
      (level: 'info' | 'warn' | 'error'): Logger['info'] =>
      (message, fields) => {
        this.#log[level](message, { ...about, ...fields })
        heartbeat.keep(level, lineText(message, fields))
      }
    return {
      taskId: taskId as TaskId,
      tenant: tenant as TenantId,
      attempt,
      retryToken: retryToken as RetryToken,
      labels,
      signal: this.#abort.signal,
      leaseMsLeft: () => heartbeat.leaseMsLeft,
      stillMine: () => heartbeat.beat(),
      progress: (fraction, note) => heartbeat.report(fraction, note),
      log: {
        debug: (message, fields) => this.#log.debug(message, { ...about, ...fields }),
        info: at('info'),
        warn: at('warn'),
        error: at('error'),
      },
    }
  }
}

/** As a launcher tells of a process that was ended by a signal. */
const INTERRUPTED: Completion = {
  status: 'failed',
  error: { code: 'SIGNAL_SIGTERM', message: 'The worker was asked to end before its handler had.', retryable: true },
}

/** What was thrown, as the server would have seen it. */
function reportedError(thrown: unknown): Readonly<Record<string, unknown>> {
  const { code, httpCode, name, message, stack, says, retryAfterMs, details } = normalise(thrown)
  return {
    name,
    message,
    ...present({ code, stack, retryAfterMs }),
    ...(httpCode === null ? {} : { status: Number(httpCode.slice('HTTP_'.length)) }),
    ...(details === null ? {} : { details: decodeJson(details) }),
    ...(says === null ? {} : { retryable: says === 'retry' }),
  }
}

/** The server will say the same again: what this worker was given is not right. */
const isRefusal = (error: unknown): boolean =>
  isRepriseError(error) && error.status >= 400 && error.status < 500 && error.code !== 'REPRISE_RATE_LIMITED'

const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
