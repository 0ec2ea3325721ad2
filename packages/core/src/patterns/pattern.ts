// Patterns that match in linear time, whatever the pattern and whatever the text: all ways through the pattern are followed
// at once, one character after the other (Thompson's way), so none is ever tried again. For rules that people write and
// messages that nobody controls, where a regular expression of the language may take for ever.

import { InvalidError } from '../model/errors.ts'
import { type PatternNode, parsePattern, type Range, WORD_RANGES } from './pattern-syntax.ts'

/** How large a pattern may become once its repetitions are written out. */
export const PATTERN_STATES_MAX = 1_000

// Turns are kept in 32 bits, over many texts of which none is nearly as long as what is left.
const TURNS_MAX = 1_000_000_000

const ASCII_END = 128
const RANGES_PER_STEP = 4

type Condition = 'start' | 'end' | 'boundary' | 'no_boundary'

type State =
  | { readonly kind: 'character'; readonly accepts: CharacterSet }
  | { readonly kind: 'condition'; readonly condition: Condition }
  /** Goes on at both places; the second may be set later. */
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'jump'; to: number }
  | { readonly kind: 'match' }

/**
 * How many steps matching may still take, for all patterns that are tried for one purpose. Linear time is still long where rules
 * are many, patterns large and texts long. Once it is spent, nothing matches any more.
 */
export interface StepBudget {
  left: number
}

/** What one failure may cost: a few milliseconds. */
const MATCH_STEPS_MAX = 40_000

export const stepBudget = (left: number = MATCH_STEPS_MAX): StepBudget => ({ left })

export interface Trial {
  readonly matched: boolean
  /** How many states were visited, which is what it cost. */
  readonly steps: number
}

export class Pattern {
  readonly source: string
  /** How many states it has, which is what it takes to keep it. */
  readonly size: number
  /** Whether a match can begin with this ASCII character; null if a match can begin with anything, or be empty. */
  readonly #beginnings: Uint8Array | null
  readonly #run: Run

  constructor(source: string) {
    const { root, ignoreCase } = parsePattern(source)
    this.source = source
    const states = new Compiler(source, ignoreCase).compile(root)
    this.size = states.length
    this.#beginnings = beginningsOf(states)
    this.#run = new Run(states)
  }

  /** Whether it matches anywhere in the text, as far as the budget goes. */
  test(text: string, budget: StepBudget = stepBudget(Number.POSITIVE_INFINITY)): boolean {
    if (budget.left <= 0) return false
    const { matched, steps } = this.trial(text, budget.left)
    budget.left -= steps
    return matched
  }

  /** Gives up after so many steps: then it has not matched, and took more than those. */
  trial(text: string, maxSteps: number = Number.POSITIVE_INFINITY): Trial {
    const run = this.#run
    run.begin(text)
    let at = 0
    while (at <= text.length && run.steps <= maxSteps) {
      if (run.isIdle && this.#beginnings !== null) {
        at = nextBeginning(this.#beginnings, text, at)
        if (at >= text.length) break
      }
      const code = text.codePointAt(at) ?? -1
      if (run.step(at, code)) return { matched: true, steps: run.steps }
      at += code > 0xffff ? 2 : 1
    }
    return { matched: false, steps: run.steps }
  }
}

/** A text on its way through a pattern. Used again for the next text: making one anew would cost more than most texts do. */
class Run {
  steps = 0
  readonly #states: readonly State[]
  #text = ''
  /** States that wait for the next character, and in which turn each was last entered. */
  #waiting: number[] = []
  #before: number[] = []
  readonly #enteredIn: Int32Array
  #turn = 0
  readonly #pending: number[] = []

  constructor(states: readonly State[]) {
    this.#states = states
    this.#enteredIn = new Int32Array(states.length)
  }

  begin(text: string): void {
    this.#text = text
    this.#waiting.length = 0
    this.steps = 0
    if (this.#turn < TURNS_MAX) return
    this.#turn = 0
    this.#enteredIn.fill(0)
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  /** Lets a match begin here, then takes the character (-1 at the end). True if something has matched up to here. */
  step(at: number, code: number): boolean {
    // What waits was entered in the present turn, and the beginning joins it. If nothing waits, places may have been skipped.
    if (this.isIdle) this.#turn += 1
    if (this.#enter(0, at, this.#waiting)) return true
    const before = this.#waiting
    this.#waiting = this.#before
    this.#waiting.length = 0
    this.#before = before
    this.#turn += 1
    if (code === -1) return false
    const next = at + (code > 0xffff ? 2 : 1)
    for (const index of before) {
      const state = this.#states[index]
      if (state?.kind !== 'character') continue
      this.steps += code < ASCII_END ? 1 : state.accepts.cost
      if (state.accepts.has(code) && this.#enter(index + 1, next, this.#waiting)) return true
    }
    return false
  }

  /** Follows everything that needs no character. Each state is entered once a turn: that is what keeps it linear. */
  #enter(start: number, at: number, into: number[]): boolean {
    const pending = this.#pending
    pending.length = 0
    pending.push(start)
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (this.#enteredIn[index] === this.#turn) continue
      this.#enteredIn[index] = this.#turn
      this.steps += 1
      const state = this.#states[index] as State
      switch (state.kind) {
        case 'match':
          return true
        case 'character':
          into.push(index)
          break
        case 'jump':
          pending.push(state.to)
          break
        case 'split':
          pending.push(state.second, state.first)
          break
        case 'condition':
          if (holds(state.condition, this.#text, at)) pending.push(index + 1)
      }
    }
    return false
  }
}

function holds(condition: Condition, text: string, at: number): boolean {
  switch (condition) {
    case 'start':
      return at === 0
    case 'end':
      return at >= text.length
    case 'boundary':
      return isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))
    case 'no_boundary':
      return isWord(text.charCodeAt(at - 1)) === isWord(text.charCodeAt(at))
  }
}

const isWord = (code: number): boolean => inRanges(WORD_RANGES, code)

class Compiler {
  readonly #source: string
  readonly #ignoreCase: boolean
  readonly #states: State[] = []
  /** One for each class of the source, however often it is repeated. */
  readonly #sets = new Map<PatternNode, CharacterSet>()
  #work = 0

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source
    this.#ignoreCase = ignoreCase
  }

  compile(root: PatternNode): readonly State[] {
    this.#add(root)
    this.#emit({ kind: 'match' })
    return this.#states
  }

  #add(node: PatternNode): void {
    // Counted apart from the states: a repetition of nothing emits none, and could go on for ages.
    this.#work += 1
    this.#refuseIfLarge()
    switch (node.kind) {
      case 'empty':
        return
      case 'class':
        this.#emit({ kind: 'character', accepts: this.#setOf(node) })
        return
      case 'sequence':
        for (const part of node.parts) this.#add(part)
        return
      case 'choice':
        this.#addChoice(node.options)
        return
      case 'repeat':
        this.#addRepeat(node.part, node.least, node.most)
        return
      default:
        this.#emit({ kind: 'condition', condition: node.kind })
    }
  }

  #setOf(node: PatternNode & { readonly kind: 'class' }): CharacterSet {
    const known = this.#sets.get(node)
    if (known !== undefined) return known
    const made = new CharacterSet(node.ranges, node.negated, this.#ignoreCase)
    this.#sets.set(node, made)
    return made
  }

  #addChoice(options: readonly PatternNode[]): void {
    const jumps: { to: number }[] = []
    for (const [index, option] of options.entries()) {
      if (index === options.length - 1) {
        this.#add(option)
        break
      }
      const split = this.#split()
      split.first = this.#states.length
      this.#add(option)
      const jump = { kind: 'jump' as const, to: 0 }
      this.#emit(jump)
      jumps.push(jump)
      split.second = this.#states.length
    }
    for (const jump of jumps) jump.to = this.#states.length
  }

  #addRepeat(part: PatternNode, least: number, most: number | null): void {
    for (let count = 0; count < least; count++) this.#add(part)
    if (most === null) {
      const split = this.#split()
      const loop = this.#states.length - 1
      split.first = this.#states.length
      this.#add(part)
      this.#emit({ kind: 'jump', to: loop })
      split.second = this.#states.length
      return
    }
    const splits: { second: number }[] = []
    for (let count = least; count < most; count++) {
      const split = this.#split()
      split.first = this.#states.length
      splits.push(split)
      this.#add(part)
    }
    for (const split of splits) split.second = this.#states.length
  }

  #split(): { first: number; second: number } {
    const split = { kind: 'split' as const, first: 0, second: 0 }
    this.#emit(split)
    return split
  }

  #emit(state: State): void {
    this.#states.push(state)
    this.#refuseIfLarge()
  }

  #refuseIfLarge(): void {
    if (this.#states.length <= PATTERN_STATES_MAX && this.#work <= 4 * PATTERN_STATES_MAX) return
    throw new InvalidError(
      `The pattern '${this.#source}' grows too large once its repetitions are written out. Use * or + instead of large numbers in {}.`,
    )
  }
}

/** Which characters one place of a pattern takes. ASCII by table, the rest by ranges. */
class CharacterSet {
  /** What it takes to look up a character beyond ASCII, in steps. */
  readonly cost: number
  readonly #ascii = new Uint8Array(ASCII_END)
  readonly #ranges: readonly Range[]
  readonly #negated: boolean
  readonly #ignoreCase: boolean

  constructor(ranges: readonly Range[], negated: boolean, ignoreCase: boolean) {
    this.#ranges = ranges
    this.#negated = negated
    this.#ignoreCase = ignoreCase
    this.cost = 1 + (ignoreCase ? 8 : 0) + ranges.length / RANGES_PER_STEP
    for (let code = 0; code < ASCII_END; code++) this.#ascii[code] = this.#decide(code) ? 1 : 0
  }

  has(code: number): boolean {
    return code < ASCII_END ? this.#ascii[code] === 1 : this.#decide(code)
  }

  #decide(code: number): boolean {
    const named =
      inRanges(this.#ranges, code) ||
      (this.#ignoreCase &&
        (inRanges(this.#ranges, otherCase(code, 'toLowerCase')) ||
          inRanges(this.#ranges, otherCase(code, 'toUpperCase'))))
    return named !== this.#negated
  }
}

// Characters whose other case is several characters have none here.
function otherCase(code: number, change: 'toLowerCase' | 'toUpperCase'): number {
  const changed = String.fromCodePoint(code)[change]()
  const other = changed.codePointAt(0) ?? code
  return changed.length === (other > 0xffff ? 2 : 1) ? other : code
}

function inRanges(ranges: readonly Range[], code: number): boolean {
  for (const [from, to] of ranges) if (code >= from && code <= to) return true
  return false
}

/** How many states all patterns that are remembered may have together. */
const REMEMBERED_STATES_MAX = 250_000

const remembered = new Map<string, Pattern>()
let rememberedStates = 0

/** The pattern of this source. Policies are read again and again, by several parts of a process: each pattern is compiled once. */
export function patternOf(source: string): Pattern {
  const known = remembered.get(source)
  if (known !== undefined) return known
  const pattern = new Pattern(source)
  if (rememberedStates + pattern.size > REMEMBERED_STATES_MAX) {
    remembered.clear()
    rememberedStates = 0
  }
  remembered.set(source, pattern)
  rememberedStates += pattern.size
  return pattern
}

/** The characters that a match can begin with; null if it can begin without one, so that no place can be skipped. */
function beginningsOf(states: readonly State[]): Uint8Array | null {
  const table = new Uint8Array(ASCII_END)
  const sets = new Set<CharacterSet>()
  const seen = new Set<number>()
  const pending = [0]
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    if (seen.has(index)) continue
    seen.add(index)
    const state = states[index] as State
    switch (state.kind) {
      case 'match':
        return null
      case 'character':
        if (sets.has(state.accepts)) break
        sets.add(state.accepts)
        for (let code = 0; code < ASCII_END; code++) if (state.accepts.has(code)) table[code] = 1
        break
      case 'jump':
        pending.push(state.to)
        break
      case 'split':
        pending.push(state.first, state.second)
        break
      case 'condition':
        pending.push(index + 1)
    }
  }
  return table
}

/** The next place where a match may begin: characters beyond ASCII always may. */
function nextBeginning(beginnings: Uint8Array, text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code >= ASCII_END || beginnings[code] === 1) break
    at += 1
  }
  return at
}
