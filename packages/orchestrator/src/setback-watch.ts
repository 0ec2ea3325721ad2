// Watches for a store that lost what it had acknowledged (see core's setbacks.ts). Every process that works on a store looks now
// and then: each remembers other numbers. The first to notice writes it down, so that the journal has one entry and everybody
// who looks at the store hears of it; each one logs what it knows itself, once.

import {
  type Clock,
  isRepriseError,
  type Logger,
  noteSetback,
  type Records,
  type Service,
  type Setback,
  setbackSentence,
  type Upkeep,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'

export interface SetbackWatchOptions extends ServiceOptions {
  readonly engine: WatchedEngine
  /** As the journal names it; `orchestrator` if not given. */
  readonly actor?: string
  readonly intervalMs?: number
}

type WatchedEngine = Pick<Upkeep, 'setbacks'> & Records

const INTERVAL_MS = 5_000

/** Of each engine, the setbacks that were logged, and those of them that the journal has. */
const known = new WeakMap<object, { readonly logged: Set<string>; readonly noted: Set<string> }>()

export function createSetbackWatch(options: SetbackWatchOptions): Service {
  const around = surroundings('setback watch', options)
  const { engine, actor = 'orchestrator', intervalMs = INTERVAL_MS } = options
  return createLoop('setback watch', around, () => ({
    async round() {
      await lookForSetbacks(engine, around.log, actor)
      return jitteredMs(intervalMs, around.random)
    },
  }))
}

/** For who has a rhythm of its own: looks if the last look is long enough ago. Never rejects. */
export function setbackLook(options: {
  readonly engine: WatchedEngine
  readonly clock: Clock
  readonly log: Logger
  readonly actor: string
}): () => Promise<void> {
  const { engine, clock, log, actor } = options
  let lookedAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (clock.monotonic() - lookedAt < INTERVAL_MS / 2) return
    lookedAt = clock.monotonic()
    try {
      await lookForSetbacks(engine, log, actor)
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
      log.warn('The store did not say how far it has come; asking again.', { actor, error })
    }
  }
}

async function lookForSetbacks(engine: WatchedEngine, log: Logger, actor: string): Promise<void> {
  const { logged, noted } = known.get(engine) ?? { logged: new Set(), noted: new Set() }
  known.set(engine, { logged, noted })
  for (const setback of await engine.setbacks()) {
    const name = nameOf(setback)
    if (noted.has(name)) continue
    const isLate = logged.has(name)
    if (!isLate) log.error(setbackSentence(setback), { ...setback })
    logged.add(name)
    if (await noteSetback(engine, setback, actor, isLate)) noted.add(name)
  }
}

const nameOf = ({ part, seen, found, foundAt }: Setback): string => `${part} ${seen} ${found} ${foundAt}`
