// A place in a YAML file: its value, where it stands and what field it is. Reading goes from place to place and asks each
// for what it should be; what it is not becomes a problem, and reading goes on. Aliases, duplicate keys, tags and files that are
// too large or too deep are refused here, before anything is made of them.

import { DURATION_MS_MAX, durationMs, isRepriseError } from '@reprise/core'
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, visit } from 'yaml'
import { ConfigurationError, ProblemList } from './problems.ts'

export const FILE_BYTES_MAX = 262_144

/** The places of one file. */
export interface Source {
  readonly root: Place
  readonly problems: ProblemList
}

/** Reads YAML text; `ConfigurationError` if it can't be read at all. */
export function readYaml(text: string, file: string): Source {
  const problems = new ProblemList(file)
  const sizeBytes = Buffer.byteLength(text)
  if (sizeBytes > FILE_BYTES_MAX) {
    refuse(problems, `It has ${sizeBytes} bytes; at most ${FILE_BYTES_MAX} are allowed.`)
  }
  try {
    return readDocument(text, problems)
  } catch (error) {
    // The stack ran out.
    if (error instanceof RangeError) refuse(problems, 'It nests too deep.')
    throw error
  }
}

function readDocument(text: string, problems: ProblemList): Source {
  const lines = new LineCounter()
  // Keys are compared further below: the parser's own way takes quadratic time.
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
  const [document, second] = Array.isArray(documents) ? documents : []
  if (document === undefined || document.contents === null) {
    return refuse(problems, "It is empty. Write 'policies: []' if there are to be none.")
  }
  if (second !== undefined) {
    problems.add(position(lines, second.range?.[0] ?? 0), '', 'A second document begins here. One file holds one.')
  }
  for (const { pos, message } of [...document.errors, ...document.warnings]) {
    problems.add(position(lines, pos[0]), '', `This is not valid YAML: ${message.split('\n')[0] ?? ''}`)
  }
  problems.throwIfAny()
  refuseReferences(document.contents, lines, problems)
  problems.throwIfAny()
  return { root: new Place(document.contents, '', { lines, problems, offset: 0 }), problems }
}

function refuseReferences(contents: Node, lines: LineCounter, problems: ProblemList): void {
  visit(contents, {
    Node(_, node) {
      const at = position(lines, node.range?.[0] ?? 0)
      if (isAlias(node)) {
        problems.add(at, '', `The alias *${node.source} is not allowed. Write it out, or use a template.`)
      } else if (node.anchor !== undefined) {
        problems.add(at, '', `The anchor &${node.anchor} is not allowed: there are no aliases.`)
      }
      if (node.tag !== undefined && isScalar(node) && !node.tag.startsWith('tag:yaml.org,2002:')) {
        problems.add(at, '', `The tag ${node.tag} is not allowed.`)
      }
    },
  })
}

interface Context {
  readonly lines: LineCounter
  readonly problems: ProblemList
  /** Where the field stands, if it has no value to stand somewhere itself. */
  readonly offset: number
}

export class Place {
  readonly path: string
  readonly #node: Node | null
  readonly #context: Context

  constructor(node: Node | null, path: string, context: Context) {
    this.#node = node
    this.path = path
    this.#context = context
  }

  /** Notes a problem here. Always undefined, so that a reader can end with it. */
  problem(message: string): undefined {
    const { lines, problems, offset } = this.#context
    problems.add(position(lines, this.#node?.range?.[0] ?? offset), this.path, message)
    return undefined
  }

  /** What the step gives; a problem here if it finds the value invalid. */
  checked<T>(step: () => T): T | undefined {
    try {
      return step()
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_INVALID')) throw error
      return this.problem(error.message)
    }
  }

  text(lengthMax = 200): string | undefined {
    const value = this.#scalar()
    if (typeof value !== 'string') return this.problem(`This must be a text, not ${this.#shown()}.`)
    if (value === '') return this.problem('This must not be empty.')
    return value.length <= lengthMax
      ? value
      : this.problem(`This has ${value.length} characters; at most ${lengthMax} are allowed.`)
  }

  whole(from: number, to: number): number | undefined {
    const value = this.#scalar()
    if (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) return value
    return this.problem(`This must be a whole number from ${from} to ${to}, not ${this.#shown()}.`)
  }

  number(from: number, to: number): number | undefined {
    const value = this.#scalar()
    if (typeof value === 'number' && value >= from && value <= to) return value
    return this.problem(`This must be a number from ${from} to ${to}, not ${this.#shown()}.`)
  }

  flag(): boolean | undefined {
    const value = this.#scalar()
    return typeof value === 'boolean' ? value : this.problem(`This must be true or false, not ${this.#shown()}.`)
  }

  oneOf<T extends string>(allowed: readonly T[]): T | undefined {
    const value = this.#scalar()
    const found = allowed.find((one) => one === value)
    return found ?? this.problem(`This must be one of ${allowed.join(', ')}, not ${this.#shown()}.`)
  }

  /** In milliseconds. A unit is asked for, because a bare number does not say whether it means seconds. */
  durationMs(fromMs = 0, toMs = DURATION_MS_MAX): number | undefined {
    const value = this.#scalar()
    if (typeof value !== 'string') {
      return this.problem(`This must be a duration with its unit, such as 500ms, 30s, 5m or 2h, not ${this.#shown()}.`)
    }
    const ms = this.#parsedMs(value)
    if (ms === undefined || (ms >= fromMs && ms <= toMs)) return ms
    return this.problem(`This must be a duration from ${fromMs} ms to ${toMs} ms, not ${this.#shown()}.`)
  }

  /** The parser's own words would offer a bare number, which is not taken here. */
  #parsedMs(value: string): number | undefined {
    try {
      return durationMs(value)
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_INVALID')) throw error
      return this.problem(
        `The duration ${this.#shown()} is not understood. Write it with its unit and without a space, such as 500ms, 30s, 5m or 1h30m.`,
      )
    }
  }

  get isText(): boolean {
    return isScalar(this.#node) && typeof this.#node.value === 'string'
  }

  get isList(): boolean {
    return isSeq(this.#node)
  }

  get isMap(): boolean {
    return isMap(this.#node)
  }

  /** The value of a plain number or text, whichever it is. */
  plain(): string | undefined {
    const value = this.#scalar()
    return typeof value === 'string' || typeof value === 'number'
      ? String(value)
      : this.problem(`This must be a text or a number, not ${this.#shown()}.`)
  }

  /** What could be read of the items. */
  list<T>(itemsMax: number, read: (item: Place) => T | undefined): T[] | undefined {
    const node = this.#node
    if (!isSeq(node)) return this.problem(`This must be a list, not ${this.#shown()}.`)
    if (node.items.length > itemsMax) {
      return this.problem(`This has ${node.items.length} entries; at most ${itemsMax} are allowed.`)
    }
    return node.items.flatMap((item, index) => {
      const at = isNode(item) ? (item.range?.[0] ?? 0) : this.#context.offset
      const place = new Place(isNode(item) ? item : null, `${this.path}[${index}]`, { ...this.#context, offset: at })
      const value = read(place)
      return value === undefined ? [] : [value]
    })
  }

  /** A list of texts, or one text alone. */
  texts(
    itemsMax: number,
    read: (item: Place) => string | undefined = (item) => item.text(),
  ): readonly string[] | undefined {
    if (!this.isList) {
      const only = read(this)
      return only === undefined ? undefined : [only]
    }
    const texts = this.list(itemsMax, read)
    return texts?.length === 0 ? this.problem('This list is empty. Leave the field out to match anything.') : texts
  }

  /** The fields of a map by name, once nothing else stands there and none stands there twice. */
  fields<Name extends string>(known: readonly Name[], what: string): Fields<Name> | undefined {
    const node = this.#node
    if (!isMap(node)) return this.problem(`This must be ${what} (${known.join(', ')}), not ${this.#shown()}.`)
    const found = new Map<string, Place>()
    for (const { key, value } of node.items) {
      const offset = isNode(key) ? (key.range?.[0] ?? 0) : this.#context.offset
      const name = isScalar(key) ? String(key.value) : ''
      const path = this.path === '' ? name : `${this.path}.${name}`
      const place = new Place(isNode(value) ? value : null, path, { ...this.#context, offset })
      if (!(known as readonly string[]).includes(name)) {
        const { lines, problems } = this.#context
        problems.add(
          position(lines, offset),
          path,
          `There is no such field in ${what}. Known are: ${known.join(', ')}.`,
        )
      } else if (found.has(name)) place.problem('This field stands here twice.')
      else if (place.#isNothing) place.problem('This field has no value. Give it one, or leave it out.')
      else found.set(name, place)
    }
    return new Fields(this, found)
  }

  get #isNothing(): boolean {
    return this.#node === null || (isScalar(this.#node) && this.#node.value === null)
  }

  #scalar(): unknown {
    return isScalar(this.#node) ? this.#node.value : undefined
  }

  #shown(): string {
    if (isMap(this.#node)) return 'a map'
    if (isSeq(this.#node)) return 'a list'
    const value = this.#scalar()
    if (value === null || value === undefined) return 'nothing'
    return typeof value === 'string' ? `'${value.slice(0, 40)}'` : JSON.stringify(value)
  }
}

/** The fields of one map. */
export class Fields<Name extends string> {
  readonly place: Place
  readonly #found: ReadonlyMap<string, Place>

  constructor(place: Place, found: ReadonlyMap<string, Place>) {
    this.place = place
    this.#found = found
  }

  get hasAny(): boolean {
    return this.#found.size > 0
  }

  has(name: Name): boolean {
    return this.#found.has(name)
  }

  /** What is read from the field; undefined if it is not there. */
  get<T>(name: Name, read: (place: Place) => T | undefined): T | undefined {
    const place = this.#found.get(name)
    return place === undefined ? undefined : read(place)
  }

  /** The same for a field that has to be there. */
  required<T>(name: Name, read: (place: Place) => T | undefined): T | undefined {
    if (this.#found.has(name)) return this.get(name, read)
    return this.place.problem(`The field '${name}' is missing.`)
  }
}

function position(lines: LineCounter, offset: number): { readonly line: number; readonly column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function refuse(problems: ProblemList, message: string): never {
  problems.add({ line: 1, column: 1 }, '', message)
  problems.throwIfAny()
  throw new ConfigurationError([])
}
