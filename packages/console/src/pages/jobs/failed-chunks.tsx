// The chunks of a job that failed, by cause: the one with the most first.

import { Link } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useList } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { Answered } from '../../parts/states.tsx'
import { Section } from '../../shell/page.tsx'
import type { Job } from './job-words.tsx'

type Chunk = OperationOutput<'listJobChunks'>['items'][number]

const READ = 200
const PLACES_SHOWN = 8

interface Cause {
  readonly fingerprint: string | null
  readonly message: string
  readonly reason: string
  readonly chunks: readonly Chunk[]
}

function causesOf(chunks: readonly Chunk[]): readonly Cause[] {
  const groups = Map.groupBy(chunks, ({ failure, status }) => failure?.fingerprint ?? status)
  return [...groups.values()]
    .map((its) => ({
      fingerprint: its[0]?.failure?.fingerprint ?? null,
      message: its[0]?.failure?.message ?? `ended as ${its[0]?.status}`,
      reason: its[0]?.failure?.reason ?? '',
      chunks: its,
    }))
    .toSorted((one, other) => other.chunks.length - one.chunks.length)
}

export function FailedChunks({ job }: { readonly job: Job }) {
  const { items, error, more, hasMore } = useList('listJobChunks', { id: job.id, status: 'failed', limit: READ })
  const known = items?.length ?? 0
  return (
    <Section title="Failed, by cause">
      <Answered of={{ data: items, error }} what="the failed chunks">
        {(chunks) => (
          <>
            <ul aria-label="Causes" className="border-t border-line">
              {causesOf(chunks).map((cause) => (
                <li
                  key={cause.fingerprint ?? cause.message}
                  className="flex flex-wrap gap-x-4 gap-y-1 border-b border-line py-1.5"
                >
                  <span className="w-20 shrink-0 text-right font-semibold text-dead">
                    {many(cause.chunks.length, 'chunk')}
                  </span>
                  <div className="min-w-0 flex-1 basis-64">
                    {cause.fingerprint !== null ? (
                      <Link className="link break-words" to={`/failures/${encodeURIComponent(cause.fingerprint)}`}>
                        <bdi>{cause.message}</bdi>
                      </Link>
                    ) : (
                      <bdi className="break-words">{cause.message}</bdi>
                    )}{' '}
                    <span className="text-sm text-dim">{cause.reason}</span>
                    <p className="text-sm text-dim">
                      at{' '}
                      {cause.chunks.slice(0, PLACES_SHOWN).map(({ place, taskId }, index) => (
                        <span key={taskId}>
                          {index > 0 && ', '}
                          <Link className="link" to={`/tasks/${encodeURIComponent(taskId)}`}>
                            {count(place)}
                          </Link>
                        </span>
                      ))}
                      {cause.chunks.length > PLACES_SHOWN && ` and ${count(cause.chunks.length - PLACES_SHOWN)} more`}
                    </p>
                  </div>
                </li>
              ))}
            </ul>
            {hasMore && (
              <button
                type="button"
                className="button mt-2 h-7 text-sm"
                disabled={more === null}
                onClick={() => more?.()}
              >
                {more === null ? 'Reading …' : `${count(known)} of ${count(Math.max(job.failed, known))} read: read on`}
              </button>
            )}
          </>
        )}
      </Answered>
    </Section>
  )
}
