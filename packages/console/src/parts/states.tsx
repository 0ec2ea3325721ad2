// What stands where there is nothing to show: not yet, nothing there, or something wrong. An empty page teaches, with something
// to copy. An error says what to do, and keeps what was there.

import { isRepriseError } from '@reprise/core'
import type { ReactNode } from 'react'
import { useIsAnswering } from '../api/answering.ts'
import { refresh } from '../api/operations.ts'
import { CommandLine } from './texts.tsx'

/** Nothing at first; then a sign that something comes. */
export function Waiting({ what }: { readonly what: string }) {
  const isAnswering = useIsAnswering()
  return (
    <p role="status" className="late py-4 text-dim">
      Reading {what} …
      {!isAnswering && <span className="text-dead"> ✕ The server does not answer. It is asked again.</span>}
    </p>
  )
}

export function Empty({
  title,
  children,
  command,
}: {
  readonly title: string
  readonly children?: ReactNode
  readonly command?: string
}) {
  return (
    <div className="max-w-xl py-6">
      <p className="text-md font-semibold">{title}</p>
      {children !== undefined && <div className="mt-1 text-dim">{children}</div>}
      {command !== undefined && (
        <div className="mt-3">
          <CommandLine command={command} />
        </div>
      )}
    </div>
  )
}

export const messageOf = (error: unknown): string => {
  if (isRepriseError(error, 'REPRISE_FORBIDDEN')) return `You may not see or do this. ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

export function Failed({ error, what }: { readonly error: unknown; readonly what: string }) {
  return (
    <div role="alert" className="my-2 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-sm bg-dead-soft px-3 py-2">
      <p className="min-w-0 break-words">
        <span className="font-semibold text-dead">✕ {what} could not be read.</span> <bdi>{messageOf(error)}</bdi>
      </p>
      <button type="button" className="button h-6 text-sm" onClick={() => void refresh()}>
        Try again
      </button>
    </div>
  )
}

interface Asked<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly isPlaceholderData?: boolean
}

/** One of four: what was asked for, with an error above it if it is old; an error; or a wait. */
export function Answered<T>({
  of,
  what,
  children,
}: {
  readonly of: Asked<T>
  readonly what: string
  readonly children: (data: T) => ReactNode
}) {
  const { data, error } = of
  if (data === undefined) return error === null ? <Waiting what={what} /> : <Failed error={error} what={what} />
  return (
    <>
      {error !== null && <Failed error={error} what={what} />}
      {children(data)}
    </>
  )
}
