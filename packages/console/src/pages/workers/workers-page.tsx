// Workers: who works, how each one is and why we say so, what it runs now; and who has left.

import { navigate, setParams, useParam } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { Departed } from './departed.tsx'
import { POOLS_COLUMN, WORKER_COLUMN } from './worker-columns.tsx'
import { WorkerSheet } from './worker-sheet.tsx'
import {
  byNeed,
  evidenceOf,
  fleetSentence,
  runsOf,
  STANDING_LOOK,
  type Standing,
  standingOf,
  type Worker,
} from './worker-words.ts'

/** As many as one answer holds. */
const LIMIT = 1_000
const STANDINGS: readonly Standing[] = ['healthy', 'degraded', 'unhealthy', 'gone', 'draining']
const WORDS = { gone: 'silent' } as const

const wordOf = (standing: Standing): string => (standing === 'gone' ? WORDS.gone : standing)

export default function WorkersPage() {
  const [list] = useParam('list', 'here')
  const [standing] = useParam('health')
  const [version] = useParam('version')
  const [chosen] = useParam('worker')
  const asked = useOperation('listWorkers', { limit: LIMIT })
  const workers = asked.data?.items
  const shown = (workers ?? [])
    .filter((one) => (standing === '' || standingOf(one) === standing) && (version === '' || one.version === version))
    .toSorted(byNeed)
  useCommands([{ title: 'Workers that left', group: 'On this page', run: () => navigate('/workers?list=left') }])
  return (
    <Page
      title="Workers"
      isFilled={true}
      sentence={
        workers === undefined
          ? undefined
          : workers.length === 0
            ? 'No worker is here: nothing runs.'
            : `${fleetSentence(workers)}${asked.data?.next == null ? '' : ` These are the first ${LIMIT}.`}`
      }
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        <AddressChoice
          label="Which workers"
          param="list"
          missing="here"
          choices={[
            { value: 'here', word: 'Here', ...(workers === undefined ? {} : { count: workers.length }) },
            { value: 'left', word: 'Left in the last day' },
          ]}
        />
        {list === 'here' && workers !== undefined && workers.length > 0 && (
          <>
            <AddressChoice label="Health" param="health" choices={standingChoices(workers)} />
            <AddressChoice label="Version" param="version" choices={versionChoices(workers)} />
          </>
        )}
      </div>
      {list === 'left' ? (
        <Departed />
      ) : (
        <Answered of={asked} what="workers">
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No worker is registered." command="npx reprise worker ./actions.ts">
                A worker loads a module that exports actions and claims their tasks. It shows here at its first
                heartbeat.
              </Empty>
            ) : shown.length === 0 ? (
              <p className="py-4 text-dim">
                None of {many(items.length, 'worker')} is like that.{' '}
                <button type="button" className="link" onClick={() => setParams({ health: null, version: null })}>
                  Show all
                </button>
              </p>
            ) : (
              <DataTable
                label="Workers"
                rows={shown}
                keyOf={({ worker }) => worker}
                columns={COLUMNS}
                isFilled={true}
                about={`${standing} ${version}`}
                onOpen={({ worker }) => setParams({ worker })}
              />
            )
          }
        </Answered>
      )}
      {chosen !== '' && <WorkerSheet id={chosen} all={workers ?? []} onClose={() => setParams({ worker: null })} />}
    </Page>
  )
}

function standingChoices(workers: readonly Worker[]) {
  const counts = Map.groupBy(workers, standingOf)
  return [
    { value: '', word: 'Any health' },
    ...STANDINGS.flatMap((value) => {
      const some = counts.get(value)?.length ?? 0
      return some === 0 ? [] : [{ value, word: wordOf(value), count: some }]
    }),
  ]
}

const VERSIONS_MAX = 6

function versionChoices(workers: readonly Worker[]) {
  const counts = [...Map.groupBy(workers, ({ version }) => version)]
    .map(([value, some]) => ({ value, word: `version ${value}`, count: some.length }))
    .toSorted((one, other) => other.count - one.count)
  return counts.length < 2 ? [] : [{ value: '', word: 'Any version' }, ...counts.slice(0, VERSIONS_MAX)]
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    id: 'health',
    title: 'Health',
    width: '92px',
    cell: (worker) => {
      const standing = standingOf(worker)
      return <StateMark state={STANDING_LOOK[standing]} word={wordOf(standing)} />
    },
  },
  WORKER_COLUMN,
  {
    id: 'why',
    title: 'Evidence',
    width: 'minmax(0, 2fr)',
    from: 560,
    cell: (worker) => <bdi title={evidenceOf(worker)}>{evidenceOf(worker)}</bdi>,
  },
  { id: 'runs', title: 'Runs', width: '72px', isNumber: true, cell: runsOf },
  {
    id: 'failed',
    title: 'Failed lately',
    width: '96px',
    from: 900,
    isNumber: true,
    cell: ({ recentFailures, recentOutcomes }) =>
      recentOutcomes === 0 ? '–' : `${recentFailures} of ${recentOutcomes}`,
  },
  { id: 'version', title: 'Version', width: '88px', from: 700, cell: ({ version }) => <bdi>{version}</bdi> },
  { id: 'host', title: 'Host', width: '120px', from: 900, cell: ({ host }) => <bdi>{host}</bdi> },
  POOLS_COLUMN,
  { id: 'seen', title: 'Heartbeat', width: '80px', from: 560, cell: ({ lastBeatAt }) => <Ago at={lastBeatAt} /> },
]
