// The whole period as Markdown for the post-mortem: to copy, or to save as a file.

import { incidentMarkdown, joinedIncident } from '@reprise/core'
import { useEffect, useState } from 'react'
import { call, type OperationInput } from '../../api/client.ts'
import { many } from '../../format.ts'
import { Sheet } from '../../parts/sheet.tsx'
import { Failed } from '../../parts/states.tsx'
import { CommandLine, Copy, shellWord } from '../../parts/texts.tsx'
import type { Line } from './incident-words.ts'

type Period = Omit<OperationInput<'getIncident'>, 'cursor'>

/** A hundred thousand entries: more is for the command, which writes to a file. */
const PAGES_MAX = 100

interface Read {
  readonly lines: readonly Line[]
  readonly isWhole: boolean
  readonly isDone: boolean
}

async function read(period: Period, signal: AbortSignal, tell: (read: Read) => void): Promise<void> {
  const lines: Line[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const found = await call('getIncident', { ...period, cursor }, signal)
    lines.push(...found.items)
    const isDone = found.next === null
    tell({ lines, isWhole: isDone, isDone: isDone || page + 1 === PAGES_MAX })
    if (found.next === null) return
    cursor = found.next
  }
}

export function ExportSheet({ period, onClose }: { readonly period: Period; readonly onClose: () => void }) {
  const [found, setFound] = useState<Read>({ lines: [], isWhole: false, isDone: false })
  const [error, setError] = useState<unknown>(null)
  const asked = JSON.stringify(period)
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    read(JSON.parse(asked) as Period, stop.signal, (some) => setFound({ ...some, lines: [...some.lines] })).catch(
      (failure: unknown) => {
        if (!stop.signal.aborted) setError(failure)
      },
    )
    return () => stop.abort()
  }, [asked])
  const text = found.isDone ? incidentMarkdown(joinedIncident(found.lines)) : ''
  const command = [
    'npx reprise incident export',
    ...Object.entries(period).map(([name, value]) => `--${name} ${shellWord(value ?? '')}`),
    '> post-mortem.md',
  ].join(' ')
  return (
    <Sheet
      title="For the post-mortem"
      onClose={onClose}
      actions={
        found.isDone ? (
          <>
            <button type="button" className="button button-main" onClick={() => save(text)}>
              Save as post-mortem.md
            </button>
            <Copy text={text} label="Copy Markdown" />
          </>
        ) : undefined
      }
    >
      {error !== null && <Failed error={error} what="The incident" />}
      <p role="status" className="mb-2 text-md">
        {found.isDone
          ? found.isWhole
            ? 'All that happened in this period, whatever the list shows of it.'
            : `Only the first ${many(found.lines.length, 'line')}: the period is too long for a page. Use the command.`
          : `Reading: ${many(found.lines.length, 'line')} so far …`}
      </p>
      <p className="label mb-1">The same as a command</p>
      <CommandLine command={command} />
      {found.isDone && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, also with the keyboard
        <section aria-label="Markdown" tabIndex={0} className="mt-3 overflow-x-auto rounded-sm bg-sunken px-2 py-1.5">
          <pre className="font-mono text-sm">
            <bdi>{text.slice(0, SHOWN)}</bdi>
            {text.length > SHOWN && '\n…'}
          </pre>
        </section>
      )}
    </Sheet>
  )
}

/** A long one is not shown to its end. */
const SHOWN = 20_000

function save(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'post-mortem.md'
  link.click()
  URL.revokeObjectURL(url)
}
