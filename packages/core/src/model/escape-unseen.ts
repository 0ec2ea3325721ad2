// Text for people to read, on a terminal or in a log: characters that nobody sees (unseen.ts) stand in it as escapes.

import { UNSEEN } from './unseen.ts'

const ALL = new RegExp(UNSEEN, 'gv')
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** In UTF-16, as JSON writes it: what was JSON still is, and says the same. */
const escaped = (character: string): string =>
  SHORT[character] ??
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** One line. */
export const escapeUnseen = (text: string): string => text.replace(ALL, escaped)

/** The same, but line ends stay: for texts of several lines, and for JSON, which has none inside of its strings. */
export const escapeUnseenButLines = (text: string): string =>
  text.replace(ALL, (character) => (character === '\n' ? character : escaped(character)))
