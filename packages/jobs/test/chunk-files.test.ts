// Chunks from files: each format, and what is wrong in words.

import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type ChunkFormat, chunksFrom, formatOf } from '../src/index.ts'

/** The same whichever way the stream cuts the text. */
async function all(text: string, format: ChunkFormat): Promise<unknown[]> {
  const read: unknown[][] = []
  for (const parts of [[text], text.split('')]) {
    const chunks: unknown[] = []
    for await (const chunk of chunksFrom(Readable.from(parts), format, 'a file')) chunks.push(chunk)
    read.push(chunks)
  }
  const [whole = [], inPieces = []] = read
  expect(inPieces).toEqual(whole)
  return whole
}

test('E6: the format is known by the name', () => {
  expect(['a.ndjson', 'a.JSONL', 'a.csv', 'a.txt', '-'].map(formatOf)).toEqual([
    'ndjson',
    'ndjson',
    'csv',
    'lines',
    'lines',
  ])
})

describe('E6: chunks from a file', () => {
  test('lines of JSON, blank ones passed over', async () => {
    expect(await all('{"a":1}\n\n[2]\r\n"x"', 'ndjson')).toEqual([{ a: 1 }, [2], 'x'])
    expect(await all('\uFEFF1\n2', 'ndjson')).toEqual([1, 2])
    await expect(all('1\n{a}\n', 'ndjson')).rejects.toThrow('Line 2 of a file is not JSON: {a}')
  })

  test('lines of text', async () => {
    expect(await all('one\ntwo, three\n', 'lines')).toEqual(['one', 'two, three'])
    expect(await all('\uFEFFone\r\n\uFEFFtwo', 'lines')).toEqual(['one', '\uFEFFtwo'])
  })

  test('rows of a CSV by the names of its first row, with quotes, commas and line ends in fields', async () => {
    expect(await all('name,says\r\n"Ann, junior","""hi""\nthere"\r\nBob,\n', 'csv')).toEqual([
      { name: 'Ann, junior', says: '"hi"\nthere' },
      { name: 'Bob', says: '' },
    ])
    expect(await all('\uFEFFn\n1\n\n2', 'csv')).toEqual([{ n: '1' }, { n: '2' }])
    // A quote within a field opens nothing: each row stays a row.
    expect(await all('n,what\n1,5" nails\n2,6" nails\n', 'csv')).toEqual([
      { n: '1', what: '5" nails' },
      { n: '2', what: '6" nails' },
    ])
    expect(await all('a,b\n"",""\n"""x""",y\n', 'csv')).toEqual([
      { a: '', b: '' },
      { a: '"x"', b: 'y' },
    ])
    await expect(all('a,b,a\n1,2,3\n', 'csv')).rejects.toThrow("The first row of a file has the name 'a' twice.")
    await expect(all('a,b\n1\n', 'csv')).rejects.toThrow('Row 2 of a file has 1 fields, and its first row has 2.')
    await expect(all('a\n"1', 'csv')).rejects.toThrow('never closed')
  })
})
