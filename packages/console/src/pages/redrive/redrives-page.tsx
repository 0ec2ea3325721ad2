// All redrives: which are under way, which halted, what came of the others.

import { Link, navigate } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useList } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Empty, Failed, Waiting } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { Page } from '../../shell/page.tsx'
import { REDRIVE_LOOKS } from './progress.tsx'
import { redriveWords } from './redrive-words.ts'

type Redrive = OperationOutput<'listRedrives'>['items'][number]

export default function RedrivesPage() {
  const { items, error, more } = useList('listRedrives', { limit: 200 })
  const rows = items?.toReversed()
  const running = rows?.filter(({ state }) => state === 'running').length ?? 0
  const halted = rows?.filter(({ state }) => state === 'halted').length ?? 0
  return (
    <Page
      title="Redrives"
      isFilled={true}
      sentence={
        rows === undefined
          ? undefined
          : halted > 0
            ? `${many(halted, 'redrive')} halted and ${halted === 1 ? 'waits' : 'wait'} for a decision.`
            : running > 0
              ? `${many(running, 'redrive')} under way.`
              : 'No redrive is under way.'
      }
      actions={
        <Link to="/failures" className="button">
          Failures
        </Link>
      }
    >
      {error !== null && <Failed error={error} what="The redrives" />}
      {rows === undefined && error === null && <Waiting what="redrives" />}
      {rows?.length === 0 && (
        <Empty
          title="Nothing was redriven yet."
          command={'npx reprise redrive plan --query "status:dead died<1h" --reason "after the fix"'}
        >
          A redrive sends dead letters back to work in stages, and halts by itself if the cause is still there. Begin at
          a{' '}
          <Link to="/failures" className="link">
            cause
          </Link>
          , or in a terminal:
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <DataTable
          label="Redrives"
          rows={rows}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          isFilled={true}
          onOpen={({ id }) => navigate(`/redrives/${id}`)}
          onEnd={more}
        />
      )}
    </Page>
  )
}

const COLUMNS: readonly Column<Redrive>[] = [
  {
    id: 'state',
    title: 'State',
    width: '104px',
    cell: ({ state }) => <StateMark state={REDRIVE_LOOKS[state].look} word={REDRIVE_LOOKS[state].word} />,
  },
  {
    id: 'what',
    title: 'Which dead letters',
    isMain: true,
    width: 'minmax(0, 1fr)',
    cell: (redrive) => (
      <Link to={`/redrives/${redrive.id}`} tabIndex={-1} className="hover:underline" title={redrive.selector}>
        <bdi>{redriveWords(redrive)}</bdi>
      </Link>
    ),
  },
  { id: 'reason', title: 'Reason', width: 'minmax(0, 1fr)', from: 760, cell: ({ reason }) => <bdi>{reason}</bdi> },
  { id: 'total', title: 'Tasks', width: '72px', from: 480, isNumber: true, cell: ({ total }) => count(total) },
  { id: 'recovered', title: 'Recovered', width: '84px', isNumber: true, cell: ({ counts }) => count(counts.recovered) },
  {
    id: 'failed',
    title: 'Failed',
    width: '64px',
    from: 480,
    isNumber: true,
    cell: ({ counts }) => <span className={counts.failed > 0 ? 'text-dead' : ''}>{count(counts.failed)}</span>,
  },
  {
    id: 'when',
    title: 'Made',
    width: '76px',
    from: 620,
    isNumber: true,
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
]
