// Sessions: browsers that are signed in, and to sign one out.

import { useState } from 'react'
import { call, type OperationOutput } from '../../api/client.ts'
import { refresh, useList } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, shellWord } from '../../parts/texts.tsx'

type Session = OperationOutput<'listSessions'>['items'][number]

export function Sessions() {
  const { items, error, more, hasMore } = useList('listSessions', { limit: 200 })
  const [ending, setEnding] = useState<Session | null>(null)
  const columns: readonly Column<Session>[] = [
    { id: 'name', title: 'Who', width: 'minmax(0, 1fr)', cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'actor',
      title: 'In the journal',
      width: 'minmax(0, 1fr)',
      from: 560,
      cell: ({ actor }) => <bdi className="font-mono text-sm">{actor}</bdi>,
    },
    {
      id: 'since',
      title: 'Signed in',
      width: '80px',
      from: 480,
      isNumber: true,
      cell: ({ startedAt }) => <Ago at={startedAt} />,
    },
    { id: 'seen', title: 'Last seen', width: '80px', isNumber: true, cell: ({ seenAt }) => <Ago at={seenAt} /> },
    { id: 'ends', title: 'Ends', width: '80px', from: 560, isNumber: true, cell: ({ endsAt }) => <Ago at={endsAt} /> },
    {
      id: 'act',
      title: 'Sign out',
      hidesTitle: true,
      width: '92px',
      cell: (session) => (
        <button type="button" className="button h-6 text-sm" onClick={() => setEnding(session)}>
          Sign out …
        </button>
      ),
    },
  ]
  return (
    <Answered of={{ data: items, error }} what="the sessions">
      {(sessions) => (
        <>
          <p className="pb-2 text-md">
            {hasMore ? '≥ ' : ''}
            {many(sessions.length, 'browser is', 'browsers are')} signed in.
          </p>
          {sessions.length === 0 ? (
            <Empty title="Nobody is signed in by a browser." command="npx reprise session list" />
          ) : (
            <DataTable label="Sessions" rows={sessions} keyOf={({ id }) => id} columns={columns} onEnd={more} />
          )}
          {ending !== null && <Confirm change={endOf(ending)} onClose={() => setEnding(null)} />}
        </>
      )}
    </Answered>
  )
}

function endOf({ id, name }: Session): Change {
  return {
    title: `Sign ${name} out`,
    verb: 'Sign out',
    isDangerous: true,
    hasReason: false,
    command: `npx reprise session revoke ${shellWord(id)}`,
    touches: <p>One browser. The server refuses it at its next request; what was done in it stays done.</p>,
    run: async () => {
      await call('revokeSession', { id })
      await refresh()
      return `${name} is signed out.`
    },
  }
}
