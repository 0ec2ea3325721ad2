// Rows that don't jump: while the pointer or the focus is in a list, or somebody has scrolled in it, each row stays where it is. New
// rows wait, and their number is told; rows that are gone stay and look like it; rows that are there are brought up to date in place.

import { useRef, useState } from 'react'

interface Held<Row> {
  readonly rows: readonly Row[]
  /** How many new rows wait. */
  readonly waiting: number
  /** Whether the rows, or their order, are others than they would be now. */
  readonly isHeld: boolean
  /** Keys of rows that are no longer in the list. */
  readonly gone: ReadonlySet<string>
}

interface HeldRows<Row> extends Held<Row> {
  readonly show: () => void
  readonly setScrolled: (is: boolean) => void
  /** For the element around the list. */
  readonly around: {
    readonly onPointerEnter: () => void
    readonly onPointerLeave: () => void
    readonly onFocus: () => void
    readonly onBlur: () => void
  }
}

/** What was shown last, and what it was made of. */
interface Shown<Row> {
  readonly of: readonly Row[]
  readonly about: string
  readonly isInside: boolean
  readonly byKey: ReadonlyMap<string, Row>
  readonly held: Held<Row>
}

const NONE: ReadonlySet<string> = new Set()

export function useHeldRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string, about: string): HeldRows<Row> {
  const [inside, setInside] = useState({ pointer: false, focus: false, scrolled: false })
  const [, setTurn] = useState(0)
  const shown = useRef<Shown<Row> | null>(null)
  const isInside = inside.pointer || inside.focus || inside.scrolled
  const { current } = shown
  const isSame = current !== null && current.of === rows && current.about === about && current.isInside === isInside
  if (!isSame) {
    const before = isInside && current?.about === about ? current.byKey : new Map<string, Row>()
    shown.current = { of: rows, about, isInside, ...holdRows(before, new Map(rows.map((row) => [keyOf(row), row]))) }
  }
  const held = shown.current?.held ?? { rows, waiting: 0, isHeld: false, gone: NONE }
  const enter = (which: keyof typeof inside, is: boolean): void =>
    setInside((old) => (old[which] === is ? old : { ...old, [which]: is }))
  return {
    ...held,
    show: () => {
      shown.current = null
      setTurn((turn) => turn + 1)
    },
    setScrolled: (is) => enter('scrolled', is),
    around: {
      onPointerEnter: () => enter('pointer', true),
      onPointerLeave: () => enter('pointer', false),
      onFocus: () => enter('focus', true),
      onBlur: () => enter('focus', false),
    },
  }
}

/** The rows as they were, with what is known of them now, and behind them the further pages: these push nothing away. */
export function holdRows<Row>(
  before: ReadonlyMap<string, Row>,
  now: ReadonlyMap<string, Row>,
): { readonly byKey: ReadonlyMap<string, Row>; readonly held: Held<Row> } {
  const [was, is] = [[...before.keys()], [...now.keys()]]
  if (was.every((key, at) => is[at] === key))
    return { byKey: now, held: { rows: [...now.values()], waiting: 0, isHeld: false, gone: NONE } }
  const lastKnown = is.findLastIndex((key) => before.has(key))
  const further = lastKnown < 0 ? [] : [...now].slice(lastKnown + 1)
  const byKey = new Map([...[...before].map(([key, row]) => [key, now.get(key) ?? row] as const), ...further])
  // Rows behind the last one that is still there may only have been pushed to a page that was not read.
  const lastThere = was.findLastIndex((key) => now.has(key))
  return {
    byKey,
    held: {
      rows: [...byKey.values()],
      waiting: is.filter((key) => !byKey.has(key)).length,
      isHeld: true,
      gone: new Set(was.slice(0, lastThere + 1).filter((key) => !now.has(key))),
    },
  }
}
