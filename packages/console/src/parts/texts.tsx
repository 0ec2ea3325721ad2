// Small pieces of text that behave: times that tick with the exact moment on hover, ids that can be copied, numbers.

import { type ReactNode, useState } from 'react'
import { ago, count, moment, shortId, span, when } from '../format.ts'
import { later, useNow } from '../time.ts'

/** 4 s ago, counting along. */
export function Ago({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)} className="whitespace-nowrap">
      {ago(at, now)}
    </time>
  )
}

/** The moment itself by the reader's clock, after words such as "since". */
export function At({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)} className="whitespace-nowrap">
      {when(at, now)}
    </time>
  )
}

/** How long since, counting along: 4 m 10 s. */
export function Since({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)} className="whitespace-nowrap">
      {span(Math.max(0, now - at))}
    </time>
  )
}

export const Count = ({ value }: { readonly value: number }) => <span className="tabular-nums">{count(value)}</span>

const COPIED_MS = 1_500

/** Browsers have their clipboard for pages by HTTPS and of this machine alone, and a person may have forbidden it. */
async function putOnClipboard(text: string, near: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Inside a sheet, nothing outside of it can be selected.
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'sr-only'
    near.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}

/** Puts a text on the clipboard and says so. */
export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [says, setSays] = useState<string | null>(null)
  const copy = async (button: HTMLElement): Promise<void> => {
    const isDone = await putOnClipboard(text, button.parentElement ?? document.body)
    button.focus()
    setSays(isDone ? 'Copied' : 'Refused: select it')
    later(COPIED_MS, () => setSays(null))
  }
  return (
    <button
      type="button"
      className="button h-6 px-1.5 text-sm"
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      <span aria-live="polite">{says ?? label}</span>
    </button>
  )
}

/** An id: its end on the screen, all of it on hover and for the clipboard. */
export const Id = ({ id }: { readonly id: string }) => (
  <bdi className="font-mono text-sm" title={id}>
    {shortId(id)}
  </bdi>
)

/** Text of others: names, errors, payloads. It is text whatever it holds, and its direction stays inside. */
export const Foreign = ({
  children,
  className = '',
}: {
  readonly children: ReactNode
  readonly className?: string
}) => <bdi className={`break-words ${className}`}>{children}</bdi>

/** The same as a command, to copy. */
export function CommandLine({ command }: { readonly command: string }) {
  return (
    <div className="flex items-start gap-2 rounded-sm bg-sunken px-2 py-1.5">
      <code className="min-w-0 flex-1 font-mono text-sm wrap-anywhere whitespace-pre-wrap">{command}</code>
      <Copy text={command} />
    </div>
  )
}

/** A word for the shell: quoted where it needs to be. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
