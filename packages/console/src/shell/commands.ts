// Everything that can be done from the keyboard: pages and the actions of the page that is shown, registered while they can be
// done. The palette lists them, the help lists their keys, and a key pressed outside of a field does them.

import { useEffect, useRef, useSyncExternalStore } from 'react'

export interface Command {
  readonly title: string
  /** Such as `r`, or `g f` for one after the other. */
  readonly key?: string
  readonly group: 'Go to' | 'On this page' | 'Look'
  readonly run: () => void
}

const registered = new Map<symbol, readonly Command[]>()
const listeners = new Set<() => void>()
let all: readonly Command[] = []

function changed(): void {
  all = [...registered.values()].flat()
  for (const listener of listeners) listener()
}

export const allCommands = (): readonly Command[] => all

export const useAllCommands = (): readonly Command[] =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, allCommands)

/** Commands that count for as long as the component is shown. They may be made anew each time it is drawn. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  latest.current = commands
  const names = commands.map(({ title, key }) => `${title}\n${key ?? ''}`).join('\n\n')
  useEffect(() => {
    const mark = Symbol(names)
    registered.set(
      mark,
      latest.current.map((one, index) => ({ ...one, run: () => latest.current[index]?.run() })),
    )
    changed()
    return () => {
      registered.delete(mark)
      changed()
    }
  }, [names])
}

const EDITS = 'input, textarea, select, [contenteditable], dialog *, [data-own-keys]'
const SEQUENCE_MS = 1_200

/** Whether keys belong to what has the focus: a field, or something open over the page. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(EDITS) !== null

/** Hears keys for the whole page. */
export function listenForKeys(onOther: (event: KeyboardEvent) => void): () => void {
  let first: { readonly key: string; readonly at: number } | null = null
  const hear = (event: KeyboardEvent): void => {
    onOther(event)
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target)) return
    const typed = event.key
    const isSecond = first !== null && event.timeStamp - first.at < SEQUENCE_MS
    const wanted = isSecond && first !== null ? `${first.key} ${typed}` : typed
    first = null
    const found = all.findLast(({ key }) => key === wanted)
    if (found !== undefined) {
      event.preventDefault()
      found.run()
    } else if (all.some(({ key }) => key?.startsWith(`${typed} `) === true)) first = { key: typed, at: event.timeStamp }
  }
  window.addEventListener('keydown', hear)
  return () => window.removeEventListener('keydown', hear)
}
