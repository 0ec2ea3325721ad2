// A list of any length: only what is seen is drawn. Keys move a row at a time (j, k, arrows), open it (Enter) and select it (x).
// The list that fills a page hears j and k wherever the focus is. Columns say from which width on they are shown. On a phone the
// column that matters most gets a line of its own, below the others.

import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { many } from '../format.ts'
import { usePreferences } from '../preferences.ts'
import { isTyping, useCommands } from '../shell/commands.ts'
import { nameCut } from './cut-text.ts'
import { useHeldRows } from './held-rows.ts'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** As CSS grid says it: `80px`, `minmax(0, 1fr)`. */
  readonly width: string
  /** The least width of the list at which it is shown; always if missing. */
  readonly from?: number
  /** Gets a line of its own where the list is narrow. */
  readonly isMain?: boolean
  /** Whether it is shown above that line, though the list is narrow. */
  readonly isAbove?: boolean
  readonly isNumber?: boolean
  /** For a column of marks: its title is for those who hear it. */
  readonly hidesTitle?: boolean
  readonly cell: (row: Row) => ReactNode
}

export interface Selection {
  readonly has: (key: string) => boolean
  readonly toggle: (key: string) => void
}

/** Something to do with the row that the keys are at. */
export interface RowCommand<Row> {
  readonly title: string
  readonly key: string
  readonly run: (row: Row) => void
}

interface DataTableProps<Row> {
  /** What it lists: 'Tasks'. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly onOpen?: (row: Row) => void
  readonly selection?: Selection
  readonly rowCommands?: readonly RowCommand<Row>[]
  /** Asked for more when the end is near; null when there is none. */
  readonly onEnd?: (() => void) | null
  /** What the list is about: rows wait only while it stays the same. */
  readonly about?: string
  /** Whether it fills its place and scrolls; otherwise it is as high as its rows. */
  readonly isFilled?: boolean
  /** Room for two lines. */
  readonly isTall?: boolean
}

const ROW = { normal: 32, dense: 28 } as const
const TALL = { normal: 48, dense: 44 } as const
/** A line more; two, where one is too short. */
const STACKED_PX = 20
const STACKED_BELOW = 480
const OVERSCAN = 10
const NEAR_END = 20
/** Until it is measured. */
const WIDTH = 1_000
const SELECT_WIDTH = '32px'

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, keyOf, columns, onOpen, selection, onEnd = null, about = '', isFilled = false, isTall = false } = props
  const { rows, waiting, isHeld, gone, show, setScrolled, around } = useHeldRows(props.rows, keyOf, about)
  const { density } = usePreferences()
  const scroller = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(WIDTH)
  const [at, setAt] = useState(0)
  const isStacked = width < STACKED_BELOW && columns.some(({ isMain = false }) => isMain)
  const rowHeight = (isTall ? TALL : ROW)[density] + (isStacked ? STACKED_PX : 0)
  useLayoutEffect(() => {
    const { current } = scroller
    if (current === null) return
    const measure = (): void => setWidth(current.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when rows get another height
  useLayoutEffect(() => virtual.measure(), [rowHeight, virtual])
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const isNearEnd = rows.length > 0 && last >= rows.length - NEAR_END
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, onEnd])
  const shown = columns.filter(
    ({ from = 0, isAbove = false, isMain = false }) => width >= from || (isStacked && (isAbove || isMain)),
  )
  const isBelow = ({ isMain = false }: Column<Row>): boolean => isStacked && isMain
  const aside = selection === undefined ? [] : [SELECT_WIDTH]
  const above = shown.filter((one) => !isBelow(one)).map((one) => one.width)
  // Stacked, the last one above the line takes the room that is left, and never less than it needs.
  const tracks = isStacked
    ? [...above.slice(0, -1), `minmax(${/^\d+px$/.exec(above.at(-1) ?? '')?.[0] ?? 0}, 1fr)`]
    : above
  const grid = { gridTemplateColumns: [...aside, ...tracks].join(' ') }
  const below = { gridColumn: `${aside.length + 1} / -1`, order: 1 }
  const active = Math.min(at, Math.max(rows.length - 1, 0))
  const go = (to: number): void => {
    const next = Math.max(0, Math.min(to, rows.length - 1))
    setAt(next)
    virtual.scrollToIndex(next)
    const focus = (): boolean => {
      const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`) ?? null
      row?.focus()
      return row !== null
    }
    // At once where the row is drawn: the next key may come before the next frame, and it is for this row.
    if (!focus()) requestAnimationFrame(focus)
  }
  useCommands(
    (props.rowCommands ?? []).map(({ title, key, run }) => ({
      title,
      key,
      group: 'On this page' as const,
      run: () => {
        const row = rows[active]
        if (row !== undefined) run(row)
      },
    })),
  )
  const latest = useRef({ go, active })
  latest.current = { go, active }
  useEffect(() => {
    if (!isFilled) return
    const hear = (event: globalThis.KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if ((event.key !== 'j' && event.key !== 'k') || isTyping(event.target)) return
      event.preventDefault()
      latest.current.go(latest.current.active)
    }
    window.addEventListener('keydown', hear)
    return () => window.removeEventListener('keydown', hear)
  }, [isFilled])
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const row = rows[active]
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? rowHeight) / rowHeight) - 1)
    const keys = new Map<string, () => void>([
      ['j', () => go(active + 1)],
      ['ArrowDown', () => go(active + 1)],
      ['k', () => go(active - 1)],
      ['ArrowUp', () => go(active - 1)],
      ['PageDown', () => go(active + page)],
      ['PageUp', () => go(active - page)],
      ['Home', () => go(0)],
      ['End', () => go(rows.length - 1)],
    ])
    if (row !== undefined && onOpen !== undefined) keys.set('Enter', () => onOpen(row))
    if (row !== undefined && selection !== undefined) keys.set('x', () => selection.toggle(keyOf(row)))
    const act = keys.get(event.key)
    // A link or box inside has keys of its own.
    if (act === undefined || (event.key === 'Enter' && event.target !== event.currentTarget && !isRow(event.target)))
      return
    event.preventDefault()
    event.stopPropagation()
    act()
  }
  return (
    <div className={`relative min-w-0 ${isFilled ? 'flex min-h-0 flex-1 flex-col' : ''}`} {...around}>
      {isHeld && (
        <button
          type="button"
          className="button button-main arrives absolute top-9 left-1/2 z-10 h-7 -translate-x-1/2"
          onClick={() => {
            show()
            // The button goes away, and with it the focus.
            requestAnimationFrame(() => latest.current.go(0))
          }}
        >
          {waiting > 0 ? many(waiting, 'new row') : 'Others, or in another order'}: show
        </button>
      )}
      <div
        ref={scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        tabIndex={rows.length === 0 ? 0 : -1}
        className={`overflow-auto border-t border-line ${isFilled ? 'min-h-0 flex-1' : 'max-h-[480px]'}`}
        onKeyDown={press}
        onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > rowHeight)}
        onPointerOver={({ target }) => nameCut(target)}
      >
        <div
          role="row"
          tabIndex={-1}
          aria-rowindex={1}
          className="sticky top-0 z-[1] grid h-7 items-center gap-x-3 border-b border-line bg-ground text-sm text-dim"
          style={grid}
        >
          {selection !== undefined && (
            <span role="columnheader" tabIndex={-1}>
              <span className="sr-only">Selected</span>
            </span>
          )}
          {shown.map(({ id, title, isNumber = false, hidesTitle = false, ...column }) => (
            <span
              key={id}
              role="columnheader"
              tabIndex={-1}
              className={`truncate ${isNumber ? 'text-right' : ''} ${isStacked && column.isMain === true ? 'sr-only' : ''}`}
            >
              {hidesTitle ? <span className="sr-only">{title}</span> : title}
            </span>
          ))}
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            const key = keyOf(row)
            const isSelected = selection?.has(key) ?? false
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the grid around has the keys
              <div
                key={key}
                ref={isStacked ? virtual.measureElement : undefined}
                role="row"
                data-index={index}
                data-key={key}
                aria-rowindex={index + 2}
                aria-selected={selection === undefined ? undefined : isSelected}
                tabIndex={index === active ? 0 : -1}
                className={`absolute inset-x-0 grid content-center items-center gap-x-3 border-b border-line -outline-offset-2 hover:bg-sunken ${isStacked ? 'py-1.5' : ''} ${
                  isSelected ? 'bg-accent-soft' : ''
                } ${onOpen === undefined ? '' : 'cursor-pointer'} ${gone.has(key) ? 'text-dim line-through' : ''}`}
                style={{
                  ...grid,
                  [isStacked ? 'minHeight' : 'height']: rowHeight,
                  transform: `translateY(${start}px)`,
                }}
                onFocus={() => setAt(index)}
                onClick={(event) => {
                  if (event.target instanceof Element && event.target.closest('a, button, input, label') !== null)
                    return
                  if (window.getSelection()?.isCollapsed === false) return
                  onOpen?.(row)
                }}
              >
                {selection !== undefined && (
                  <span
                    role="gridcell"
                    tabIndex={-1}
                    className={`flex justify-center ${isStacked ? 'row-span-2' : ''}`}
                  >
                    <input
                      type="checkbox"
                      aria-label={`Select ${key}`}
                      checked={isSelected}
                      tabIndex={-1}
                      onChange={() => selection.toggle(key)}
                    />
                  </span>
                )}
                {shown.map((column) => (
                  <span
                    key={column.id}
                    role="gridcell"
                    tabIndex={-1}
                    className={`cell min-w-0 ${isBelow(column) ? 'cell-below' : 'truncate'} ${column.isNumber === true ? 'text-right tabular-nums' : 'text-left'}`}
                    {...(isBelow(column) ? { style: below } : {})}
                  >
                    {column.cell(row)}
                  </span>
                ))}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

const isRow = (target: EventTarget): boolean => target instanceof Element && target.getAttribute('role') === 'row'
