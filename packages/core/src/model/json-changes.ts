// The difference of two JSON values, for people to look at before anything is changed. Values may be large and nest deeply: each
// place is looked at once, and others have their turn in between.

import type { Turns } from '../runtime/turns.ts'

/** One place where two values differ. `before` or `after` is missing where there is none. */
export interface JsonChange {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

const JSON_CHANGES_MAX = 100
const PLACES_PER_STEP = 200

type Holder = Readonly<Record<string, unknown>> | readonly unknown[]

/** Two lists, or two objects, that are being compared. */
interface Pair {
  readonly path: string
  readonly before: Holder
  readonly after: Holder
  /** Null for lists. */
  readonly names: readonly string[] | null
  readonly size: number
  at: number
}

/** Where two values differ, as JSON Pointers; at most JSON_CHANGES_MAX places. */
export async function jsonChanges(
  before: unknown,
  after: unknown,
  turns: Pick<Turns, 'isSpent' | 'wait'>,
): Promise<readonly JsonChange[]> {
  const changes: JsonChange[] = []
  const pairs: Pair[] = []
  const look = (path: string, old: unknown, young: unknown): void => {
    const pair = pairOf(path, old, young)
    if (pair !== null) pairs.push(pair)
    else if (old !== young) changes.push(changeOf(path, old, young))
  }
  look('', before, after)
  for (let places = 1; changes.length < JSON_CHANGES_MAX; places++) {
    if (places % PLACES_PER_STEP === 0 && turns.isSpent) await turns.wait()
    const top = pairs.at(-1)
    if (top === undefined) break
    if (top.at === top.size) {
      pairs.pop()
      continue
    }
    const at = top.at++
    const name = top.names?.[at] ?? String(at)
    const [old, young] = [own(top.before, name), own(top.after, name)]
    if (old !== young) look(`${top.path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, old, young)
  }
  return changes
}

function pairOf(path: string, before: unknown, after: unknown): Pair | null {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return null
  if (Array.isArray(before) !== Array.isArray(after)) return null
  const [old, young] = [before as Holder, after as Holder]
  if (Array.isArray(old) && Array.isArray(young)) {
    return { path, before: old, after: young, names: null, size: Math.max(old.length, young.length), at: 0 }
  }
  const names = [...Object.keys(old), ...Object.keys(young).filter((name) => !Object.hasOwn(old, name))]
  return { path, before: old, after: young, names, size: names.length, at: 0 }
}

const changeOf = (path: string, before: unknown, after: unknown): JsonChange => ({
  path,
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
})

const own = (holder: Holder, name: string): unknown =>
  Object.hasOwn(holder, name) ? (holder as Readonly<Record<string, unknown>>)[name] : undefined
