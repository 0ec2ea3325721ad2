// Text that came from somewhere else, made safe for a terminal, and measured as a terminal shows it. Control characters,
// escapes, marks that turn the direction of writing and characters without a width become visible text; wide ones count twice.

import { escapeUnseen, escapeUnseenButLines } from '@reprise/core'

/** One line. */
export const plain = escapeUnseen

/** The same, but line ends stay: for messages of several lines, and for JSON. */
export const plainLines = escapeUnseenButLines

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' })
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const WIDE =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}])/u
const ASCII = /^[\x20-\x7e]*$/

/** How many columns it takes. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of SEGMENTS.segment(text)) width += segmentWidth(segment)
  return width
}

function segmentWidth(segment: string): number {
  if (NO_WIDTH.test(segment)) return 0
  return WIDE.test(segment) ? 2 : 1
}

/** Cut to this number of columns, with an ellipsis where something is missing. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const { segment } of SEGMENTS.segment(text)) {
    const more = segmentWidth(segment)
    if (width + more > columns - 1) break
    kept += segment
    width += more
  }
  return `${kept}…`
}

/** Over as many lines as it takes, each of this number of columns: broken at blanks, and inside a word only if the word is too long. */
export function wrapTo(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= columns) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    const pieces = piecesOf(word, columns)
    lines.push(...pieces.slice(0, -1))
    line = pieces.at(-1) ?? ''
  }
  return [...lines, line]
}

/** A word that is too long is broken after a comma if it has one: such words are JSON, most of all. */
function piecesOf(word: string, columns: number): readonly string[] {
  const pieces: string[] = []
  let rest = word
  while (widthOf(rest) > columns) {
    const fits = startOf(rest, Math.max(columns, 1))
    const comma = fits.lastIndexOf(',') + 1
    const piece = comma > 0 ? fits.slice(0, comma) : fits
    pieces.push(piece)
    rest = rest.slice(piece.length)
  }
  return [...pieces, rest]
}

/** As much as fits, and one character at least. */
function startOf(text: string, columns: number): string {
  let kept = ''
  let width = 0
  for (const { segment } of SEGMENTS.segment(text)) {
    width += segmentWidth(segment)
    if (width > columns && kept !== '') break
    kept += segment
  }
  return kept
}

export const padTo = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)))
export const padBefore = (text: string, columns: number): string =>
  ' '.repeat(Math.max(0, columns - widthOf(text))) + text
