// One redrive: how far it is, why it halted, what came of each item.

import { Link, navigate, useParam, usePart } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useList, useOperation } from '../../api/operations.ts'
import { Choice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, Id } from '../../parts/texts.tsx'
import { Page, Section } from '../../shell/page.tsx'
import { PlanView } from './plan-view.tsx'
import { Progress, RedriveActs, redriveSentence } from './progress.tsx'
import { redriveWords } from './redrive-words.ts'

type Item = OperationOutput<'listRedriveItems'>['items'][number]

const STATUSES = [
  ['', 'All'],
  ['failed', 'Failed again'],
  ['skipped', 'Skipped'],
  ['recovered', 'Recovered'],
  ['pending', 'To go'],
] as const
const LOOKS: Readonly<Record<Item['status'], string>> = {
  pending: 'queued',
  sent: 'running',
  recovered: 'succeeded',
  failed: 'dead',
  skipped: 'cancelled',
  undone: 'cancelled',
  ended: 'cancelled',
}

export default function RedrivePage() {
  const id = usePart('id')
  const [status, setStatus] = useParam('status')
  const redrive = useOperation('getRedrive', { id }, { everyMs: 1_000 })
  const { items, more } = useList('listRedriveItems', {
    id,
    limit: 50,
    ...(status === '' ? {} : { status: status as Item['status'] }),
  })
  return (
    <Page
      title={redrive.data === undefined ? id : redriveWords(redrive.data)}
      above={
        <>
          <Link to="/redrives" className="link font-normal">
            Redrives
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={redrive.data === undefined ? undefined : redriveSentence(redrive.data)}
      actions={redrive.data === undefined ? undefined : <RedriveActs redrive={redrive.data} />}
    >
      <Answered of={redrive} what="the redrive">
        {(known) => (
          <>
            <p className="border-y border-line py-1.5 text-dim">
              <bdi>{known.actor}</bdi>, <Ago at={known.createdAt} />: <bdi className="text-ink">{known.reason}</bdi>{' '}
              <bdi className="font-mono text-sm break-words">{known.selector}</bdi>
            </p>
            <div className="mt-3 max-w-3xl">
              {known.state === 'ready' ? <PlanView redrive={known} /> : <Progress redrive={known} />}
            </div>
            <Section
              title="Items"
              aside={<Choice label="Items" value={status} options={STATUSES} onChange={setStatus} />}
            >
              {items !== undefined && items.length > 0 ? (
                <DataTable
                  label="Items"
                  rows={items}
                  keyOf={({ taskId }) => taskId}
                  columns={COLUMNS}
                  onOpen={({ taskId }) => navigate(`/tasks/${encodeURIComponent(taskId)}`)}
                  onEnd={more}
                  about={status}
                />
              ) : (
                <p className="text-dim">None.</p>
              )}
            </Section>
          </>
        )}
      </Answered>
    </Page>
  )
}

const COLUMNS: readonly Column<Item>[] = [
  {
    id: 'status',
    title: 'Status',
    width: '110px',
    cell: ({ status }) => <StateMark state={LOOKS[status]} word={status} />,
  },
  { id: 'task', title: 'Task', width: '120px', cell: ({ taskId }) => <Id id={taskId} /> },
  { id: 'action', title: 'Action', width: '160px', from: 620, cell: ({ action }) => <bdi>{action}</bdi> },
  { id: 'tenant', title: 'Tenant', width: '120px', from: 800, cell: ({ tenant }) => <bdi>{tenant}</bdi> },
  {
    id: 'why',
    title: 'Why',
    width: 'minmax(0, 1fr)',
    from: 480,
    cell: ({ again, why, cause, problem }) => (
      <bdi className="text-dim">{again?.message ?? problem ?? why ?? cause?.message ?? ''}</bdi>
    ),
  },
]
