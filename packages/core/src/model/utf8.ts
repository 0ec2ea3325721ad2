// Texts that people bring in files. Bytes of another encoding are refused: replaced by something else, they would be a text that
// nobody wrote. A line ends at a line feed and nowhere else, because JSON may have other line ends inside of a text.

import { InvalidError } from './errors.ts'

/** `what` begins the sentence of a refusal: 'The file chunks.csv'. */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw notUtf8(what, error)
  }
}

/** The same, piece by piece. */
export async function* utf8Texts(pieces: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const bytes of pieces) yield decoder.decode(bytes, { stream: true })
    yield decoder.decode()
  } catch (error) {
    throw error instanceof TypeError ? notUtf8(what, error) : error
  }
}

/** The lines of a text that comes piece by piece, without their ends. */
export async function* textLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n')
    rest += first
    for (const next of others) {
      yield withoutReturn(rest)
      rest = next
    }
  }
  if (rest !== '') yield withoutReturn(rest)
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

const notUtf8 = (what: string, cause: unknown): InvalidError =>
  new InvalidError(`${what} is not a text in UTF-8. Save it in that encoding.`, { cause })
