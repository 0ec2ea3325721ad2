// Tasks: one query, a list of any length, and what can be done with all that the query finds.

import { Link, navigate, useParam } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { useList, useOperation } from '../../api/operations.ts'
import { causeWords } from '../../cause-words.ts'
import { count, many } from '../../format.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { isQuery, QueryField } from '../../parts/query-field.tsx'
import { useSelected } from '../../parts/selection.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { Empty, Failed, Waiting } from '../../parts/states.tsx'
import { Ago, Id } from '../../parts/texts.tsx'
import { usePreferences } from '../../preferences.ts'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { Columns, Views } from './views.tsx'

type Task = OperationOutput<'listTasks'>['items'][number]

/** Without these a row says nothing. */
const FIXED: ReadonlySet<string> = new Set(['status', 'action'])
const PAGE = 100
const COUNT_MS = 10_000

export default function TasksPage() {
  const [q, setQ] = useParam('q')
  const { keys: selected, isAll, toggle, takeAll, clear } = useSelected()
  const mayOperate = useMay('operate')
  const { hidden } = usePreferences()
  const columns = COLUMNS.filter(({ id }) => FIXED.has(id) || !hidden.includes(id))
  const { items, error, more, hasMore } = useList(
    'listTasks',
    { limit: PAGE, ...(q === '' ? {} : { q }) },
    { enabled: isQuery(q) },
  )
  const found = useOperation('countTasks', q === '' ? {} : { q }, {
    everyMs: COUNT_MS,
    live: false,
    keepsPrevious: false,
    enabled: isQuery(q),
  })
  const total = found.data
  useCommands(
    mayOperate && total !== undefined && total.count > 0
      ? [{ title: 'Select all that match', group: 'On this page', run: takeAll }]
      : [],
  )
  return (
    <Page title="Tasks" isFilled={true} sentence={sentenceOf(q, total, items?.length ?? null)}>
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2 pb-2">
        <div className="min-w-0 flex-1 basis-80">
          <QueryField
            value={q}
            onChange={(value) => {
              clear()
              setQ(value)
            }}
            placeholder="status:dead action:invoice.* tenant:acme age>1h"
          />
        </div>
        <Views
          q={q}
          onChange={(value) => {
            clear()
            setQ(value)
          }}
        />
        <Columns of={COLUMNS.filter(({ id }) => !FIXED.has(id))} />
      </div>
      {mayOperate && (selected.size > 0 || isAll) && (
        <div className="flex flex-wrap items-center gap-2 border-t border-line bg-accent-soft px-2 py-1.5">
          <span>
            {isAll
              ? `All ${total === undefined ? '' : `${total.next === null ? '' : '≥ '}${count(total.count)} `}that match are selected.`
              : `${many(selected.size, 'task')} selected.`}
          </span>
          {!isAll && total !== undefined && total.count > selected.size && (
            <button type="button" className="link" onClick={takeAll}>
              Select all {total.next === null ? '' : '≥ '}
              {count(total.count)} that match
            </button>
          )}
          <BulkActions
            what={isAll ? { q } : { ids: [...selected] }}
            count={isAll ? (total?.count ?? null) : selected.size}
            onDone={clear}
          />
          <button type="button" className="button h-7" onClick={clear}>
            Clear
          </button>
        </div>
      )}
      {error !== null && <Failed error={error} what="The tasks" />}
      {items === undefined && error === null && isQuery(q) && <Waiting what="tasks" />}
      {items?.length === 0 && !hasMore && <NoTask isFiltered={q !== ''} />}
      {items !== undefined && (items.length > 0 || hasMore) && (
        <DataTable
          label="Tasks"
          rows={items}
          keyOf={({ id }) => id}
          columns={columns}
          about={q}
          isFilled={true}
          onOpen={({ id }) => navigate(`/tasks/${encodeURIComponent(id)}`)}
          onEnd={more}
          rowCommands={[
            {
              title: 'Explain the task of the row',
              key: 'e',
              run: ({ id }) => navigate(`/tasks/${encodeURIComponent(id)}?tab=explain`),
            },
          ]}
          {...(mayOperate ? { selection: { has: (key: string) => isAll || selected.has(key), toggle } } : {})}
        />
      )}
    </Page>
  )
}

function sentenceOf(
  q: string,
  total: OperationOutput<'countTasks'> | undefined,
  shown: number | null,
): string | undefined {
  if (!isQuery(q)) return 'The query has a mistake: nothing was asked.'
  if (total === undefined) return shown === null ? undefined : `Counting …`
  const least = total.next === null ? '' : '≥ '
  if (q === '') return `${least}${many(total.count, 'task')} are kept here.`
  return total.count === 0 && total.next === null
    ? 'No task is like that.'
    : `${least}${many(total.count, 'task')} ${total.count === 1 ? 'is' : 'are'} like that.`
}

const NoTask = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No task is like that." command="npx reprise list 'status:dead age>1h'">
      Take a word out of the query. Fields have a colon (<code>status:dead</code>), times are compared (
      <code>age&gt;1h</code>), and a word alone is looked for in errors, ids and labels.
    </Empty>
  ) : (
    <Empty title="No task has come in yet." command={`npx reprise submit hello '{"name":"Ann"}' --wait`}>
      Submit one from your code, or from a terminal.
    </Empty>
  )

function detailOf({ state }: Task): string {
  const said = state as {
    readonly failure?: { readonly code: string; readonly name: string; readonly message: string }
    readonly reason?: string
  }
  if (said.failure !== undefined) return causeWords(said.failure)
  return said.reason?.replaceAll('_', ' ') ?? ''
}

const COLUMNS: readonly Column<Task>[] = [
  { id: 'status', title: 'Status', width: '92px', cell: ({ state }) => <StateMark state={state.status} /> },
  {
    id: 'id',
    title: 'Task',
    width: '112px',
    from: 620,
    cell: ({ id }) => (
      <Link to={`/tasks/${encodeURIComponent(id)}`} tabIndex={-1} className="hover:underline">
        <Id id={id} />
      </Link>
    ),
  },
  { id: 'action', title: 'Action', width: 'minmax(80px, 150px)', cell: ({ action }) => <bdi>{action}</bdi> },
  { id: 'tenant', title: 'Tenant', width: '110px', from: 760, cell: ({ tenant }) => <bdi>{tenant}</bdi> },
  { id: 'pool', title: 'Pool', width: '100px', from: 1_160, cell: ({ pool }) => <bdi>{pool}</bdi> },
  { id: 'attempt', title: 'Attempt', width: '60px', from: 860, isNumber: true, cell: ({ attempt }) => count(attempt) },
  {
    id: 'detail',
    title: 'Why',
    width: 'minmax(0, 1fr)',
    isMain: true,
    from: 620,
    cell: (task) => {
      const says = detailOf(task)
      // On a phone the line is there in any case.
      return says === '' ? (
        <span className="text-dim sm:hidden">
          <Id id={task.id} />
        </span>
      ) : (
        <bdi className="text-dim">{says}</bdi>
      )
    },
  },
  {
    id: 'version',
    title: 'Version',
    width: '80px',
    from: 1_060,
    cell: ({ lastWorker }) => <bdi className="text-dim">{lastWorker?.version ?? ''}</bdi>,
  },
  {
    id: 'accepted',
    title: 'Accepted',
    width: '68px',
    isNumber: true,
    cell: ({ acceptedAt }) => <Ago at={acceptedAt} />,
  },
]
