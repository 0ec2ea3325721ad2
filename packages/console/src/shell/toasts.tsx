// What happened, in the corner: with undo where there is one, and the same as a command. A note goes by itself after a while,
// but not while it is read.

import { useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { refresh } from '../api/operations.ts'
import { useTopSheet } from '../parts/open-sheets.ts'
import { messageOf } from '../parts/states.tsx'
import { Copy } from '../parts/texts.tsx'
import { later } from '../time.ts'

interface ToastOptions {
  readonly command?: string
  readonly undo?: () => Promise<unknown>
}

interface Toast extends ToastOptions {
  readonly id: number
  readonly says: string
  /** Kept here, since a note moves when a sheet opens or closes. */
  readonly state: 'done' | 'undoing' | 'undone' | { readonly error: string }
}

const SHOWN_MS = 12_000

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

export function toast(says: string, options: ToastOptions = {}): void {
  const id = ++lastId
  change([...toasts.slice(-2), { id, says, state: 'done', ...options }])
  later(SHOWN_MS, () => dismissUnlessRead(id))
}

const dismiss = (id: number): void => change(toasts.filter((one) => one.id !== id))

/** Whether the pointer or the focus is on the notes. */
let isRead = false

function dismissUnlessRead(id: number): void {
  if (isRead) later(SHOWN_MS, () => dismissUnlessRead(id))
  else dismiss(id)
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  const sheet = useTopSheet()
  const notes = (
    <section
      aria-label="What happened"
      aria-live="polite"
      className={`fixed right-3 z-20 flex w-[380px] max-w-[calc(100%-24px)] flex-col gap-2 ${sheet === null ? 'bottom-14 sm:bottom-3' : 'bottom-14'}`}
      onPointerEnter={() => {
        isRead = true
      }}
      onPointerLeave={() => {
        isRead = false
      }}
    >
      {shown.map((one) => (
        <OneToast key={one.id} {...one} />
      ))}
    </section>
  )
  return sheet === null ? notes : createPortal(notes, sheet)
}

function OneToast({ id, says, command, undo, state }: Toast) {
  const setState = (next: Toast['state']): void =>
    change(toasts.map((one) => (one.id === id ? { ...one, state: next } : one)))
  const takeBack = async (): Promise<void> => {
    setState('undoing')
    try {
      await undo?.()
      setState('undone')
      await refresh()
    } catch (error) {
      setState({ error: messageOf(error) })
    }
  }
  return (
    <div className="arrives flex flex-wrap items-center gap-2 rounded-md border border-edge bg-raised px-3 py-2">
      <p className="min-w-0 flex-1 break-words">
        {state === 'undone' ? 'Taken back: ' : ''}
        {says}
        {typeof state === 'object' && <span className="block text-dead">✕ {state.error}</span>}
      </p>
      {undo !== undefined && state !== 'undone' && (
        <button
          type="button"
          className="button h-6 text-sm"
          disabled={state === 'undoing'}
          onClick={() => void takeBack()}
        >
          Undo
        </button>
      )}
      {command !== undefined && <Copy text={command} label="Copy command" />}
      <button type="button" className="button h-6 text-sm" onClick={() => dismiss(id)}>
        Dismiss
      </button>
    </div>
  )
}
