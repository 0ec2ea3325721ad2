// All that this browser keeps: how the reader likes to look at things. No data, no names, no tokens.

import { useSyncExternalStore } from 'react'

const DEFAULTS = { theme: 'system', density: 'normal' } as const

export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'normal' | 'dense'
}

const KEY = 'reprise.preferences'
const listeners = new Set<() => void>()
let current: Preferences = stored()

function stored(): Preferences {
  try {
    const { theme, density } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : DEFAULTS.theme,
      density: density === 'dense' ? density : DEFAULTS.density,
    }
  } catch {
    return DEFAULTS
  }
}

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
