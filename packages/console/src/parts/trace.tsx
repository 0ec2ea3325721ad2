// The trace of a task: its id, and a link to where traces are looked at, if the reader has said where that is. The address is a
// preference of this browser.

import { parseTraceparent } from '@reprise/core'
import { type FormEvent, useState } from 'react'
import { prefer, usePreferences } from '../preferences.ts'
import { Copy } from './texts.tsx'

const PLACE = '{trace}'

/** Only addresses of the web: anything else in a link could be a script. */
const isAddress = (text: string): boolean => /^https?:\/\/[^\s]+$/.test(text) && text.includes(PLACE)

export function Trace({ traceparent }: { readonly traceparent: string }) {
  const { traces } = usePreferences()
  const [draft, setDraft] = useState<string | null>(null)
  const trace = parseTraceparent(traceparent)?.traceId
  if (trace === undefined) return null
  const save = (event: FormEvent): void => {
    event.preventDefault()
    prefer({ traces: draft?.trim() ?? '' })
    setDraft(null)
  }
  return (
    <div className="mt-2 flex flex-wrap items-center gap-2 text-sm text-dim">
      trace
      {isAddress(traces) ? (
        <a
          className="link font-mono"
          href={traces.replaceAll(PLACE, trace)}
          target="_blank"
          rel="noreferrer"
          title={trace}
        >
          {trace}
        </a>
      ) : (
        <span className="font-mono">{trace}</span>
      )}
      <Copy text={trace} />
      {draft === null ? (
        <button type="button" className="link" onClick={() => setDraft(traces)}>
          {traces === '' ? 'Link it to your tracing' : 'Change the link'}
        </button>
      ) : (
        <form className="flex min-w-0 flex-1 basis-80 gap-2" onSubmit={save}>
          <input
            className="field h-7 max-w-xl font-mono"
            aria-label={`Address of a trace, with ${PLACE} for its id`}
            placeholder={`https://tracing.example.com/trace/${PLACE}`}
            autoFocus={true}
            maxLength={500}
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          <button type="submit" className="button h-7" disabled={draft.trim() !== '' && !isAddress(draft.trim())}>
            Save
          </button>
        </form>
      )}
    </div>
  )
}
