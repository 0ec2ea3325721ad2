// Failures: dead letters by their cause, as a stream. What is broken, since when, how much, and who is on it.

import { useMemo, useState } from 'react'
import { Link, navigate, useParam } from '../../address.tsx'
import { useMay, useSeesAll } from '../../api/me.ts'
import { useList, useOperation } from '../../api/operations.ts'
import { causeWords } from '../../cause-words.ts'
import { count, many } from '../../format.ts'
import { Choice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { QueryField } from '../../parts/query-field.tsx'
import { useSelected } from '../../parts/selection.ts'
import { lastMinutes, Spark } from '../../parts/spark.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Empty, Failed, Waiting } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'
import { CASE_LOOKS, type Group } from './cases.ts'
import { MergeGroups } from './merge-groups.tsx'

const STATES = [
  ['open', 'Open'],
  ['acknowledged', 'Taken on'],
  ['resolved', 'Resolved'],
  ['ignored', 'Ignored'],
  ['all', 'All'],
] as const
const ORDERS = [
  ['recent', 'Latest first'],
  ['count', 'Largest first'],
] as const
const HOUR_MS = 3_600_000
const PAGE = 50
const TREND_MINUTES = 30

export default function FailuresPage() {
  const [state, setState] = useParam('state', 'open')
  const [order, setOrder] = useParam('order', 'recent')
  const [q, setQ] = useParam('q')
  const { keys: selected, toggle, clear } = useSelected()
  const [isMerging, setMerging] = useState(false)
  // What people do about a cause is for all tenants together.
  const seesAll = useSeesAll()
  const mayOperate = useMay('operate')
  const mayMerge = mayOperate && seesAll
  const counts = useOperation('counts', {})
  const now = useNow()
  const { items, error, more, hasMore } = useList('listFailureGroups', {
    order: order === 'count' ? 'count' : 'recent',
    limit: PAGE,
    ...(state === 'all' ? {} : { state: state as 'open' }),
    ...(q === '' ? {} : { q }),
  })
  const minute = Math.floor(now / 60_000)
  const columns = useMemo(() => columnsAt(minute * 60_000), [minute])
  const canMerge = mayMerge && selected.size > 1
  useCommands([
    ...(canMerge
      ? [
          {
            title: `Merge ${selected.size} causes`,
            key: 'm',
            group: 'On this page' as const,
            run: () => setMerging(true),
          },
        ]
      : []),
    { title: 'Redrives', group: 'On this page', run: () => navigate('/redrives') },
  ])
  return (
    <Page
      title="Failures"
      isFilled={true}
      sentence={items === undefined ? undefined : sentenceOf(items, hasMore, state, counts.data?.dead ?? null, now)}
      actions={
        <>
          {canMerge && (
            <button type="button" className="button" onClick={() => setMerging(true)}>
              Merge {selected.size} causes …
            </button>
          )}
          <Link to="/redrives" className="button">
            Redrives
          </Link>
        </>
      }
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pb-2">
        <div className="min-w-0 flex-1 basis-72">
          <QueryField value={q} onChange={setQ} placeholder="Only of dead letters such as died<10m label.region:eu" />
        </div>
        {seesAll && <Choice label="State" value={state} options={STATES} onChange={setState} />}
        <Choice label="Order" value={order} options={ORDERS} onChange={setOrder} />
      </div>
      {error !== null && <Failed error={error} what="The causes" />}
      {items === undefined && error === null && <Waiting what="causes" />}
      {items?.length === 0 && <NoCause isFiltered={q !== '' || state !== 'open'} />}
      {items !== undefined && items.length > 0 && (
        <DataTable
          label="Causes"
          rows={items}
          keyOf={({ fingerprint }) => fingerprint}
          columns={columns}
          about={`${state} ${order} ${q}`}
          isFilled={true}
          isTall={true}
          onOpen={({ fingerprint }) => navigate(`/failures/${fingerprint}`)}
          onEnd={more}
          rowCommands={
            mayOperate
              ? [
                  {
                    title: 'Redrive the cause of the row',
                    key: 'r',
                    run: ({ fingerprint }) => navigate(`/failures/${fingerprint}?sheet=redrive`),
                  },
                ]
              : []
          }
          {...(mayMerge ? { selection: { has: (key: string) => selected.has(key), toggle } } : {})}
        />
      )}
      {isMerging && items !== undefined && (
        <MergeGroups
          groups={items.filter(({ fingerprint }) => selected.has(fingerprint))}
          onClose={() => {
            setMerging(false)
            clear()
          }}
        />
      )}
    </Page>
  )
}

function sentenceOf(
  groups: readonly Group[],
  hasMore: boolean,
  state: string,
  dead: number | null,
  now: number,
): string {
  if (groups.length === 0) return state === 'open' ? 'No cause is open.' : 'There is none here.'
  const tasks = groups.reduce((sum, group) => sum + group.count, 0)
  const actions = new Set(groups.map(({ action }) => action)).size
  const fresh = groups.filter(({ firstAt }) => now - firstAt < HOUR_MS).length
  const least = hasMore ? '≥ ' : ''
  const isAll = dead !== null && tasks === dead && !hasMore
  return [
    `${least}${many(tasks, 'dead task')} of ${many(actions, 'action')} ${tasks === 1 ? 'has' : 'have'} ${least}${many(groups.length, 'cause')}`,
    fresh === 0 ? '' : `, ${fresh === groups.length ? 'all' : count(fresh)} new in the last hour`,
    isAll || dead === null ? '.' : `. In all ${count(dead)} are dead.`,
  ].join('')
}

const NoCause = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No cause is like that.">Take a word out of the query, or look at all states.</Empty>
  ) : (
    <Empty title="Nothing has failed for good." command="npx reprise groups --state resolved">
      Tasks whose retries have ended come here, by their cause. What was resolved or ignored is under its state.
    </Empty>
  )

const columnsAt = (minute: number): readonly Column<Group>[] => [
  {
    id: 'state',
    title: 'State',
    hidesTitle: true,
    width: '20px',
    cell: (group) => {
      const { look, word } = CASE_LOOKS[group.case?.state.status ?? 'open']
      return <StateMark state={look} word={word} isShort={true} />
    },
  },
  {
    id: 'cause',
    title: 'Cause',
    isMain: true,
    width: 'minmax(0, 1fr)',
    cell: (group) => (
      <span className="block min-w-0">
        <Link
          to={`/failures/${group.fingerprint}`}
          className="block truncate font-semibold hover:underline max-sm:line-clamp-2 max-sm:whitespace-normal"
          tabIndex={-1}
        >
          <bdi>{causeWords(group.sample)}</bdi>
        </Link>
        <span className="block truncate text-sm text-dim">
          <bdi>{group.action}</bdi>
          {group.case?.state.because === 'regression' && <span className="text-dead"> · back again</span>}
          {(group.members?.length ?? 0) > 0 && ` · ${many((group.members?.length ?? 0) + 1, 'cause')} merged`}
          {(group.notes?.length ?? 0) > 0 && ` · ${many(group.notes?.length ?? 0, 'note')}`}
        </span>
      </span>
    ),
  },
  {
    id: 'trend',
    title: 'Last 30 minutes',
    isAbove: true,
    width: '100px',
    from: 620,
    cell: (group) => (
      <Spark
        label="Attempts that failed"
        values={lastMinutes(group.trend ?? [], minute, TREND_MINUTES, ({ attempts }) => attempts)}
      />
    ),
  },
  {
    id: 'count',
    title: 'Dead',
    width: '72px',
    isNumber: true,
    cell: (group) => <span className="font-semibold">{count(group.count)}</span>,
  },
  {
    id: 'began',
    title: 'First version',
    width: '104px',
    from: 1_060,
    cell: (group) => <bdi title={group.case?.firstVersion}>{group.case?.firstVersion ?? '–'}</bdi>,
  },
  {
    id: 'first',
    title: 'First',
    width: '76px',
    from: 760,
    isNumber: true,
    cell: ({ firstAt }) => <Ago at={firstAt} />,
  },
  {
    id: 'last',
    title: 'Last',
    width: '76px',
    from: 480,
    isNumber: true,
    cell: ({ lastAt }) => <Ago at={lastAt} />,
  },
  {
    id: 'owner',
    title: 'Owner',
    width: '140px',
    from: 960,
    cell: (group) => <bdi className="text-dim">{group.case?.owner ?? '–'}</bdi>,
  },
]
