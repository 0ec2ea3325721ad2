// Rows that don't jump: while the pointer or the focus is in a list, rows that were not there wait, and their number is told. Rows
// that are there are brought up to date in place.

import { useMemo, useRef, useState } from 'react'

interface Held<Row> {
  readonly rows: readonly Row[]
  /** How many wait. */
  readonly waiting: number
  readonly show: () => void
  /** For the element around the list. */
  readonly around: {
    readonly onPointerEnter: () => void
    readonly onPointerLeave: () => void
    readonly onFocus: () => void
    readonly onBlur: () => void
  }
}

export function useHeldRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string, about: string): Held<Row> {
  const [isInside, setInside] = useState({ pointer: false, focus: false })
  const [, setTurn] = useState(0)
  const shown = useRef<{ about: string; keys: readonly string[] }>({ about, keys: [] })
  const isHeld = isInside.pointer || isInside.focus
  const { current } = shown
  const known = new Set(current.keys)
  const fresh = rows.filter((row) => !known.has(keyOf(row)))
  // New rows at the end are further pages: they push nothing away.
  const firstKnown = rows.findIndex((row) => known.has(keyOf(row)))
  const onTop = firstKnown < 0 ? fresh.length : rows.slice(0, firstKnown).length
  const holds = isHeld && current.about === about && current.keys.length > 0 && onTop > 0
  const result = useMemo(() => {
    if (!holds) return rows
    const byKey = new Map(rows.map((row) => [keyOf(row), row]))
    const kept = current.keys.flatMap((key) => byKey.get(key) ?? [])
    const more = rows.slice(firstKnown < 0 ? rows.length : firstKnown).filter((row) => !known.has(keyOf(row)))
    return [...kept, ...more]
  }, [holds, rows, keyOf, current.keys, firstKnown, known])
  if (!holds) shown.current = { about, keys: rows.map(keyOf) }
  const enter = (which: 'pointer' | 'focus', is: boolean) => () =>
    setInside((old) => (old[which] === is ? old : { ...old, [which]: is }))
  return {
    rows: result,
    waiting: holds ? onTop : 0,
    show: () => {
      shown.current = { about, keys: rows.map(keyOf) }
      setTurn((turn) => turn + 1)
    },
    around: {
      onPointerEnter: enter('pointer', true),
      onPointerLeave: enter('pointer', false),
      onFocus: enter('focus', true),
      onBlur: enter('focus', false),
    },
  }
}
