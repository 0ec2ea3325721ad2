// Two texts, line by line, where they differ: what went, what came, and a few lines around it.

import { useMemo } from 'react'
import { many } from '../format.ts'
import { lineDiff } from './line-diff.ts'

/** Lines that are shown around what differs. */
const AROUND = 3

const SIGNS = { same: ' ', gone: '−', new: '+' } as const
const COLOURS = { same: '', gone: 'bg-dead-soft', new: 'bg-accent-soft' } as const
const WORDS = { same: '', gone: 'gone: ', new: 'new: ' } as const

export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => lineDiff(before, after), [before, after])
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ kind }) => kind !== 'same'),
  )
  const [gone, come] = (['gone', 'new'] as const).map((kind) => lines.filter((line) => line.kind === kind).length)
  if (gone === 0 && come === 0) return <p className="text-dim">They say the same.</p>
  return (
    <figure>
      <figcaption className="label mb-1">
        {many(come ?? 0, 'line comes', 'lines come')}, {many(gone ?? 0, 'line goes', 'lines go')}
      </figcaption>
      <section
        aria-label="The difference"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-sm border border-line font-mono text-sm"
      >
        {lines.map(({ kind, text }, index) =>
          near[index] === true ? (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: the place is what tells lines apart
              key={index}
              className={`px-2 whitespace-pre-wrap break-words ${COLOURS[kind]}`}
            >
              <span aria-hidden="true" className="text-dim select-none">
                {SIGNS[kind]}{' '}
              </span>
              <span className="sr-only">{WORDS[kind]}</span>
              <bdi>{text}</bdi>
            </div>
          ) : near[index - 1] === true ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what tells lines apart
            <div key={index} className="px-2 text-dim">
              …
            </div>
          ) : null,
        )}
      </section>
    </figure>
  )
}
