// Work orders: what waits for a person, as a list or as a board.

import { Link, navigate, setParams, useParam } from '../../address.tsx'
import { useMe } from '../../api/me.ts'
import { useList, useOperation } from '../../api/operations.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { Page } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'
import { Board } from './board.tsx'
import { type About, aboutOf, byNeed, ORDER_LOOKS, SEVERITY_SHAPES, sentenceOf, type WorkOrder } from './order-words.ts'

type Asked = 'open' | 'in_progress' | 'resolved' | 'wont_fix' | 'all'

const STATUSES = [
  { value: '', word: 'Live' },
  { value: 'open', word: 'Open' },
  { value: 'in_progress', word: 'In progress' },
  { value: 'resolved', word: 'Resolved' },
  { value: 'wont_fix', word: "Won't fix" },
  { value: 'all', word: 'All' },
] as const
const VIEWS = [
  { value: '', word: 'List' },
  { value: 'board', word: 'Board' },
] as const

/** Whose messages are known: those of the causes that tasks died of last. */
const CAUSES = 200

const addressOf = ({ id }: WorkOrder): string => `/work-orders/${encodeURIComponent(id)}`

export default function WorkOrdersPage() {
  const [status] = useParam('status')
  const [view] = useParam('view')
  const [owner] = useParam('owner')
  const [action] = useParam('action')
  const now = useNow()
  const isBoard = view === 'board'
  const { items, error, more, hasMore } = useList('listWorkOrders', {
    limit: 200,
    ...(isBoard ? { status: 'all' as const } : status === '' ? {} : { status: status as Asked }),
    ...(owner === '' ? {} : { owner }),
    ...(action === '' ? {} : { action }),
  })
  const rows = items?.toSorted(byNeed)
  const groups = useOperation('listFailureGroups', { limit: CAUSES }, { everyMs: 30_000 }).data?.items
  const about = aboutOf(new Map(groups?.map(({ fingerprint, sample }) => [fingerprint, sample.message])))
  return (
    <Page
      title="Work orders"
      isFilled={true}
      sentence={rows === undefined ? undefined : sentenceOf(rows, hasMore, now)}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        <AddressChoice label="As" param="view" choices={VIEWS} />
        {!isBoard && <AddressChoice label="Which work orders" param="status" choices={STATUSES} />}
        <Whose />
      </div>
      <Answered of={{ data: rows, error }} what="work orders">
        {(shown) =>
          shown.length === 0 ? (
            <Empty title="No work order is like that." command="npx reprise workorders --status all">
              Every cause with dead letters gets one within seconds, and it closes by itself once they have recovered. A
              policy says how bad it is, whose it is and what helps, with <code>escalation</code>.
            </Empty>
          ) : isBoard ? (
            <Board orders={shown} addressOf={addressOf} about={about} />
          ) : (
            <DataTable
              label="Work orders"
              rows={shown}
              keyOf={({ id }) => id}
              columns={columnsOf(about)}
              isFilled={true}
              about={`${status} ${owner} ${action}`}
              onOpen={(order) => navigate(addressOf(order))}
              onEnd={more}
            />
          )
        }
      </Answered>
    </Page>
  )
}

/** Mine, or of one action: from the address. */
function Whose() {
  const me = useMe().data?.actor
  const [owner] = useParam('owner')
  const [action] = useParam('action')
  return (
    <span className="flex flex-wrap items-center gap-3 text-sm">
      {me !== undefined && (
        <button
          type="button"
          aria-pressed={owner === me}
          className={`h-7 rounded-sm px-2 ${owner === me ? 'bg-accent-soft font-semibold text-accent' : 'text-dim hover:bg-sunken'}`}
          onClick={() => setParams({ owner: owner === me ? null : me })}
        >
          Mine
        </button>
      )}
      {owner !== '' && owner !== me && (
        <button type="button" className="link" onClick={() => setParams({ owner: null })}>
          of <bdi>{owner}</bdi>: of all
        </button>
      )}
      {action !== '' && (
        <button type="button" className="link" onClick={() => setParams({ action: null })}>
          <bdi>{action}</bdi>: all actions
        </button>
      )}
    </span>
  )
}

const columnsOf = (about: About): readonly Column<WorkOrder>[] => [
  {
    id: 'state',
    title: 'State',
    width: '104px',
    cell: ({ state }) => <StateMark state={ORDER_LOOKS[state.status][0]} word={ORDER_LOOKS[state.status][1]} />,
  },
  {
    id: 'severity',
    title: 'Severity',
    width: '88px',
    from: 480,
    cell: ({ severity }) => (
      <span className={severity === 'critical' || severity === 'high' ? 'text-dead' : 'text-dim'}>
        <span aria-hidden="true">{SEVERITY_SHAPES[severity]}</span>
        {severity}
      </span>
    ),
  },
  {
    id: 'action',
    title: 'Action',
    width: 'minmax(0, 1fr)',
    cell: (order) => (
      <Link to={addressOf(order)} tabIndex={-1} className="hover:underline">
        <bdi>{order.action}</bdi>
      </Link>
    ),
  },
  {
    id: 'subject',
    title: 'About',
    isMain: true,
    width: 'minmax(0, 2fr)',
    cell: (order) => <bdi title={about(order)}>{about(order)}</bdi>,
  },
  {
    id: 'owner',
    title: 'Owner',
    width: 'minmax(0, 1fr)',
    from: 480,
    cell: ({ owner }) => (owner === null ? <span className="text-dim">nobody</span> : <bdi title={owner}>{owner}</bdi>),
  },
  {
    id: 'due',
    title: 'Due',
    width: '76px',
    from: 560,
    isNumber: true,
    cell: (order) => <Due order={order} />,
  },
  {
    id: 'last',
    title: 'Last death',
    width: '84px',
    from: 760,
    isNumber: true,
    cell: ({ lastDeathAt }) => <Ago at={lastDeathAt} />,
  },
  {
    id: 'opened',
    title: 'Opened',
    isAbove: true,
    width: '76px',
    from: 480,
    isNumber: true,
    cell: ({ openedAt }) => <Ago at={openedAt} />,
  },
]

function Due({ order: { dueAt } }: { readonly order: WorkOrder }) {
  const now = useNow()
  if (dueAt === null) return '–'
  return (
    <span className={dueAt < now ? 'text-dead' : ''}>
      <Ago at={dueAt} />
    </span>
  )
}
