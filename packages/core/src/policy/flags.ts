// The switches of B12: parts of Reprise that an operator can turn off and on again while everything runs. They are kept in the
// store and looked at every few seconds, so that all processes follow; each change is journalled. What a switch means is said here; the code that
// has the part asks `current()`. For retries, underFlags() puts the switch into the policies, which decide everywhere.

import { type Duration, durationMs } from '../model/duration.ts'
import { ConflictError, InvalidError, isRepriseError } from '../model/errors.ts'
import { nearMiss } from '../model/near-miss.ts'
import { refuseNoEngine, refuseUnknownKeys } from '../model/options.ts'
import type { By } from '../port/changes.ts'
import type { Stored } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { createPolling, type Service } from '../runtime/service.ts'
import type { PolicyBook } from './policy.ts'

/** All are on unless somebody turned them off. */
export const FLAGS = {
  'task-retry-queue':
    'Automatic retries. While it is off, what would be retried becomes a dead letter with reason retries_off, to be redriven later; parking by breakers and retries by operators go on, and what waits already is left alone.',
  'dlq-inspector': 'Looking into the dead letters and acting on them, over API, command line and console.',
  'audit-streaming':
    'Sending the journal out: the live stream and webhooks. Nothing is lost while it is off: each receiver goes on from its cursor.',
} as const satisfies Record<string, string>

export type FlagName = keyof typeof FLAGS
export const FLAG_NAMES = Object.keys(FLAGS) as FlagName[]

/** Whether each is on. */
export type Flags = Readonly<Record<FlagName, boolean>>
export const ALL_FLAGS_ON: Flags = { 'task-retry-queue': true, 'dlq-inspector': true, 'audit-streaming': true }

export interface FlagState {
  readonly name: FlagName
  readonly description: string
  readonly on: boolean
  /** Who changed it last, and when; null if nobody ever did. */
  readonly by: By | null
  readonly changedAt: number | null
}

export interface FlagsOptions {
  readonly engine: Records
  readonly clock?: Clock
  /** How often the store is looked at; 3 s if not given. */
  readonly poll?: Duration
  /** Hears of everything that goes wrong while it follows; the flags stay as they are. */
  readonly onError?: (error: unknown) => void
}

export interface FeatureFlags extends Service {
  /** As of the last look at the store. */
  current(): Flags
  list(): readonly FlagState[]
  /** Turns one on or off for everybody. The change is journalled; one that changes nothing is not. */
  set(name: string, on: boolean, by: By): Promise<FlagState>
  /** Looks at the store now. */
  look(): Promise<void>
}

interface FlagDocument {
  readonly id: string
  readonly on: boolean
  readonly actor: string
  readonly reason: string
}

const KNOWN_OPTIONS = ['engine', 'clock', 'poll', 'onError'] as const satisfies (keyof FlagsOptions)[]
const POLL_MS = 3_000
const POLL_MS_MIN = 100
const TRIES_MAX = 20

/** Loads the flags; they are followed once the service is started. */
export async function openFlags(options: FlagsOptions): Promise<FeatureFlags> {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'openFlags option')
  refuseNoEngine(options.engine, 'collection', 'openFlags')
  const { engine, clock = systemClock, poll = POLL_MS, onError } = options
  const collection = engine.collection<FlagDocument>({ name: 'flags', indexes: {} })
  let stored: ReadonlyMap<string, Stored<FlagDocument>> = new Map()
  let current = ALL_FLAGS_ON

  const adopt = (items: readonly Stored<FlagDocument>[]): void => {
    const known = new Map(stored)
    for (const item of items) {
      // A look that was long on its way must not undo a newer one.
      if (item.version >= (known.get(item.document.id)?.version ?? 0)) known.set(item.document.id, item)
    }
    stored = known
    const isOn = (name: FlagName): boolean => known.get(name)?.document.on ?? ALL_FLAGS_ON[name]
    current = Object.fromEntries(FLAG_NAMES.map((name) => [name, isOn(name)])) as Flags
  }
  const look = async (): Promise<void> => adopt((await collection.list()).items)
  const write = (document: FlagDocument): Promise<Stored<FlagDocument>> => {
    const known = stored.get(document.id)
    return known === undefined ? collection.insert(document) : collection.update(document, known.version)
  }
  const stateOf = (name: FlagName): FlagState => {
    const { document, updatedAt: changedAt = null } = stored.get(name) ?? {}
    const by = document === undefined ? null : { actor: document.actor, reason: document.reason }
    return { name, description: FLAGS[name], on: current[name], by, changedAt }
  }
  const everyMs = Math.max(durationMs(poll, 'poll'), POLL_MS_MIN)
  const polling = createPolling('flags', look, { everyMs, clock, onError: (error) => onError?.(error) })
  await look()
  return {
    ...polling,
    current: () => current,
    list: () => FLAG_NAMES.map(stateOf),
    look,
    async set(name, on, by) {
      const flag = flagName(name)
      if (typeof on !== 'boolean') throw new InvalidError('A flag is turned on (true) or off (false).')
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        await look()
        if (current[flag] === on) return stateOf(flag)
        try {
          adopt([await write({ id: flag, on, actor: by.actor, reason: by.reason })])
        } catch (error) {
          // Somebody else changed it meanwhile: look again at what is left to do.
          if (isRepriseError(error, 'REPRISE_CONFLICT')) continue
          throw error
        }
        const reason = `The flag ${flag} is ${on ? 'on' : 'off'} from now on: ${by.reason}`
        const entry = {
          type: 'note',
          taskId: null,
          attempt: null,
          actor: by.actor,
          reason,
          data: { flag, on },
        } as const
        await engine.journal.append([entry])
        return stateOf(flag)
      }
      throw new ConflictError(
        `Others changed the flag ${flag} ${TRIES_MAX} times meanwhile. Look at it, and try again.`,
      )
    },
  }
}

/** The name as given if there is such a flag; `InvalidError` if not. */
export function flagName(name: string): FlagName {
  if (Object.hasOwn(FLAGS, name)) return name as FlagName
  throw new InvalidError(
    `There is no flag '${String(name).slice(0, 40)}'.${nearMiss(String(name), FLAG_NAMES)} Known are: ${FLAG_NAMES.join(', ')}.`,
  )
}

/** The book as it counts under these flags: the same one as long as nothing is switched off. */
export function underFlags(book: PolicyBook, flags: Flags): PolicyBook {
  return flags['task-retry-queue'] ? book : { ...book, retriesOff: true }
}
