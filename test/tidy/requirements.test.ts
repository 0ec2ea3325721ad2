// docs/requirements.md says where each requirement is tried. This keeps it true: the files are there, and each names the id
// in the title of a test.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'requirements.md'), 'utf8')

interface Row {
  readonly id: string
  readonly places: readonly string[]
}

const rows: readonly Row[] = [...PAGE.matchAll(/^\| (?<id>[A-E]\d{1,2}) \|.*\| (?<places>[^|]+) \|$/gm)].map(
  ({ groups = {} }) => ({
    id: groups.id ?? '',
    places: [...(groups.places ?? '').matchAll(/`([^`]+)`/g)].map(([, place = '']) => place),
  }),
)

/** `suite/claim`, `core/test/workers/health` and `test/crashes` are the ways in which the page names files. */
function sourceOf(place: string): string | null {
  const path = place.startsWith('suite/')
    ? `packages/engine-conformance/src/${place}.ts`
    : place.startsWith('test/')
      ? `${place}.test.ts`
      : `packages/${place}.test.ts`
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : null
}

/** Every text that begins like a title with ids, `A4: …`, `A4, A16: …` or `C1–C7: …`, and names this one. */
function namesInTitle(source: string, id: string): boolean {
  const titles = source.matchAll(/['"`](?<ids>[A-E]\d{1,2}(?:(?:, | and |–)[A-E]\d{1,2})*)[:,\s]/g)
  return [...titles].some(({ groups = {} }) => coveredBy(groups.ids ?? '', id))
}

function coveredBy(ids: string, id: string): boolean {
  return ids.split(/, | and /).some((part) => {
    const [first = '', last = first] = part.split('–')
    const letter = id.charAt(0)
    const number = Number(id.slice(1))
    return first.startsWith(letter) && number >= Number(first.slice(1)) && number <= Number(last.slice(1))
  })
}

describe('docs/requirements.md', () => {
  test('has rows to look at', () => {
    expect(rows.length).toBeGreaterThan(25)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  })

  const wanted =
    'A6 A7 A8 A11 A12 A13 A14 A15 A16 B1 B5 B9 B11 B12 B7 B8 C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 D1 D2 D3 D4 D5 D6'.split(
      ' ',
    )
  test.each(wanted)('has a row for %s', (id) => {
    expect(rows.map((row) => row.id)).toContain(id)
  })

  test.each(rows.flatMap(({ id, places }) => places.map((place) => [id, place] as const)))(
    '%s is named in the title of a test in %s',
    (id, place) => {
      const source = sourceOf(place)
      expect(source, 'the file exists').not.toBeNull()
      expect(namesInTitle(source ?? '', id), `a title names ${id}`).toBe(true)
    },
  )
})
