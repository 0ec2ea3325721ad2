// The shape of a JSON text, seen before anything is built of it: how deep it nests, how many members it has, and how many
// different names. What a parser has to make of a text depends on that more than on its length: a thousand objects of one kind
// cost next to nothing, a thousand that all differ cost a thousand kinds of objects.

import { InvalidError, JSON_DEPTH_MAX } from '@reprise/core'

/** An object of a million members takes a hundred times the memory of its text. */
const MEMBERS_MAX = 100_000
/** Different names in all. */
const NAMES_MAX = 10_000
/** Different beginnings of objects, by the names in their order: each is a kind of object to the parser. */
export const TRANSITIONS_MAX = 3_000
/** An object with more names than this is a table, and has no kind. */
const KIND_NAMES_MAX = 500

/** One pass over the text. Answers how many names it has. */
export function checkShape(text: string): number {
  // No bound can be passed by a text as short as this.
  if (text.length <= JSON_DEPTH_MAX) return 0
  let depth = 0
  let members = 0
  let names = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) index = endOfString(text, index)
    else if (unit === OPEN_OBJECT || unit === OPEN_LIST) {
      if (++depth > JSON_DEPTH_MAX) throw new InvalidError(`The body nests deeper than ${JSON_DEPTH_MAX} levels.`)
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) depth--
    else if (unit === COLON) names++
    else if (unit === COMMA && ++members > MEMBERS_MAX) {
      throw new InvalidError(`The body has more than ${MEMBERS_MAX} members. Send it in parts.`)
    }
  }
  return names
}

/** An object that is open: what its names up to now come to, and how many they are. */
interface OpenObject {
  kind: number
  size: number
}

/** For a text with many names: whether they are few names, and few kinds of objects, over and over again. */
export function checkNames(text: string): void {
  const names = new Map<string, number>()
  const kinds = new Set<number>()
  const open: OpenObject[] = []
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === OPEN_OBJECT) open.push({ kind: 0, size: 0 })
    else if (unit === CLOSE_OBJECT) open.pop()
    if (unit !== QUOTE) continue
    const end = endOfString(text, index)
    const object = open.at(-1)
    if (object !== undefined && isName(text, end)) {
      const name = text.slice(index + 1, end)
      const number = names.get(name) ?? names.size + 1
      names.set(name, number)
      object.kind = (Math.imul(object.kind, 31) + number) | 0
      if (object.size++ < KIND_NAMES_MAX) kinds.add(object.kind)
      if (names.size > NAMES_MAX || kinds.size > TRANSITIONS_MAX) throw tooManyNames()
    }
    index = end
  }
}

const tooManyNames = (): InvalidError =>
  new InvalidError(
    `The body has more than ${NAMES_MAX} different names, or more than ${TRANSITIONS_MAX} kinds of objects. Write what varies as values, in lists.`,
  )

/** Whether a colon follows the string that ends here. */
function isName(text: string, end: number): boolean {
  let at = end + 1
  while (text.charCodeAt(at) <= SPACE) at++
  return text.charCodeAt(at) === COLON
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const COLON = 0x3a
const SPACE = 0x20

/** Where the string that begins here ends, by jumps from quote to quote. */
function endOfString(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
}
