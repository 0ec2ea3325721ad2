// A thin facade over an engine: it times every verb, and tells what the answers mean to metrics and logs. Whatever the
// engine has goes through, also what this module has never heard of. Nothing that observing does can fail a call: its
// answer has been given by the store already.

import { type Clock, type Engine, isRepriseError, type Logger, present, quietly } from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import { histogram, type MetricsRegistry } from './registry.ts'
import { taskFlow } from './task-flow.ts'

export interface ObservedEngineOptions {
  readonly metrics: MetricsRegistry
  /** Gets one line per retry, dead letter, loss and escalation. */
  readonly log: Logger
  readonly clock: Clock
  /**
   * How many attempts under way are kept in mind, to know more of their settlements than task and token: 50,000 if not given.
   * 0 where only a worker of this process settles, which brings along what it claimed: the cheapest.
   */
  readonly maxLeases?: number
}

type Outcome = 'ok' | 'refused' | 'error'
/** Called with the time at which a verb was called. */
type Timing = (outcome: Outcome, since: number) => void
type Told = (answer: unknown, input: readonly unknown[]) => void

/** Waiting is what it is for: how long it took says nothing. */
const UNTIMED = new Set<PropertyKey>(['wait', 'mark'])

export function observedEngine(engine: Engine, options: ObservedEngineOptions): Engine {
  const { metrics, log, clock, maxLeases } = options
  const calls = histogram(metrics, CATALOGUE.engineCall)
  const flow = taskFlow({ registry: metrics, log, clock, ...present({ maxLeases }) })
  const observers = new Map<PropertyKey, unknown>(Object.entries(flow))

  const timingOf = (verb: string): Timing => {
    const children = {
      ok: calls.labels({ verb, outcome: 'ok' }),
      refused: calls.labels({ verb, outcome: 'refused' }),
      error: calls.labels({ verb, outcome: 'error' }),
    }
    return (outcome, since) => children[outcome].observe(Math.max(clock.monotonic() - since, 0) / 1_000)
  }
  const toldOf = (verb: PropertyKey): Told | null => {
    const observer = observers.get(verb)
    if (typeof observer !== 'function') return null
    return (answer, input) => {
      try {
        Reflect.apply(observer, undefined, [answer, ...input])
      } catch (error) {
        quietly(() => log.error("What the engine answered can't be counted.", { verb: String(verb), error }))
      }
    }
  }

  const journalOf = (journal: object): object =>
    facade(journal, (key, verb) => timed(verb, journal, timingOf(`journal.${String(key)}`), null, clock))

  const view = facade(
    engine,
    (key, verb) => {
      if (UNTIMED.has(key) || typeof key === 'symbol') return verb.bind(engine)
      return timed(verb, engine, timingOf(String(key)), toldOf(key), clock)
    },
    (key, value) => (key === 'journal' ? journalOf(value) : value),
  )
  // It answers to every name that the engine answers to.
  return view as Engine
}

type Verb = (...input: unknown[]) => unknown

function timed(verb: Verb, owner: object, timing: Timing, told: Told | null, clock: Clock): Verb {
  return (...input) => {
    const since = clock.monotonic()
    const answer = Reflect.apply(verb, owner, input)
    // What answers at once asks no store.
    if (!(answer instanceof Promise)) return answer
    return answer.then(
      (value: unknown) => {
        timing('ok', since)
        told?.(value, input)
        return value
      },
      (error: unknown) => {
        timing(isRepriseError(error) && error.status < 500 ? 'refused' : 'error', since)
        throw error
      },
    )
  }
}

/**
 * Everything of an object, with its functions and objects exchanged as asked. Functions are called on the object itself,
 * which may have private fields. The proxy stands on an empty object, since one on a frozen object could exchange nothing.
 */
function facade(
  owner: object,
  functionOf: (key: PropertyKey, found: Verb) => unknown,
  objectOf: (key: PropertyKey, found: object) => unknown = (_key, found) => found,
): object {
  const made = new Map<PropertyKey, { readonly found: unknown; readonly shown: unknown }>()
  const get = (key: PropertyKey): unknown => {
    const found: unknown = Reflect.get(owner, key)
    if ((typeof found !== 'object' && typeof found !== 'function') || found === null) return found
    const known = made.get(key)
    if (known?.found === found) return known.shown
    const shown = typeof found === 'function' ? functionOf(key, found as Verb) : objectOf(key, found)
    made.set(key, { found, shown })
    return shown
  }
  return new Proxy(
    {},
    {
      get: (_target, key) => get(key),
      has: (_target, key) => Reflect.has(owner, key),
      set: (_target, key, value) => Reflect.set(owner, key, value),
      ownKeys: () => Reflect.ownKeys(owner),
      getOwnPropertyDescriptor: (_target, key) => {
        const descriptor = Reflect.getOwnPropertyDescriptor(owner, key)
        if (descriptor === undefined) return undefined
        return { value: get(key), enumerable: descriptor.enumerable ?? false, writable: true, configurable: true }
      },
    },
  )
}
