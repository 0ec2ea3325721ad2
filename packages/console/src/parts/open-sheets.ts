// Which sheet is on top. What stands outside of a modal dialog can't be pressed, so notes with an undo move into it.

import { useSyncExternalStore } from 'react'

let sheets: readonly HTMLElement[] = []
const listeners = new Set<() => void>()

function change(next: readonly HTMLElement[]): void {
  sheets = next
  for (const listener of listeners) listener()
}

/** Says that a sheet was opened; the answer says that it is closed. */
export function sheetOpened(sheet: HTMLElement): () => void {
  change([...sheets, sheet])
  return () => change(sheets.filter((one) => one !== sheet))
}

export const useTopSheet = (): HTMLElement | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => sheets.at(-1) ?? null,
  )
