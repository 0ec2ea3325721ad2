// Runbooks: which recovery procedures there are and how often each helped; and their runs: what is under way, what asks something.

import { Link, navigate, useParam } from '../../address.tsx'
import { useList, useOperation } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { CommandLine } from '../../parts/texts.tsx'
import { Page } from '../../shell/page.tsx'
import { RunList } from './run-list.tsx'
import { helpedWords, type Run, type Runbook, runbookAddress } from './runbook-words.ts'

const TABS = [
  { value: '', word: 'Runbooks' },
  { value: 'open', word: 'Runs under way' },
  { value: 'runs', word: 'All runs' },
] as const

export default function RunbooksPage() {
  const [tab] = useParam('tab')
  const asked = useOperation('listRunbooks', {}, { everyMs: 15_000 })
  const open = useOperation('listRunbookRuns', { open: 'true', limit: 200 })
  const all = useList('listRunbookRuns', { limit: 200 }, { enabled: tab === 'runs' })
  const runs =
    tab === 'runs'
      ? { data: all.items?.toReversed(), error: all.error }
      : { data: open.data?.items.toReversed(), error: open.error }
  return (
    <Page
      title="Runbooks"
      isFilled={tab !== ''}
      sentence={open.data === undefined ? undefined : sentenceOf(open.data.items)}
    >
      <div className="pb-2">
        <AddressChoice label="Show" param="tab" choices={TABS} />
      </div>
      {tab === '' ? (
        <Answered of={asked} what="the runbooks">
          {({ items }) => (
            <>
              <DataTable
                label="Runbooks"
                rows={items}
                keyOf={({ name }) => name}
                columns={COLUMNS}
                isTall={true}
                onOpen={({ name }) => navigate(runbookAddress(name))}
              />
              <div className="mt-4 max-w-xl">
                <p className="label mb-1">Write your own in YAML, and publish it</p>
                <CommandLine command="npx reprise runbook publish restart-bank.yaml --dry-run" />
              </div>
            </>
          )}
        </Answered>
      ) : (
        <Answered of={runs} what="the runs">
          {(some) =>
            some.length === 0 ? (
              <Empty
                title={tab === 'open' ? 'No run is under way.' : 'No runbook was run yet.'}
                command="npx reprise runbook run replay-after-outage --input fingerprint=5f3a0c1e9b7d2468 --dry-run --wait"
              >
                A dry run only looks, and says what it would do. Begin at a runbook, at a{' '}
                <Link to="/failures" className="link">
                  cause
                </Link>
                , or in a terminal:
              </Empty>
            ) : (
              <RunList runs={some} onEnd={tab === 'runs' ? all.more : null} />
            )
          }
        </Answered>
      )}
    </Page>
  )
}

function sentenceOf(open: readonly Run[]): string {
  const asking = open.filter(({ state }) => state === 'waiting').length
  const halted = open.filter(({ state }) => state === 'halted').length
  const parts = [
    ...(asking === 0 ? [] : [`${many(asking, 'run asks', 'runs ask')} something`]),
    ...(halted === 0 ? [] : [`${many(halted, 'has', 'have')} halted`]),
    ...(open.length === asking + halted ? [] : [`${many(open.length - asking - halted, 'is', 'are')} under way`]),
  ]
  return parts.length === 0 ? 'No run is under way.' : `${parts.join(', ')}.`
}

const COLUMNS: readonly Column<Runbook>[] = [
  {
    id: 'what',
    title: 'Runbook',
    width: 'minmax(0, 1fr)',
    cell: ({ name, title, about }) => (
      <Link to={runbookAddress(name)} tabIndex={-1} className="block min-w-0">
        <bdi className="block truncate font-semibold">{title}</bdi>
        <bdi className="block truncate text-sm text-dim" title={about}>
          {about}
        </bdi>
      </Link>
    ),
  },
  {
    id: 'name',
    title: 'Name',
    width: '184px',
    from: 760,
    cell: ({ name }) => <bdi className="font-mono text-sm">{name}</bdi>,
  },
  {
    id: 'guards',
    title: 'Needs',
    width: '132px',
    from: 900,
    cell: ({ right, needsApproval }) => (
      <span className="text-dim">{needsApproval ? 'a second person' : right === 'operate' ? '' : right}</span>
    ),
  },
  {
    id: 'helped',
    title: 'Helped',
    width: 'minmax(84px, 208px)',
    from: 480,
    cell: ({ figures }) => <span className={figures.runs === 0 ? 'text-dim' : ''}>{helpedWords(figures)}</span>,
  },
  {
    id: 'version',
    title: 'Version',
    width: '72px',
    from: 620,
    cell: ({ version }) => (version === 0 ? 'built in' : version),
  },
]
