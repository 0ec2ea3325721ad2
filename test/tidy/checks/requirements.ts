// docs/requirements.md has a row for each requirement, each fault to survive and each intruder to refuse: the tests that try it,
// or what is not there yet.

import type { SourceFile } from './source.ts'
import { idsOf, titlesOf } from './titles.ts'

/** How many there are of each kind. */
const COUNTS = { A: 17, B: 16, C: 11, D: 7, E: 6, 'fault ': 28, 'intruder ': 16 }

export const REQUIREMENT_IDS: readonly string[] = Object.entries(COUNTS).flatMap(([kind, count]) =>
  Array.from({ length: count }, (_, index) => `${kind}${index + 1}`),
)

interface Row {
  readonly id: string
  readonly places: readonly string[]
  readonly missing: string
}

/** `files` are all that have titles. */
export function requirementProblems(page: string, files: readonly SourceFile[]): string[] {
  const rows = rowsOf(page)
  const named = new Map(files.map((file) => [file.path, new Set(titlesOf(file).flatMap(idsOf))]))
  const everywhere = new Set([...named.values()].flatMap((ids) => [...ids]))
  return [
    ...REQUIREMENT_IDS.filter((id) => rows.filter((row) => row.id === id).length !== 1).map(
      (id) => `${id} needs exactly one row`,
    ),
    ...rows.flatMap((row) => rowProblems(row, named, everywhere)),
    ...[...everywhere]
      .filter((id) => !REQUIREMENT_IDS.includes(id))
      .map((id) => `${id} is in a title and no requirement`),
  ]
}

function rowProblems(
  { id, places, missing }: Row,
  named: ReadonlyMap<string, ReadonlySet<string>>,
  everywhere: ReadonlySet<string>,
): string[] {
  if (!REQUIREMENT_IDS.includes(id)) return [`${id} is no requirement`]
  if (places.length === 0 && missing === '–') return [`${id} has neither a test nor a word on what is missing`]
  if (places.length === 0 && everywhere.has(id)) return [`${id} is in a title, and its row names no test`]
  return places.flatMap((place) => {
    const ids = named.get(pathOf(place))
    if (ids === undefined) return [`${id}: there is no test ${pathOf(place)}`]
    return ids.has(id) ? [] : [`${id}: no title in ${pathOf(place)} begins with it`]
  })
}

/** A row is `| id | in short | tried in | not there yet |`. Where everything is there, the last column may be left out. */
function rowsOf(page: string): Row[] {
  const rows = page.matchAll(
    /^\| (?<id>(?:[A-E]|fault |intruder )\d+) \|[^|]*\| (?<places>[^|]+) \|(?: (?<missing>[^|]+) \|)?$/gm,
  )
  return [...rows].map(({ groups: { id = '', places = '', missing = '–' } = {} }) => ({
    id,
    places: [...places.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place),
    missing: missing.trim(),
  }))
}

/** `suite/claim`, `core/test/health` and `test/crashes/orchestrators` are the ways in which the page names files. */
function pathOf(place: string): string {
  if (place.startsWith('suite/')) return `packages/engine-conformance/src/${place}.ts`
  return `${/^((bench|attack)\/)?test\//.test(place) ? '' : 'packages/'}${place}.test.ts`
}
