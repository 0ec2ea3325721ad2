// What can be done to lanes: hold them, let them go on, limit how many of their tasks run. A change is about a scope: lanes that
// are there now and those to come.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { type Scope, scopeOptions, scopeWords, statedScope } from '../../gate-words.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'

export type LaneVerb = 'pause' | 'resume' | 'limit'

export interface LaneChange {
  readonly verb: LaneVerb
  readonly scope: Scope
  /** The lanes of this scope that there are now, and their tasks. */
  readonly lanes: number
  readonly live: number
  readonly running: number
}

const CONCURRENCY_MAX = 1_000_000

export function LaneConfirm({ change, onClose }: { readonly change: LaneChange; readonly onClose: () => void }) {
  const [limit, setLimit] = useState('')
  if (change.verb === 'pause') return <Confirm change={pauseOf(change)} onClose={onClose} />
  if (change.verb === 'resume') return <Confirm change={resumeOf(change)} onClose={onClose} />
  return (
    <Confirm
      onClose={onClose}
      change={limitOf(
        change,
        limit,
        <label className="flex flex-col gap-1">
          <span className="label">How many may run at once; empty for no limit</span>
          <input
            className="field"
            inputMode="numeric"
            pattern="[0-9]{0,7}"
            value={limit}
            onChange={(event) => setLimit(event.target.value.trim())}
          />
        </label>,
      )}
    />
  )
}

const lanesWords = ({ lanes, live }: LaneChange): string =>
  `${many(lanes, 'lane')} with ${many(live, 'task')} that ${live === 1 ? 'has' : 'have'} not ended`

async function said(asked: Promise<{ readonly warnings?: readonly string[] | undefined }>, words: string) {
  const { warnings = [] } = await asked
  await refresh()
  return [words, ...warnings].join(' ')
}

const quietly = (scope: Scope, reason: string) => ({ ...statedScope(scope), reason })

function pauseOf(change: LaneChange): Change {
  const { scope, running } = change
  const what = scopeWords(scope)
  return {
    title: `Pause ${what}`,
    verb: 'Pause',
    isDangerous: Object.keys(scope).length === 0,
    needsReason: true,
    command: `npx reprise lanes pause ${scopeOptions(scope)}`,
    touches: (
      <p>
        Holds <bdi>{what}</bdi>: {lanesWords(change)}, and every lane like that to come. {runningWords(running)} Nothing
        new starts until somebody lets it go on. Submissions are still accepted.
      </p>
    ),
    run: async (reason) => ({
      says: await said(call('pauseLanes', { ...statedScope(scope), reason }), `Held: ${what}.`),
      undo: () => call('resumeLanes', quietly(scope, 'Undo of the pause.')),
    }),
  }
}

const runningWords = (running: number): string =>
  running === 0 ? 'Nothing runs now.' : `What runs now (${count(running)}) runs to its end.`

function resumeOf({ scope }: LaneChange): Change {
  const what = scopeWords(scope)
  return {
    title: `Let ${what} go on`,
    verb: 'Resume',
    needsReason: true,
    command: `npx reprise lanes resume ${scopeOptions(scope)}`,
    touches: (
      <p>
        Lifts the hold on exactly <bdi>{what}</bdi>. What other holds, limits and breakers hold stays held.
      </p>
    ),
    run: async (reason) => {
      const { changed } = await call('resumeLanes', { ...statedScope(scope), reason })
      await refresh()
      if (!changed) return `Nothing to do: no hold of yours is on exactly ${what}.`
      return {
        says: `Goes on: ${what}.`,
        undo: () => call('pauseLanes', quietly(scope, 'Undo of the resume.')),
      }
    },
  }
}

function limitOf(change: LaneChange, limit: string, fields: Change['fields']): Change {
  const { scope, running } = change
  const what = scopeWords(scope)
  const concurrency = limit === '' ? null : Number(limit)
  const isReady = concurrency === null || (/^\d{1,7}$/.test(limit) && concurrency <= CONCURRENCY_MAX)
  return {
    title: `Limit ${what}`,
    verb: concurrency === null ? 'Lift the limit' : 'Limit',
    needsReason: true,
    command: `npx reprise lanes limit ${concurrency === null ? 'none' : limit} ${scopeOptions(scope)}`,
    fields,
    isReady,
    touches: (
      <p>
        How many tasks of <bdi>{what}</bdi> run at once, in all of its lanes together: {lanesWords(change)}.{' '}
        {count(running)} {running === 1 ? 'runs' : 'run'} now; a lower limit ends none of them. It takes the place of
        the limit that is set on exactly this.
      </p>
    ),
    run: (reason) =>
      said(
        call('limitLanes', { ...statedScope(scope), concurrency, reason }),
        concurrency === null ? `No limit any more: ${what}.` : `At most ${count(concurrency)} run at once: ${what}.`,
      ),
  }
}
