// A value of others as text, laid out: it may be long, so it folds.

import { useState } from 'react'

const LINES = 24

export function JsonView({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  const lines = (JSON.stringify(value, null, 2) ?? 'null').split('\n')
  const isLong = lines.length > LINES
  return (
    <div className="rounded-sm bg-sunken px-2 py-1.5">
      <section aria-label="Value" className="font-mono text-sm wrap-anywhere whitespace-pre-wrap">
        <bdi>{(isWhole || !isLong ? lines : lines.slice(0, LINES)).join('\n')}</bdi>
      </section>
      {isLong && (
        <button type="button" className="button mt-1 h-6 text-sm" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Less' : `${lines.length - LINES} more lines`}
        </button>
      )}
    </div>
  )
}
