// Tables for people: columns aligned, as wide as the terminal and no wider, every value made safe first. A value is cut where
// there is no room, but for columns that go on below: those wrap, or move to a second line on a narrow terminal.

import type { Paint, Style } from './colours.ts'
import { cutTo, padBefore, padTo, plain, widthOf, wrapTo } from './plain-text.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string | number | null | undefined
  /** Numbers stand to the right. */
  readonly right?: boolean
  /** Gives up its room first when there is too little; others only after that. */
  readonly flexible?: boolean
  /** For the last column: what does not fit goes on below, in place of being cut. */
  readonly wraps?: boolean
  /** On a narrow terminal it has no column: it stands on a second line below the row, beside others of the kind. */
  readonly below?: boolean
  /** Only where there is much room: on a terminal of at least 140 columns. */
  readonly wide?: boolean
  readonly style?: (text: string, row: Row) => Style | null
}

const GAP = '  '
const WIDTH_MIN = 6
/** Narrower than this, columns that may stand below do. */
const NARROW = 110
/** From this width on, columns that are for wide terminals are there. */
const WIDE = 140
const BELOW_GAP = ' · '

interface Look {
  /** Null if nothing has to be cut. */
  readonly width: number | null
  readonly paint: Paint
}

/** With a line end after each line; a table without rows has none but its titles. */
export function tableText<Row>(rows: readonly Row[], all: readonly Column<Row>[], { width, paint }: Look): string {
  const columns = all.filter(({ wide }) => wide !== true || (width !== null && width >= WIDE))
  const isNarrow = width !== null && width < NARROW
  const beside = columns.filter(({ below }) => !(isNarrow && below === true))
  const below = isNarrow ? columns.filter((column) => column.below === true) : []
  const cells = rows.map((row) => beside.map(({ value }) => cellText(value(row))))
  const widths = beside.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[index] ?? ''))),
  )
  const fitted = width === null ? widths : fit(widths, beside, width)
  const line = (texts: readonly string[], painted: (text: string, index: number) => string): string =>
    texts
      .map((text, index) => {
        const room = fitted[index] ?? 0
        const cut = cutTo(text, room)
        const isLast = index === texts.length - 1
        const padded = beside[index]?.right === true ? padBefore(cut, room) : isLast ? cut : padTo(cut, room)
        return painted(padded, index)
      })
      .join(GAP)
      .trimEnd()
  const head = line(
    beside.map(({ title }) => title),
    (text) => paint('bold', text),
  )
  const body = rows.flatMap((row, at) => {
    const texts = cells[at] ?? []
    const painted = (text: string, index: number): string => {
      const style = beside[index]?.style?.(texts[index] ?? '', row) ?? null
      return style === null ? text : paint(style, text)
    }
    const lines = wrapped(texts, beside.at(-1)?.wraps === true, fitted.at(-1) ?? 0)
    return [...lines.map((one) => line(one, painted)), ...belowText(row, below, { width, paint })]
  })
  return `${[head, ...body].join('\n')}\n`
}

function cellText(value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === '') return '-'
  return typeof value === 'number' ? String(value) : plain(value)
}

/** The row, and below it what its last cell has no room for. */
function wrapped(texts: readonly string[], wraps: boolean, room: number): readonly (readonly string[])[] {
  const [first = '', ...more] = wraps ? wrapTo(texts.at(-1) ?? '', room) : [texts.at(-1)]
  const blank = texts.slice(0, -1).map(() => '')
  return [[...texts.slice(0, -1), first], ...more.map((text) => [...blank, text ?? ''])]
}

function belowText<Row>(row: Row, columns: readonly Column<Row>[], { width, paint }: Look): readonly string[] {
  const texts = columns.map(({ value }) => cellText(value(row))).filter((text) => text !== '-')
  if (texts.length === 0) return []
  const text = `${GAP}${texts.join(BELOW_GAP)}`
  return [paint('dim', width === null ? text : cutTo(text, width))]
}

/**
 * Takes room from flexible columns first, then from the widest, until it fits or nothing more can be taken. The first column is what
 * people copy into the next command: it is cut last of all.
 */
function fit<Row>(widths: readonly number[], columns: readonly Column<Row>[], width: number): readonly number[] {
  const room = width - GAP.length * (columns.length - 1)
  const fitted = [...widths]
  const flexible = columns.map((column) => column.flexible === true)
  for (const candidates of [flexible, columns.map((_, index) => index > 0), columns.map(() => true)]) {
    let excess = fitted.reduce((sum, one) => sum + one, 0) - room
    while (excess > 0) {
      const widest = fitted.reduce(
        (best, one, index) => (candidates[index] === true && one > (fitted[best] ?? 0) ? index : best),
        candidates.indexOf(true),
      )
      if (candidates[widest] !== true || (fitted[widest] ?? 0) <= WIDTH_MIN) break
      fitted[widest] = (fitted[widest] ?? 0) - 1
      excess--
    }
  }
  return fitted
}

/** Names and values below each other: one thing with many sides. A long value goes on below, under itself. */
export function recordText(
  fields: readonly (readonly [name: string, value: string | number | null | undefined])[],
  { width, paint }: Look,
): string {
  const indent = Math.max(0, ...fields.map(([name]) => widthOf(name))) + GAP.length
  const lines = fields.flatMap(([name, value]) => {
    const text = cellText(value)
    const [first = '', ...more] = width === null ? [text] : wrapTo(text, Math.max(width - indent, 1))
    return [`${paint('dim', padTo(name, indent))}${first}`, ...more.map((one) => `${' '.repeat(indent)}${one}`)]
  })
  return lines.map((line) => `${line}\n`).join('')
}
