// Texts in files: their encoding, and where their lines end.

import { decodeUtf8, textLines, utf8Texts } from '@reprise/core'
import { expect, test } from 'vitest'

async function* pieces<T>(...all: readonly T[]): AsyncGenerator<T> {
  yield* all
}

async function linesOf(...bytes: readonly Uint8Array[]): Promise<string[]> {
  const lines: string[] = []
  for await (const line of textLines(utf8Texts(pieces(...bytes), 'The file x'))) lines.push(line)
  return lines
}

test('fault 23: lines come whole, wherever the pieces of a file are cut', async () => {
  const text = '\uFEFFcafé\r\n\n{"a":"\u2028"}\n😀'
  const bytes = new TextEncoder().encode(text)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const lines = await linesOf(bytes.slice(0, cut), bytes.slice(cut))
    expect(lines).toEqual(['café', '', '{"a":"\u2028"}', '😀'])
  }
})

test('fault 23: another encoding is refused, and so is a character that is cut off', async () => {
  const words = 'The file x is not a text in UTF-8. Save it in that encoding.'
  const latin = Buffer.from('caf\xe9 au lait', 'latin1')
  await expect(linesOf(latin)).rejects.toMatchObject({ code: 'REPRISE_INVALID', message: words })
  await expect(linesOf(new TextEncoder().encode('é').slice(0, 1))).rejects.toThrow(words)
  expect(() => decodeUtf8(latin, 'The file x')).toThrow(words)
})
