// Journal: everything unusual and everything operators did, newest first; by task, actor, kind and time.

import { useState } from 'react'
import { Link, setParams, useParam, useParams } from '../../address.tsx'
import { useList } from '../../api/operations.ts'
import { formText } from '../../form-text.ts'
import { count, moment, when } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Id } from '../../parts/texts.tsx'
import { TIMES, TimeFields, timesIn } from '../../parts/time-fields.tsx'
import { Page } from '../../shell/page.tsx'
import { storeNow } from '../../time.ts'
import { type Entry, KINDS, kindOf, RANGE, RANGES, saysOf, searchOf, sentenceOf } from './entries.ts'
import { EntrySheet } from './entry-sheet.tsx'

/** Pages that are read without being asked for, unless they are full: what is rare may be a long way back. */
const PAGES_MAX = 10
const FULL = 20

export default function JournalPage() {
  const params = useParams()
  const [open] = useParam('entry')
  const input = searchOf(params)
  const { items, error, more, hasMore, pages } = useList('listEvents', input)
  const chosen = items?.find(({ id }) => id === open)
  const isFar = pages >= PAGES_MAX && (items?.length ?? 0) < pages * FULL
  return (
    <Page
      title="Journal"
      isFilled={true}
      sentence={items === undefined ? undefined : sentenceOf(items, hasMore, input, storeNow())}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        <AddressChoice label="Kind" param="type" choices={KINDS} />
        <AddressChoice label="How far back" param="since" missing={RANGE} choices={RANGES} />
        <Search />
      </div>
      <Answered of={{ data: items, error }} what="the journal">
        {(rows) =>
          rows.length === 0 && !hasMore ? (
            <Empty title="The journal has nothing like that." command="npx reprise events --since 7d">
              It has an entry for each failure, retry and loss, and for everything that an operator does. A first
              attempt that succeeds makes none. Look further back, or ask in a terminal:
            </Empty>
          ) : (
            <>
              {rows.length > 0 && (
                <DataTable
                  label="Journal"
                  rows={rows}
                  keyOf={({ id }) => id}
                  columns={COLUMNS}
                  isFilled={true}
                  about={JSON.stringify(input)}
                  onEnd={isFar ? null : more}
                  onOpen={({ id }) => setParams({ entry: id })}
                />
              )}
              {hasMore && (rows.length === 0 || isFar) && (
                <p className="py-2 text-dim">
                  {rows.length === 0 ? 'Nothing so far. ' : `${count(rows.length)} so far. `}
                  <button type="button" className="link" disabled={more === null} onClick={() => more?.()}>
                    {more === null ? 'Looking further …' : 'Look further'}
                  </button>
                </p>
              )}
            </>
          )
        }
      </Answered>
      {chosen !== undefined && <EntrySheet entry={chosen} onClose={() => setParams({ entry: null })} />}
    </Page>
  )
}

const FIELDS = [
  ['actor', 'done by', 'w-36'],
  ['task', 'task id', 'w-40'],
  ['q', 'about tasks that …', 'w-44'],
] as const

const isNarrow = (): boolean => window.matchMedia('(width <= 480px)').matches

function Search() {
  const params = useParams()
  const isSet = [...FIELDS, ...TIMES].some(([field]) => params[field] !== undefined)
  // On a phone the list comes first.
  const [isOpen, setOpen] = useState(false)
  if (!isOpen && !isSet && isNarrow()) {
    return (
      <button type="button" className="button h-7 text-sm" onClick={() => setOpen(true)}>
        Search by person, task or time
      </button>
    )
  }
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      key={[...FIELDS, ...TIMES].map(([field]) => params[field] ?? '').join('\n')}
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const change = timesIn(form, params)
        for (const [field] of FIELDS) change[field] = formText(form, field) || null
        setParams(change)
      }}
    >
      {FIELDS.map(([field, words, width]) => (
        <input
          key={field}
          name={field}
          aria-label={words}
          placeholder={words}
          maxLength={200}
          defaultValue={params[field] ?? ''}
          className={`field h-7 text-sm ${width} max-sm:w-[calc(50%-4px)]`}
        />
      ))}
      <TimeFields />
      <button type="submit" className="button h-7 text-sm">
        Search
      </button>
      {isSet && (
        <button
          type="button"
          className="link text-sm"
          onClick={() => setParams({ actor: null, task: null, q: null, since: null, until: null })}
        >
          clear
        </button>
      )}
    </form>
  )
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    id: 'at',
    title: 'When',
    width: 'minmax(60px, 92px)',
    cell: ({ time }) => (
      <time dateTime={time} title={moment(Date.parse(time))}>
        {when(Date.parse(time), storeNow())}
      </time>
    ),
  },
  {
    id: 'kind',
    title: 'Kind',
    width: 'minmax(96px, 144px)',
    cell: ({ type }) => <span className="font-mono text-sm">{kindOf(type)}</span>,
  },
  {
    id: 'says',
    title: 'What, and why',
    isMain: true,
    width: 'minmax(0, 3fr)',
    cell: ({ data }) => <bdi>{saysOf(data)}</bdi>,
  },
  {
    id: 'actor',
    title: 'By',
    width: 'minmax(72px, 1fr)',
    from: 560,
    cell: ({ data: { actor } }) => (
      <bdi className="text-dim" title={actor}>
        {actor}
      </bdi>
    ),
  },
  {
    id: 'task',
    title: 'Task',
    width: '112px',
    from: 700,
    cell: ({ subject }) =>
      subject === undefined ? (
        ''
      ) : (
        <Link className="link" to={`/tasks/${encodeURIComponent(subject)}`}>
          <Id id={subject} />
        </Link>
      ),
  },
]
