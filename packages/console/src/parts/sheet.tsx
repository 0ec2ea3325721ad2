// A sheet at the side, or a small dialog in the middle: the browser's own modal, which keeps the focus inside, closes with Esc
// and gives the focus back. Nothing of it needs a style or a script in the page.

import { type ReactNode, useEffect, useId, useRef } from 'react'
import { sheetOpened } from './open-sheets.ts'

interface SheetProps {
  readonly title: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
  /** What can be done, at the bottom. */
  readonly actions?: ReactNode
  readonly kind?: 'side' | 'middle'
}

const SHAPES = {
  side: 'my-0 mr-0 ml-auto h-dvh max-h-dvh w-[640px] max-w-full border-l',
  middle: 'mx-auto mt-[12vh] mb-auto max-h-[80dvh] w-[520px] max-w-[calc(100%-16px)] rounded-md border',
} as const

export function Sheet({ title, onClose, children, actions, kind = 'side' }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const { current } = dialog
    if (current?.open === false) {
      current.showModal()
      // The browser would take the first button, which closes it: who opens a form wants to type.
      current.querySelector<HTMLElement>('[data-body] :is(input, textarea, select)')?.focus()
    }
    const closed = current === null ? undefined : sheetOpened(current)
    return () => {
      closed?.()
      current?.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      className={`arrives border-line bg-raised p-0 ${SHAPES[kind]}`}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div className={`flex flex-col ${kind === 'side' ? 'h-full' : 'max-h-[80dvh]'}`}>
        <header className="flex items-center gap-3 border-b border-line px-4 py-2">
          <h2 id={id} className="min-w-0 flex-1 text-md font-semibold break-words">
            {title}
          </h2>
          <button type="button" className="button h-7" onClick={onClose}>
            Close
          </button>
        </header>
        <div data-body="" className="min-h-0 flex-1 overflow-auto px-4 py-3" tabIndex={-1}>
          {children}
        </div>
        {actions !== undefined && (
          <footer className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2.5">{actions}</footer>
        )}
      </div>
    </dialog>
  )
}
