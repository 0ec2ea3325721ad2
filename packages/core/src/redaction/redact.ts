// Hides secrets before anything is shown, logged, journalled or sent out: passwords, tokens, keys, cookies, card numbers, by the name
// they stand under or by what they look like, in JSON of any depth and in plain text. Best effort by rule: it hides what it
// knows. Never throws, never changes what it is given. docs/redaction.md has the rules for people.

import { cut } from '../failure/normalise.ts'
import { InvalidError } from '../model/errors.ts'
import { checkedText } from '../model/ids.ts'
import { JSON_DEPTH_MAX } from '../model/json.ts'
import { refuseUnknownKeys } from '../model/options.ts'
import { Pattern, stepBudget } from '../patterns/pattern.ts'
import { remembered } from '../runtime/remembered.ts'
import type { Turns } from '../runtime/turns.ts'
import { createNameRules, type Secrecy } from './redact-names.ts'
import { createTextRules, isCardNumber, REDACTED, type TextSteps } from './redact-text.ts'

export { REDACTED } from './redact-text.ts'

export interface RedactionOptions {
  /** More names under which secrets stand. */
  readonly keys?: readonly string[]
  /** Patterns (see pattern.ts): a line in which one is found is hidden whole. */
  readonly patterns?: readonly string[]
  /** Names under which nothing is hidden because of the name. What looks like a secret still is. */
  readonly allow?: readonly string[]
}

export interface Redactor {
  /** The same JSON value without its secrets; the very same if it has none. */
  value(json: unknown): unknown
  /** The same for a value that may be large: others have their turn in between. */
  paced(json: unknown, turns: Pick<Turns, 'isSpent' | 'wait'>): Promise<unknown>
  /** The same text without its secrets. */
  text(text: string): string
}

const TOKEN = 'token:'

/** An actor in a sentence: `token:ops` looks like a secret there, and would be hidden. */
export const actorText = (actor: string): string =>
  actor.startsWith(TOKEN) ? `token '${actor.slice(TOKEN.length)}'` : actor

const KNOWN_OPTIONS = ['keys', 'patterns', 'allow'] as const satisfies (keyof RedactionOptions)[]
const RULES_MAX = 200
/** What is looked at of one value or text. What is beyond that is not shown. */
const NODES_MAX = 500_000
const TEXT_LENGTH_MAX = 2_097_152
/** A longer text is looked at in steps, and so is what has more members. */
const TEXT_AT_ONCE_MAX = 16_384
/** In characters of text. A member counts as so many: fifty of them are a step, or one long text. */
const STEP_LENGTH = 4_000
const NODE_LENGTH = 80
/** What own patterns may cost in one text. */
const LINE_STEPS_MAX = 500_000
/** Names that were judged already; most values have the same few. */
const NAMES_KEPT = { textsMax: 2_000, lengthMax: 100 }
const NUMBER_CARD_MIN = 1e12

export function createRedactor(options: RedactionOptions = {}): Redactor {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'redaction option')
  const keys = checkedNames(options.keys, 'key to redact')
  const secrecyOf = remembered(createNameRules(keys, checkedNames(options.allow, 'allowed key')), NAMES_KEPT)
  const patterns = checkedList(options.patterns, 'pattern to redact').map((source) => new Pattern(source))
  const hideKnown = createTextRules(secrecyOf, keys.length > 0)
  const bounded = (given: string): string => {
    const whole = given.length > TEXT_LENGTH_MAX ? cut(given, TEXT_LENGTH_MAX) : given
    return patterns.length === 0 ? whole : withoutLines(whole, patterns)
  }
  const text = (given: string): string => hideKnown.whole(bounded(given))
  const textSteps = (given: string): TextSteps => hideKnown.inSteps(bounded(given))
  const judgedName = remembered((name) => ({ secrecy: secrecyOf(name), shownName: text(name) }), NAMES_KEPT)
  const rules: Rules = { judgedName, text, textSteps }
  return {
    text: (given) => orHidden(() => text(String(given))),
    value: (json) => orHidden(() => new Walk(rules, json).whole()),
    async paced(json, turns) {
      try {
        const walk = new Walk(rules, json)
        while (!walk.goOn(() => turns.isSpent)) await turns.wait()
        return walk.result
      } catch {
        return REDACTED
      }
    },
  }
}

const checkedNames = (list: readonly string[] | undefined, what: string): readonly string[] =>
  checkedList(list, what).map((name) => checkedText(what, name, 200))

function checkedList(list: readonly string[] | undefined, what: string): readonly string[] {
  if (list === undefined) return []
  const isList: boolean = Array.isArray(list)
  if (isList && list.length <= RULES_MAX) return list
  throw new InvalidError(`Each ${what} is one of a list of at most ${RULES_MAX}.`)
}

/** What can't even be looked at (a getter or a proxy that throws) is not shown. */
function orHidden<T>(look: () => T): T | typeof REDACTED {
  try {
    return look()
  } catch {
    return REDACTED
  }
}

/** Once the steps are spent nobody knows what the rest holds: it is hidden. */
function withoutLines(text: string, patterns: readonly Pattern[]): string {
  const budget = stepBudget(LINE_STEPS_MAX)
  const isHidden = (line: string): boolean => patterns.some((pattern) => pattern.test(line, budget)) || budget.left <= 0
  return text.replace(/[^\r\n]+/g, (line) => (isHidden(line) ? REDACTED : line))
}

interface Rules {
  readonly judgedName: (name: string) => JudgedName
  readonly text: (text: string) => string
  readonly textSteps: (text: string) => TextSteps
}

/** The name of a member: what it says about what stands there, and itself without its secrets. */
interface JudgedName {
  readonly secrecy: Secrecy
  readonly shownName: string
}

const LATER = Symbol('later')

/** A list or an object that is being looked through. */
interface Holder {
  readonly holder: object
  /** Null for a list. */
  readonly names: readonly string[] | null
  readonly size: number
  readonly under: Secrecy
  readonly depth: number
  readonly parts: unknown[]
  /** The member that is being looked at. */
  member: unknown
  /** Whether all members so far are shown as they are. */
  isSame: boolean
}

/**
 * One value on its way: parts without a secret are handed on as they are, and only what holds one is made anew. It keeps its
 * place itself, so that it can stop between any two members and go on later.
 */
class Walk {
  result: unknown
  readonly #rules: Rules
  readonly #holders: Holder[] = []
  /** A long text that is being looked at. */
  #text: TextSteps | null = null
  #nodes = 0
  /** What was looked at since it asked whether to stop, in characters. */
  #sinceAsked = STEP_LENGTH

  constructor(rules: Rules, json: unknown) {
    this.#rules = rules
    this.#give(this.#look(json, 'none', 0))
  }

  whole(): unknown {
    this.goOn(() => false)
    return this.result
  }

  /** Goes on until it is done, which it answers, or told to stop. */
  goOn(shouldStop: () => boolean): boolean {
    for (;;) {
      if (this.#text !== null) {
        if (shouldStop()) return false
        const { done, value } = this.#text.next()
        if (done !== true) continue
        this.#text = null
        this.#give(value)
      }
      const top = this.#holders.at(-1)
      if (top === undefined) return true
      if (top.parts.length === top.size) {
        this.#holders.pop()
        this.#give(this.#ended(top))
        continue
      }
      if (this.#sinceAsked >= STEP_LENGTH) {
        this.#sinceAsked = 0
        if (shouldStop()) return false
      }
      this.#next(top)
    }
  }

  #next(top: Holder): void {
    const { holder, names, under, depth, parts } = top
    const name = names?.[parts.length]
    top.member = Reflect.get(holder, name ?? parts.length)
    if (name === undefined) {
      this.#give(this.#look(top.member, under, depth + 1))
      return
    }
    const { secrecy, shownName } = this.#rules.judgedName(name)
    top.isSame &&= shownName === name
    this.#give(this.#look(top.member, stricter(under, secrecy), depth + 1))
  }

  /** What is shown of it; `LATER` if that takes more steps. `under` is what the names above it say. */
  #look(value: unknown, under: Secrecy, depth: number): unknown {
    this.#nodes++
    this.#sinceAsked += NODE_LENGTH
    if (this.#nodes > NODES_MAX) return REDACTED
    switch (typeof value) {
      case 'string':
        this.#sinceAsked += value.length
        if (under !== 'none') return REDACTED
        if (value.length <= TEXT_AT_ONCE_MAX) return this.#rules.text(value)
        this.#text = this.#rules.textSteps(value)
        return LATER
      case 'number':
      case 'bigint':
        if (under === 'all') return REDACTED
        return value >= NUMBER_CARD_MIN && isCardNumber(String(value)) ? REDACTED : value
      case 'object':
        if (value === null) return value
        return depth >= JSON_DEPTH_MAX ? REDACTED : this.#enter(value, under, depth)
      default:
        return value
    }
  }

  #enter(holder: object, under: Secrecy, depth: number): unknown {
    const isList = Array.isArray(holder)
    // Not JSON yet: what it says of itself is what will be shown.
    const toJson: unknown = isList ? undefined : Reflect.get(holder, 'toJSON')
    if (typeof toJson === 'function') return this.#look(Reflect.apply(toJson, holder, []), under, depth + 1)
    const names = isList ? null : Object.keys(holder)
    const size = names?.length ?? (holder as readonly unknown[]).length
    this.#holders.push({ holder, names, size, under, depth, parts: [], member: undefined, isSame: true })
    return LATER
  }

  /** What is shown of what was looked at last. */
  #give(part: unknown): void {
    if (part === LATER) return
    const top = this.#holders.at(-1)
    if (top === undefined) {
      this.result = part
      return
    }
    top.isSame &&= Object.is(part, top.member)
    top.parts.push(part)
  }

  #ended({ holder, names, parts, isSame }: Holder): unknown {
    if (isSame) return holder
    if (names === null) return parts
    return Object.fromEntries(names.map((name, index) => [this.#rules.judgedName(name).shownName, parts[index]]))
  }
}

const stricter = (a: Secrecy, b: Secrecy): Secrecy => (a === 'all' || b === 'all' ? 'all' : a === 'text' ? a : b)
