// The policies in force: brought in from a file, kept in the store, and followed there by everybody. The file is looked at by
// its content every few seconds (no notice of the file system is relied upon), and so is the store. Whatever goes wrong on the
// way, the last good book stays in force, and somebody is told.
//
// A text that was never a version becomes the newest one. A file that says what an older version says does so only if it was
// changed since the newest was stored, or changes while it is watched: else every restart with an old file would undo what
// others brought in meanwhile.
//
// The switch for automatic retries (core's flags.ts) is followed here too: every process that decides by policies obeys it.

import {
  type Clock,
  createPolling,
  type Duration,
  durationMs,
  type Engine,
  type FeatureFlags,
  isRepriseError,
  type Logger,
  messageOf,
  NO_POLICIES,
  openFlags,
  type PolicyBook,
  type PolicySource,
  present,
  refuseNoEngine,
  refuseUnknownKeys,
  type Service,
  silentLogger,
  systemClock,
  underFlags,
} from '@reprise/core'
import { policyNotes } from './notes.ts'
import { parsePolicies } from './policy-file.ts'
import { hashOf, type PolicyVersion, PolicyVersions } from './policy-versions.ts'
import { readFileText } from './yaml-file.ts'

export interface PoliciesOptions {
  readonly engine: Pick<Engine, 'collection' | 'journal'>
  /** retry-policies.yaml; without one, only the store is followed. */
  readonly file?: string
  readonly clock?: Clock
  /** How often file and store are looked at; 3 s if not given. */
  readonly poll?: Duration
  readonly log?: Logger
  /** Hears of everything that went wrong, once each. With neither this nor `log`, it goes to stderr as a warning. */
  readonly onError?: (error: unknown) => void
  /** Hears of each book that comes into force. */
  readonly onChange?: (book: PolicyBook) => void
}

export interface Policies extends PolicySource, Service {
  /** The version in force; null if there is none. */
  version(): PolicyVersion | null
  /** Looks at file and store now. */
  look(): Promise<void>
  /** Makes a text the newest version, in force for everybody. `ConfigurationError` if it is not valid. */
  publish(text: string, by: string, reason?: string): Promise<PolicyVersion>
  readonly versions: Pick<PolicyVersions, 'get' | 'list'>
}

const KNOWN_OPTIONS = [
  'engine',
  'file',
  'clock',
  'poll',
  'log',
  'onError',
  'onChange',
] as const satisfies (keyof PoliciesOptions)[]
const POLL_MS = 3_000
const POLL_MS_MIN = 100

/**
 * Loads the policies; they are followed once the service is started. Throws if there is nothing good to begin with: the file is
 * not valid and the store has no version, or this version of Reprise does not understand the newest one.
 */
export async function openPolicies(options: PoliciesOptions): Promise<Policies> {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'openPolicies option')
  refuseNoEngine(options.engine, 'collection', 'openPolicies')
  const clock = options.clock ?? systemClock
  const opened = new OpenPolicies(options, clock, await openFlags({ engine: options.engine, clock }))
  await opened.begin()
  return opened
}

class OpenPolicies implements Policies {
  readonly name = 'policies'
  readonly versions: PolicyVersions
  readonly #options: PoliciesOptions
  readonly #log: Logger
  readonly start: Service['start']
  readonly stop: Service['stop']
  readonly #flags: FeatureFlags
  #book: PolicyBook = NO_POLICIES
  /** The book as it counts under the flags. */
  #inForce: PolicyBook
  #version: PolicyVersion | null = null
  /** The hash of what the file said when it was last taken up, or refused. */
  #settledHash: string | null = null
  /** A change that was seen once: taken up if it is still so at the next look, when nobody is writing any more. */
  #pendingHash: string | null = null
  /** What was told last, of the file and of the store; gone once it works again. */
  readonly #told = new Map<'file' | 'store', string>()
  #turn: Promise<void> = Promise.resolve()

  constructor(options: PoliciesOptions, clock: Clock, flags: FeatureFlags) {
    this.#options = options
    this.#flags = flags
    this.#inForce = underFlags(this.#book, flags.current())
    this.#log = options.log ?? silentLogger
    this.versions = new PolicyVersions(options.engine)
    const everyMs = Math.max(durationMs(options.poll ?? POLL_MS, 'poll'), POLL_MS_MIN)
    const polling = { everyMs, clock, onError: (error: unknown) => this.#complain('store', error) }
    const service = createPolling(this.name, () => this.look(), polling)
    this.start = () => service.start()
    this.stop = () => service.stop()
  }

  current(): PolicyBook {
    return this.#inForce
  }

  version(): PolicyVersion | null {
    return this.#version
  }

  async begin(): Promise<void> {
    const newest = await this.versions.newest()
    if (newest !== null) this.#adopt(newest)
    if (this.#options.file === undefined) return
    try {
      await this.#beginWithFile(this.#options.file, newest)
    } catch (error) {
      if (newest === null) throw error
      this.#complain('file', error)
    }
  }

  async #beginWithFile(file: string, newest: PolicyVersion | null): Promise<void> {
    const { text, changedAt } = await readFileText(file)
    const hash = hashOf(text)
    this.#settledHash = hash
    if (hash === newest?.hash) return
    if (newest === null || changedAt > newest.at || !(await this.versions.isKnown(hash))) {
      await this.#publish(text, { by: `file:${file}` }, file)
      return
    }
    this.#log.warn(
      `${file} says what an older version of the policies said, and was not changed since: version ${newest.number}, brought in by ${newest.by}, stays in force.`,
    )
  }

  /** One look at a time, also when it is asked for while one is under way. */
  look(): Promise<void> {
    const look = this.#turn.then(async () => {
      await this.#lookAtFile()
      await this.#lookAtStore()
    })
    // One that failed must not keep the next ones from looking.
    this.#turn = look.catch(() => undefined)
    return look
  }

  publish(text: string, by: string, reason?: string): Promise<PolicyVersion> {
    return this.#publish(text, { by, ...present({ reason }) }, by)
  }

  async #publish(text: string, by: Pick<PolicyVersion, 'by' | 'reason'>, file: string): Promise<PolicyVersion> {
    parsePolicies(text, { file, version: 0 })
    const version = await this.versions.publish(text, by, this.#version)
    this.#adopt(version)
    return version
  }

  async #lookAtFile(): Promise<void> {
    const { file } = this.#options
    if (file === undefined) return
    try {
      const { text } = await readFileText(file)
      const hash = hashOf(text)
      const isStill = hash === this.#pendingHash
      this.#pendingHash = hash
      if (hash !== this.#settledHash) {
        if (!isStill) return
        await this.#publish(text, { by: `file:${file}` }, file)
        this.#settledHash = hash
      }
      this.#told.delete('file')
    } catch (error) {
      this.#complain('file', error)
    }
  }

  async #lookAtStore(): Promise<void> {
    try {
      await this.#lookAtFlags()
      const newest = await this.versions.newest(this.#version)
      if (newest !== null) this.#adopt(newest)
      this.#told.delete('store')
    } catch (error) {
      this.#complain('store', error)
    }
  }

  async #lookAtFlags(): Promise<void> {
    await this.#flags.look()
    const isOff = !this.#flags.current()['task-retry-queue']
    if (isOff === (this.#inForce.retriesOff ?? false)) return
    this.#log.warn(
      isOff
        ? 'Automatic retries are switched off (the flag task-retry-queue): what would be retried becomes a dead letter.'
        : 'Automatic retries are switched on again.',
    )
    this.#putInForce()
  }

  #putInForce(): void {
    this.#inForce = underFlags(this.#book, this.#flags.current())
    this.#options.onChange?.(this.#inForce)
  }

  #adopt(version: PolicyVersion): void {
    // Another may have come in while this one was on its way.
    if (version.number <= (this.#version?.number ?? 0)) return
    this.#book = parsePolicies(version.text, {
      file: `version ${version.number} of the policies`,
      version: version.number,
    })
    this.#version = version
    this.#log.info(`Version ${version.number} of the policies, brought in by ${version.by}, is in force.`)
    for (const note of policyNotes(this.#book)) this.#log.warn(note)
    this.#putInForce()
  }

  /** The same trouble is told once, not every few seconds. */
  #complain(about: 'file' | 'store', error: unknown): void {
    // The process that closed its engine while a look was under way knows that, and is about to end.
    if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
    const message = messageOf(error)
    if (message === this.#told.get(about)) return
    this.#told.set(about, message)
    const words = `The policies stay as they are (version ${this.#book.version}): ${message}`
    const { log, onError } = this.#options
    try {
      this.#log.error(words)
      onError?.(error)
    } catch {
      // The listener threw; the policies stay as they are, and are looked at again.
      return
    }
    // Somebody has to hear of it.
    if (log === undefined && onError === undefined) process.emitWarning(words, 'RepriseWarning')
  }
}
