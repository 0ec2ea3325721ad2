// The frame of a page: where you are, the one sentence that answers its question, what can be done, and the evidence below.

import { type ReactNode, useEffect } from 'react'

interface PageProps {
  /** Where you are, the last part is the page: ['Failures', 'ECONNREFUSED']. */
  readonly title: string
  /** Before the title, such as a link to the list. */
  readonly above?: ReactNode
  /** The answer. */
  readonly sentence?: ReactNode
  readonly actions?: ReactNode
  /** Whether a list fills the rest of the screen and scrolls by itself. */
  readonly isFilled?: boolean
  readonly children: ReactNode
}

export function Page({ title, above, sentence, actions, isFilled = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Reprise`
  }, [title])
  return (
    <main
      id="main"
      tabIndex={-1}
      className={`min-w-0 flex-1 outline-none ${isFilled ? 'flex min-h-0 flex-col overflow-hidden' : 'overflow-auto'}`}
    >
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 pt-3 pb-2">
        <div className="min-w-0 flex-1 basis-64">
          <h1 className="flex gap-1 text-sm font-semibold text-dim">
            {above !== undefined && <span className="shrink-0">{above}</span>}
            <bdi className="line-clamp-2 break-words" title={title}>
              {title}
            </bdi>
          </h1>
          {sentence !== undefined && (
            <p className="mt-0.5 max-w-4xl text-md font-medium break-words text-ink lg:text-lg">{sentence}</p>
          )}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className={isFilled ? 'flex min-h-0 flex-1 flex-col px-4' : 'px-4 pb-16 sm:pb-6'}>{children}</div>
    </main>
  )
}

/** A part of a page under a small heading. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string
  readonly aside?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className="mt-4 min-w-0" aria-label={title}>
      <div className="flex items-baseline gap-3">
        <h2 className="section">{title}</h2>
        {aside !== undefined && <div className="text-sm text-dim">{aside}</div>}
      </div>
      {children}
    </section>
  )
}
