// Incidents: what happened in a period, on one line: failures and recoveries by the minute with everything that could explain them.
// The same as Markdown, for the post-mortem.

import { incidentText, joinedIncident } from '@reprise/core'
import { lazy, Suspense } from 'react'
import { navigate, setParams, useParam, useParams } from '../../address.tsx'
import { useList } from '../../api/operations.ts'
import { count, moment, when } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { TIMES, TimeFields, timesIn } from '../../parts/time-fields.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { storeNow, useNow } from '../../time.ts'
import { ExportSheet } from './export-sheet.tsx'
import { KIND_LOOKS, KINDS, type Line, placeOf, sentenceOf } from './incident-words.ts'

const Chart = lazy(() => import('./incident-chart.tsx'))

const RANGES = [
  { value: '1h', word: '1 h' },
  { value: '6h', word: '6 h' },
  { value: '24h', word: '24 h' },
  { value: '7d', word: '7 d' },
] as const
const RANGE = '6h'
/** Read without being asked for: each looks at a thousand entries. */
const PAGES_MAX = 10

export default function IncidentsPage() {
  const params = useParams()
  const [since] = useParam('since', RANGE)
  const [kind] = useParam('kind')
  const [sheet] = useParam('sheet')
  const now = useNow()
  const { until, action } = params
  const input = {
    since,
    ...(until === undefined ? {} : { until }),
    ...(action === undefined ? {} : { action }),
  }
  const { items, error, more, hasMore, pages } = useList('getIncident', input)
  const lines = items === undefined ? undefined : joinedIncident(items)
  const shown = lines?.filter((line) => kind === '' || line.kind === kind)
  const isFar = pages >= PAGES_MAX
  const write = (): void => setParams({ sheet: 'export' })
  useCommands([{ title: 'Export as Markdown', group: 'On this page', run: write }])
  const kinds = KINDS.filter((one) => one === kind || lines?.some((line) => line.kind === one))
  return (
    <Page
      title="Incidents"
      isFilled={true}
      sentence={lines === undefined ? undefined : sentenceOf(lines, hasMore, now)}
      actions={
        <button type="button" className="button" onClick={write}>
          Export as Markdown
        </button>
      }
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        <AddressChoice label="How far back" param="since" missing={RANGE} choices={RANGES} />
        <Period />
        {action !== undefined && (
          <button type="button" className="link text-sm" onClick={() => setParams({ action: null })}>
            failures of <bdi>{action}</bdi>: of all
          </button>
        )}
      </div>
      <Answered of={{ data: shown, error }} what="the incident">
        {(rows) => (
          <>
            {lines !== undefined && lines.length > 0 && (
              <>
                <div className="h-40 shrink-0">
                  <Suspense>
                    <Chart lines={lines} />
                  </Suspense>
                </div>
                <div className="pb-1">
                  <AddressChoice
                    label="Kind"
                    param="kind"
                    choices={[
                      { value: '', word: 'Everything', count: lines.length },
                      ...kinds.map((one) => ({
                        value: one,
                        word: `${KIND_LOOKS[one].shape} ${KIND_LOOKS[one].word}`,
                        count: lines.filter((line) => line.kind === one).length,
                      })),
                    ]}
                  />
                </div>
              </>
            )}
            {rows.length === 0 && !hasMore ? (
              <Empty title="Nothing like that happened in this time." command="npx reprise incident show --since 2h">
                Failures, new versions of workers, breakers, alerts, redrives, runbooks and what operators did stand
                here in their order. Choose a longer time, or ask in a terminal:
              </Empty>
            ) : (
              <DataTable
                label="Timeline"
                rows={rows}
                keyOf={keyOf}
                columns={COLUMNS}
                isFilled={true}
                about={JSON.stringify({ ...input, kind })}
                onEnd={isFar ? null : more}
                onOpen={open}
              />
            )}
            {hasMore && (
              <p className="py-2 text-dim">
                {count(rows.length)} so far.{' '}
                <button type="button" className="link" disabled={more === null} onClick={() => more?.()}>
                  {more === null ? 'Looking further …' : 'Look further'}
                </button>
              </p>
            )}
          </>
        )}
      </Answered>
      {sheet === 'export' && <ExportSheet period={input} onClose={() => setParams({ sheet: null })} />}
    </Page>
  )
}

function Period() {
  const params = useParams()
  // On a phone the choices beside it have to do, unless somebody sent a period.
  const isSet = params['until'] !== undefined || Date.parse(params['since'] ?? '') > 0
  return (
    <form
      className={`flex flex-wrap items-center gap-2 ${isSet ? '' : 'max-sm:hidden'}`}
      key={TIMES.map(([field]) => params[field] ?? '').join('\n')}
      onSubmit={(event) => {
        event.preventDefault()
        setParams(timesIn(new FormData(event.currentTarget), params))
      }}
    >
      <TimeFields />
      <button type="submit" className="button h-7 text-sm">
        Show
      </button>
    </form>
  )
}

/** Lines have no names; those of one moment differ in what they say. */
const keyOf = ({ at, kind, subject, actor, text }: Line): string => `${at} ${kind} ${subject} ${actor} ${text}`

function open(line: Line): void {
  const place = placeOf(line)
  if (place !== null) navigate(place)
}

const COLUMNS: readonly Column<Line>[] = [
  {
    id: 'at',
    title: 'When',
    width: 'minmax(64px, 104px)',
    cell: ({ at }) => (
      <time dateTime={new Date(at).toISOString()} title={moment(at)}>
        {when(at, storeNow())}
      </time>
    ),
  },
  {
    id: 'kind',
    title: 'Kind',
    isAbove: true,
    width: '108px',
    from: 560,
    cell: ({ kind }) => (
      <span className={KIND_LOOKS[kind].colour ?? 'text-dim'}>
        <span aria-hidden="true" className="inline-block w-4 text-center font-mono">
          {KIND_LOOKS[kind].shape}
        </span>{' '}
        {KIND_LOOKS[kind].word}
      </span>
    ),
  },
  {
    id: 'what',
    title: 'What',
    isMain: true,
    width: 'minmax(0, 1fr)',
    cell: (line) => (
      <bdi className={line.kind === 'failures' ? 'text-dead' : ''} title={incidentText(line)}>
        {incidentText(line)}
      </bdi>
    ),
  },
]
