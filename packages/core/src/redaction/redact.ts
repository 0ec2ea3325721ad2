// Hides secrets before anything is shown, logged, journalled or sent out: passwords, tokens, keys, cookies, card numbers, by the name
// they stand under or by what they look like, in JSON of any depth and in plain text. Best effort by rule: it hides what it
// knows. Never throws, never changes what it is given. docs/redaction.md has the rules for people.

import { cut } from '../failure/normalise.ts'
import { InvalidError } from '../model/errors.ts'
import { checkedText } from '../model/ids.ts'
import { JSON_DEPTH_MAX } from '../model/json.ts'
import { refuseUnknownKeys } from '../model/options.ts'
import { Pattern } from '../patterns/pattern.ts'
import { createNameRules, type Secrecy } from './redact-names.ts'
import { createTextRules, isCardNumber, REDACTED } from './redact-text.ts'

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
  /** The same text without its secrets. */
  text(text: string): string
}

const KNOWN_OPTIONS = ['keys', 'patterns', 'allow'] as const satisfies (keyof RedactionOptions)[]
const RULES_MAX = 200
/** What is looked at of one value or text. What is beyond that is not shown. */
const NODES_MAX = 500_000
const TEXT_LENGTH_MAX = 2_097_152
/** Names that were judged already; most values have the same few. */
const NAMES_KEPT_MAX = 2_000
const NAME_KEPT_LENGTH_MAX = 100
const NUMBER_CARD_MIN = 1e12

export function createRedactor(options: RedactionOptions = {}): Redactor {
  refuseUnknownKeys(options, KNOWN_OPTIONS, 'redaction option')
  const keys = checkedNames(options.keys, 'key to redact')
  const secrecyOf = remembered(createNameRules(keys, checkedNames(options.allow, 'allowed key')))
  const patterns = checkedList(options.patterns, 'pattern to redact').map((source) => new Pattern(source))
  const hideKnown = createTextRules(secrecyOf, keys.length > 0)
  const text = (given: string): string => {
    const whole = given.length > TEXT_LENGTH_MAX ? cut(given, TEXT_LENGTH_MAX) : given
    return hideKnown(patterns.length === 0 ? whole : withoutLines(whole, patterns))
  }
  const judgedName = remembered((name) => ({ secrecy: secrecyOf(name), shownName: text(name) }))
  return {
    text: (given) => orHidden(() => text(String(given))),
    value: (json) => orHidden(() => new Walk({ judgedName, text }).shown(json, 'none', 0)),
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

function remembered<T>(judge: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    if (known.size >= NAMES_KEPT_MAX) known.clear()
    const judged = judge(name)
    if (name.length <= NAME_KEPT_LENGTH_MAX) known.set(name, judged)
    return judged
  }
}

const withoutLines = (text: string, patterns: readonly Pattern[]): string =>
  text.replace(/[^\r\n]+/g, (line) => (patterns.some((pattern) => pattern.test(line)) ? REDACTED : line))

interface Rules {
  readonly judgedName: (name: string) => JudgedName
  readonly text: (text: string) => string
}

/** The name of a member: what it says about what stands there, and itself without its secrets. */
interface JudgedName {
  readonly secrecy: Secrecy
  readonly shownName: string
}

/** One value on its way: parts without a secret are handed on as they are, and only what holds one is made anew. */
class Walk {
  readonly #rules: Rules
  #nodes = 0

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** `under` is what the names above it say. */
  shown(value: unknown, under: Secrecy, depth: number): unknown {
    this.#nodes++
    if (this.#nodes > NODES_MAX) return REDACTED
    switch (typeof value) {
      case 'string':
        return under === 'none' ? this.#rules.text(value) : REDACTED
      case 'number':
      case 'bigint':
        if (under === 'all') return REDACTED
        return value >= NUMBER_CARD_MIN && isCardNumber(String(value)) ? REDACTED : value
      case 'object':
        if (value === null) return value
        if (depth >= JSON_DEPTH_MAX) return REDACTED
        return Array.isArray(value) ? this.#list(value, under, depth) : this.#members(value, under, depth)
      default:
        return value
    }
  }

  #list(list: readonly unknown[], under: Secrecy, depth: number): unknown {
    const parts: unknown[] = []
    let isSame = true
    for (const member of list) {
      const part = this.shown(member, under, depth + 1)
      isSame &&= Object.is(part, member)
      parts.push(part)
    }
    return isSame ? list : parts
  }

  #members(holder: object, under: Secrecy, depth: number): unknown {
    // Not JSON yet: what it says of itself is what will be shown.
    const toJson: unknown = Reflect.get(holder, 'toJSON')
    if (typeof toJson === 'function') return this.shown(Reflect.apply(toJson, holder, []), under, depth + 1)
    const names = Object.keys(holder)
    const parts: unknown[] = []
    let isSame = true
    for (const name of names) {
      const member: unknown = Reflect.get(holder, name)
      const { secrecy, shownName } = this.#rules.judgedName(name)
      const part = this.shown(member, stricter(under, secrecy), depth + 1)
      isSame &&= Object.is(part, member) && shownName === name
      parts.push(part)
    }
    if (isSame) return holder
    return Object.fromEntries(names.map((name, index) => [this.#rules.judgedName(name).shownName, parts[index]]))
  }
}

const stricter = (a: Secrecy, b: Secrecy): Secrecy => (a === 'all' || b === 'all' ? 'all' : a === 'text' ? a : b)
