// The chunks of a job as a grid, one cell each in their order: where it failed shows at a glance. States differ in shape and
// lightness as well as in colour. What the pointer is on is told in words below; a click opens its task.

import { type PointerEvent, useState } from 'react'
import { navigate, setParams, useParam } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { count } from '../../format.ts'
import { Answered } from '../../parts/states.tsx'
import { Section } from '../../shell/page.tsx'
import type { Job } from './job-words.tsx'

type Chunk = OperationOutput<'listJobChunks'>['items'][number]
type Kind = 'succeeded' | 'failed' | 'running' | 'open'

/** As many as one answer holds. */
const SHOWN = 1_000
const CELL = 12
const COLUMNS = 50

const KINDS: readonly (readonly [Kind, string, string])[] = [
  ['succeeded', '▪', 'succeeded'],
  ['failed', '✕', 'failed'],
  ['running', '●', 'running'],
  ['open', '▫', 'waits'],
]
const COLOURS: Readonly<Record<Kind, string>> = {
  succeeded: 'text-succeeded',
  failed: 'text-dead',
  running: 'text-running',
  open: 'text-queued',
}

function kindOf({ status }: Chunk): Kind {
  if (status === 'succeeded') return 'succeeded'
  if (status === 'running') return 'running'
  return status === 'queued' || status === 'waiting' ? 'open' : 'failed'
}

export function ChunkGrid({ job }: { readonly job: Job }) {
  const [from] = useParam('from', '0')
  const first = Math.max(0, Number.parseInt(from, 10) || 0)
  const asked = useOperation('listJobChunks', { id: job.id, cursor: String(first), limit: SHOWN })
  const all = job.total ?? job.received
  return (
    <Section
      title="Chunks"
      aside={
        all > SHOWN && (
          <span className="flex items-center gap-2">
            {count(first)} to {count(Math.min(first + SHOWN, all) - 1)} of {count(all)}
            {first > 0 && (
              <button
                type="button"
                className="link"
                onClick={() => setParams({ from: String(Math.max(0, first - SHOWN)) })}
              >
                before
              </button>
            )}
            {first + SHOWN < all && (
              <button type="button" className="link" onClick={() => setParams({ from: String(first + SHOWN) })}>
                next
              </button>
            )}
          </span>
        )
      }
    >
      <Answered of={asked} what="the chunks">
        {({ items }) => <Cells chunks={items} first={first} />}
      </Answered>
    </Section>
  )
}

function Cells({ chunks, first }: { readonly chunks: readonly Chunk[]; readonly first: number }) {
  const [over, setOver] = useState<Chunk | null>(null)
  if (chunks.length === 0) return <p className="text-dim">None was handed in yet.</p>
  const columns = Math.min(COLUMNS, chunks.length)
  const rows = Math.ceil(chunks.length / COLUMNS)
  const counts = Map.groupBy(chunks, kindOf)
  const chunkAt = (event: PointerEvent<SVGSVGElement>): Chunk | null => {
    const { left, top, width } = event.currentTarget.getBoundingClientRect()
    const cell = width / columns
    const [x, y] = [Math.floor((event.clientX - left) / cell), Math.floor((event.clientY - top) / cell)]
    return chunks[y * COLUMNS + x] ?? null
  }
  return (
    <>
      <svg
        role="img"
        aria-label={`Chunks ${first} to ${first + chunks.length - 1}: ${KINDS.map(([kind, , word]) => `${counts.get(kind)?.length ?? 0} ${word}`).join(', ')}`}
        viewBox={`0 0 ${columns * CELL} ${rows * CELL}`}
        className="w-full cursor-pointer"
        style={{ maxWidth: columns * CELL * 1.25 }}
        onPointerMove={(event) => setOver(chunkAt(event))}
        onPointerLeave={() => setOver(null)}
        onPointerUp={(event) => {
          const chunk = chunkAt(event)
          if (chunk !== null) navigate(`/tasks/${encodeURIComponent(chunk.taskId)}`)
        }}
      >
        {KINDS.map(([kind]) => (
          <path
            key={kind}
            d={chunks.map((chunk, index) => (kindOf(chunk) === kind ? shapeOf(kind, index) : '')).join('')}
            className={COLOURS[kind]}
            stroke="currentColor"
            strokeWidth={kind === 'failed' ? 2 : 1}
            fill={kind === 'succeeded' || kind === 'running' ? 'currentColor' : 'none'}
            fillOpacity={kind === 'succeeded' ? 0.35 : 1}
            strokeOpacity={kind === 'succeeded' ? 0.5 : 1}
          />
        ))}
      </svg>
      <p className="mt-1 min-h-5 text-sm text-dim">
        {over === null ? (
          KINDS.filter(([kind]) => counts.has(kind)).map(([kind, shape, word]) => (
            <span key={kind} className="mr-4">
              <span aria-hidden="true" className={COLOURS[kind]}>
                {shape}
              </span>{' '}
              {count(counts.get(kind)?.length ?? 0)} {word}
            </span>
          ))
        ) : (
          <bdi>
            chunk {over.place}: {over.status}
            {over.failure === undefined ? '' : `, ${over.failure.message}`}
          </bdi>
        )}
      </p>
    </>
  )
}

function shapeOf(kind: Kind, index: number): string {
  const x = (index % COLUMNS) * CELL
  const y = Math.floor(index / COLUMNS) * CELL
  if (kind === 'failed') return `M${x + 2} ${y + 2}l8 8m0 -8l-8 8`
  if (kind === 'running') return `M${x + 2.5} ${y + 6}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`
  return `M${x + 1.5} ${y + 1.5}h9v9h-9z`
}
