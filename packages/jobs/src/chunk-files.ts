// Chunks from a file, one after the other and never all at once: a line of JSON each (NDJSON), a row of a CSV with the names of
// its first row, or a line of text.

import { createReadStream } from 'node:fs'
import { InvalidError, textLines, utf8Texts } from '@reprise/core'

export const CHUNK_FORMATS = ['ndjson', 'csv', 'lines'] as const
export type ChunkFormat = (typeof CHUNK_FORMATS)[number]

/** The longest line or field that is read: a chunk is small, and a file may be of another kind altogether. */
const LENGTH_MAX = 1_048_576

const BYTE_ORDER_MARK = /^\uFEFF/

/** By the end of its name: .ndjson and .jsonl, .csv; else lines. */
export function formatOf(path: string): ChunkFormat {
  if (/\.(?:ndjson|jsonl)$/i.test(path)) return 'ndjson'
  return /\.csv$/i.test(path) ? 'csv' : 'lines'
}

export async function* chunksFromFile(path: string, format: ChunkFormat = formatOf(path)): AsyncGenerator<unknown> {
  const file = createReadStream(path)
  try {
    yield* chunksFrom(utf8Texts(file, `The file ${path}`), format, path)
  } finally {
    file.destroy()
  }
}

/** Blank lines are passed over. */
export async function* chunksFrom(
  input: AsyncIterable<string>,
  format: ChunkFormat,
  name: string,
): AsyncGenerator<unknown> {
  if (format === 'csv') {
    yield* rowsOf(csvFields(input, name), name)
    return
  }
  let number = 0
  for await (const read of textLines(input)) {
    number++
    const line = number === 1 ? read.replace(BYTE_ORDER_MARK, '') : read
    if (line.length > LENGTH_MAX) throw new InvalidError(`Line ${number} of ${name} has ${line.length} characters.`)
    if (line.trim() === '') continue
    yield format === 'lines' ? line : parsed(line, number, name)
  }
}

function parsed(line: string, number: number, name: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new InvalidError(`Line ${number} of ${name} is not JSON: ${line.slice(0, 60)}`)
  }
}

async function* rowsOf(rows: AsyncIterable<readonly string[]>, name: string): AsyncGenerator<Record<string, string>> {
  let names: readonly string[] | null = null
  let number = 0
  for await (const row of rows) {
    number++
    if (names === null) {
      const twice = row.find((field, index) => row.indexOf(field) !== index)
      if (twice !== undefined) throw new InvalidError(`The first row of ${name} has the name '${twice}' twice.`)
      names = row
      continue
    }
    if (row.length !== names.length) {
      throw new InvalidError(
        `Row ${number} of ${name} has ${row.length} fields, and its first row has ${names.length}.`,
      )
    }
    yield Object.fromEntries(names.map((field, index) => [field, row[index] ?? '']))
  }
}

/** RFC 4180: fields in quotes may hold commas, line ends and doubled quotes. */
async function* csvFields(input: AsyncIterable<string>, name: string): AsyncGenerator<readonly string[]> {
  let row: string[] = []
  let field = ''
  let isQuoted = false
  let wasQuote = false
  let isFirst = true
  for await (const text of input) {
    for (const sign of isFirst ? text.replace(BYTE_ORDER_MARK, '') : text) {
      if (field.length > LENGTH_MAX)
        throw new InvalidError(`A field of ${name} is longer than ${LENGTH_MAX} characters.`)
      if (isQuoted && !wasQuote) {
        if (sign === '"') wasQuote = true
        else field += sign
        continue
      }
      // Within a field without quotes, a quote is a sign like others: 5" nails.
      if (sign === '"' && (wasQuote || field === '')) {
        // The second of two is one in the field; the first after a comma opens the field.
        if (wasQuote) field += sign
        isQuoted = true
        wasQuote = false
        continue
      }
      if (wasQuote) [isQuoted, wasQuote] = [false, false]
      if (sign === ',' || sign === '\n') {
        row.push(sign === '\n' && !isQuoted ? field.replace(/\r$/, '') : field)
        field = ''
      } else field += sign
      if (sign !== '\n') continue
      if (row.length > 1 || row[0] !== '') yield row
      row = []
    }
    isFirst = false
  }
  if (isQuoted && !wasQuote) throw new InvalidError(`A field of ${name} opens with a quote that is never closed.`)
  if (field !== '' || row.length > 0) yield [...row, field.replace(/\r$/, '')]
}
