// The syntax of patterns: a useful part of regular expressions, read into a tree. It has literals, `.`, classes, anchors,
// `\b`, groups, `|`, `*`, `+`, `?` and `{m,n}`; `(?i)` at the start ignores case. What could not be matched in linear time
// (backreferences, lookaround) is refused by name. Matching is not done here: see pattern.ts.

import { InvalidError } from '../model/errors.ts'

export type Range = readonly [from: number, to: number]

export type PatternNode =
  | { readonly kind: 'empty' }
  /** Any character of these ranges, or none of them. */
  | { readonly kind: 'class'; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: 'start' | 'end' | 'boundary' | 'no_boundary' }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  /** `most` is null when there is no end to it. */
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly least: number; readonly most: number | null }

const PATTERN_LENGTH_MAX = 500
const PATTERN_REPEAT_MAX = 200

const DIGITS: readonly Range[] = [[0x30, 0x39]]
export const WORD_RANGES: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
const SPACES: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]
const CODE_POINT_MAX = 0x10ffff

const CLASS_BY_LETTER: Readonly<Record<string, readonly Range[]>> = { d: DIGITS, w: WORD_RANGES, s: SPACES }
const CONTROL_BY_LETTER: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b }

export interface ParsedPattern {
  readonly root: PatternNode
  readonly ignoreCase: boolean
}

/** The tree of a pattern; `InvalidError` with the place and what to write instead if it can't be one. */
export function parsePattern(source: string): ParsedPattern {
  if (typeof source !== 'string' || source === '') throw new InvalidError('A pattern is a text that is not empty.')
  if (source.length > PATTERN_LENGTH_MAX) {
    throw new InvalidError(`The pattern has ${source.length} characters; at most ${PATTERN_LENGTH_MAX} are allowed.`)
  }
  const ignoreCase = source.startsWith('(?i)')
  return { root: new Parser(source, ignoreCase ? 4 : 0).whole(), ignoreCase }
}

class Parser {
  readonly #source: string
  #at: number

  constructor(source: string, at: number) {
    this.#source = source
    this.#at = at
  }

  whole(): PatternNode {
    const node = this.#choice()
    if (this.#at < this.#source.length) this.#refuse("has a ')' without a '('. Write \\) for the character")
    return node
  }

  #choice(): PatternNode {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'choice', options }
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) parts.push(this.#repeated())
    if (parts.length === 0) return { kind: 'empty' }
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'sequence', parts }
  }

  #repeated(): PatternNode {
    const part = this.#atom()
    const bounds = this.#bounds()
    if (bounds === null) return part
    // Whether it takes as many or as few as it can makes no difference to whether it matches.
    this.#take('?')
    if (this.#sees('+')) this.#refuse("has a '+' after a repetition, which is not supported")
    if (this.#sees('*') || this.#sees('?')) this.#refuse('repeats a repetition. Put the inner one in a group')
    return { kind: 'repeat', part, ...bounds }
  }

  #bounds(): { readonly least: number; readonly most: number | null } | null {
    if (this.#take('*')) return { least: 0, most: null }
    if (this.#take('+')) return { least: 1, most: null }
    if (this.#take('?')) return { least: 0, most: 1 }
    if (!this.#sees('{')) return null
    const found = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#source.slice(this.#at, this.#at + 16))
    if (found === null)
      return this.#refuse("has a '{' that does not begin {n}, {n,} or {n,m}. Write \\{ for the character")
    const least = Number(found[1])
    const most = found[2] === undefined ? least : found[3] === '' ? null : Number(found[3])
    if (most !== null && most < least) this.#refuse('has a repetition whose least is above its most')
    if (Math.max(least, most ?? 0) > PATTERN_REPEAT_MAX) {
      this.#refuse(`repeats more than ${PATTERN_REPEAT_MAX} times. Use * or +`)
    }
    this.#at += found[0].length
    return { least, most }
  }

  #atom(): PatternNode {
    const character = this.#next()
    switch (character) {
      case '.':
        return { kind: 'class', ranges: LINE_ENDS, negated: true }
      case '^':
        return { kind: 'start' }
      case '$':
        return { kind: 'end' }
      case '(':
        return this.#group()
      case '[':
        return this.#class()
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
      case '{':
        this.#at -= 1
        return this.#refuse(
          `has a '${character}' with nothing before it to repeat. Write \\${character} for the character`,
        )
      default:
        return literal(character)
    }
  }

  #group(): PatternNode {
    if (this.#take('?')) {
      if (this.#sees('=') || this.#sees('!') || this.#sees('<=') || this.#sees('<!')) {
        this.#refuse('looks ahead or behind, which is not supported because it may take very long')
      }
      if (!this.#take(':')) {
        this.#refuse("has a group that begins '(?'. Supported are (…) and (?:…), and (?i) at the very start")
      }
    }
    const node = this.#choice()
    if (!this.#take(')')) this.#refuse("has a '(' without a ')'. Write \\( for the character")
    return node
  }

  #escape(): PatternNode {
    if (this.#at >= this.#source.length) this.#refuse('ends in a single \\. Write \\\\ for the character')
    const letter = this.#next()
    if (letter === 'b') return { kind: 'boundary' }
    if (letter === 'B') return { kind: 'no_boundary' }
    const ranges = CLASS_BY_LETTER[letter.toLowerCase()]
    if (ranges !== undefined) return { kind: 'class', ranges, negated: letter !== letter.toLowerCase() }
    return literal(this.#escaped(letter))
  }

  /** The character an escape stands for. */
  #escaped(letter: string): string {
    const control = CONTROL_BY_LETTER[letter]
    if (control !== undefined) return String.fromCodePoint(control)
    if (/^[1-9k]$/.test(letter))
      this.#refuse('refers back to a group, which is not supported because it may take very long')
    if (letter === 'x' || letter === 'u') return this.#hex(letter === 'x' ? 2 : 4)
    if (/^[a-zA-Z0-9]$/.test(letter)) {
      this.#refuse(
        `has the escape \\${letter}. Supported are \\d \\w \\s \\b, their opposites, \\n \\r \\t \\f \\v, \\x41 and \\u0041`,
      )
    }
    return letter
  }

  #hex(digits: number): string {
    const text = this.#source.slice(this.#at, this.#at + digits)
    if (!new RegExp(`^[0-9a-fA-F]{${digits}}$`).test(text)) this.#refuse(`needs ${digits} hexadecimal digits here`)
    this.#at += digits
    return String.fromCharCode(Number.parseInt(text, 16))
  }

  #class(): PatternNode {
    const negated = this.#take('^')
    const ranges: Range[] = []
    while (!this.#take(']')) {
      const from = this.#member()
      if (typeof from !== 'number') {
        ranges.push(...from)
      } else if (this.#sees('-') && !this.#sees('-]')) {
        this.#at += 1
        const to = this.#member()
        if (typeof to !== 'number' || to < from) return this.#refuse('has a range in a class that does not go upwards')
        ranges.push([from, to])
      } else ranges.push([from, from])
    }
    return { kind: 'class', ranges, negated }
  }

  #member(): number | readonly Range[] {
    if (this.#at >= this.#source.length) this.#refuse("has a '[' without a ']'. Write \\[ for the character")
    const character = this.#next()
    if (character !== '\\') return codeOf(character)
    if (this.#at >= this.#source.length) this.#refuse('ends in a single \\')
    const letter = this.#next()
    const ranges = CLASS_BY_LETTER[letter.toLowerCase()]
    if (ranges !== undefined) return letter === letter.toLowerCase() ? ranges : complement(ranges)
    return letter === 'b' ? 0x08 : codeOf(this.#escaped(letter))
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    const seen = this.#sees(text)
    if (seen) this.#at += text.length
    return seen
  }

  #next(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
    this.#at += character.length
    return character
  }

  #refuse(what: string): never {
    throw new InvalidError(`The pattern '${this.#source}' ${what} (at character ${this.#at + 1}).`)
  }
}

function literal(character: string): PatternNode {
  const code = codeOf(character)
  return { kind: 'class', ranges: [[code, code]], negated: false }
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0

function complement(ranges: readonly Range[]): Range[] {
  const gaps: Range[] = []
  let from = 0
  for (const [start, end] of ranges) {
    if (start > from) gaps.push([from, start - 1])
    from = end + 1
  }
  gaps.push([from, CODE_POINT_MAX])
  return gaps
}
