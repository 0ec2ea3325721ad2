// All that this browser keeps: how the reader likes to look at things, with the queries that they saved. No data, no tokens.

import { useSyncExternalStore } from 'react'

export interface SavedView {
  readonly name: string
  readonly q: string
}

export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'normal' | 'dense'
  /** Queries for tasks that the reader gave a name. */
  readonly views: readonly SavedView[]
  /** Columns of the list of tasks that are not shown. */
  readonly hidden: readonly string[]
  /** Where traces are looked at, with `{trace}` for the id; empty for nowhere. */
  readonly traces: string
}

const DEFAULTS: Preferences = { theme: 'system', density: 'normal', views: [], hidden: ['pool'], traces: '' }
const VIEWS_MAX = 30

const KEY = 'reprise.preferences'
/** What another version wrote may look otherwise: only what fits is taken. */
const listOf = <Item>(value: unknown, isOne: (one: unknown) => one is Item): readonly Item[] =>
  Array.isArray(value) ? value.filter(isOne) : []

const isView = (one: unknown): one is SavedView =>
  typeof one === 'object' &&
  one !== null &&
  'name' in one &&
  'q' in one &&
  typeof one.name === 'string' &&
  typeof one.q === 'string'

function stored(): Preferences {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Readonly<Record<string, unknown>>
    const { theme, density, views, hidden, traces } = known
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : DEFAULTS.theme,
      density: density === 'dense' ? density : DEFAULTS.density,
      views: listOf(views, isView).slice(-VIEWS_MAX),
      hidden: Array.isArray(hidden) ? listOf(hidden, (one) => typeof one === 'string') : DEFAULTS.hidden,
      traces: typeof traces === 'string' ? traces : DEFAULTS.traces,
    }
  } catch {
    return DEFAULTS
  }
}

const listeners = new Set<() => void>()
// After everything that reading them takes.
let current: Preferences = stored()

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(current))
  } catch {
    // A browser that keeps nothing: it counts until the page is left.
  }
  applyTheme()
  for (const listener of listeners) listener()
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = current.theme
}

export const usePreferences = (): Preferences =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
