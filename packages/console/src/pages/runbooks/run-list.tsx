// Runs of runbooks, the newest first.

import { Link, navigate } from '../../address.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Ago } from '../../parts/texts.tsx'
import { RUN_LOOKS, type Run, runAddress } from './runbook-words.ts'

export const RunList = ({
  runs,
  onEnd = null,
  isFilled = true,
}: {
  readonly runs: readonly Run[]
  readonly onEnd?: (() => void) | null
  readonly isFilled?: boolean
}) => (
  <DataTable
    label="Runs"
    rows={runs}
    keyOf={({ id }) => id}
    columns={COLUMNS}
    isFilled={isFilled}
    onEnd={onEnd}
    onOpen={({ id }) => navigate(runAddress(id))}
  />
)

const COLUMNS: readonly Column<Run>[] = [
  {
    id: 'state',
    title: 'State',
    width: '108px',
    cell: ({ state }) => <StateMark state={RUN_LOOKS[state][0]} word={RUN_LOOKS[state][1]} />,
  },
  {
    id: 'what',
    title: 'Runbook',
    width: 'minmax(0, 1fr)',
    cell: ({ id, title, isDryRun }) => (
      <Link to={runAddress(id)} tabIndex={-1} className="hover:underline">
        <bdi>{title}</bdi>
        {isDryRun && <span className="text-dim"> · dry run</span>}
      </Link>
    ),
  },
  {
    id: 'why',
    title: 'Reason, or what it asks',
    width: 'minmax(0, 1.5fr)',
    from: 620,
    cell: ({ reason, question }) => (
      <bdi className={question === null ? 'text-dim' : ''} title={question?.text ?? reason}>
        {question?.text ?? reason}
      </bdi>
    ),
  },
  {
    id: 'by',
    title: 'By',
    width: 'minmax(0, 140px)',
    from: 760,
    cell: ({ actor }) => (
      <bdi className="text-dim" title={actor}>
        {actor}
      </bdi>
    ),
  },
  {
    id: 'when',
    title: 'Began',
    width: '76px',
    from: 420,
    isNumber: true,
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
]
