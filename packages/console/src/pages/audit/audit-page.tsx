// Audit: who did what, with what was there before and after, and whether the record of it is as it was written.

import { useState } from 'react'
import { Link, setParams, useParam } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { useList } from '../../api/operations.ts'
import { count, many, moment, when } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Facts } from '../../parts/facts.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Answered, Empty, messageOf } from '../../parts/states.tsx'
import { Copy, Foreign, Id } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page, Section } from '../../shell/page.tsx'
import { storeNow } from '../../time.ts'

type Entry = OperationOutput<'listAudit'>['items'][number]
type Verified = OperationOutput<'verifyAudit'>

const WHAT = [
  { value: '', word: 'What operators did' },
  { value: 'all', word: 'Everything' },
] as const
const RANGES = [
  { value: '24h', word: '24 h' },
  { value: '7d', word: '7 d' },
  { value: '30d', word: '30 d' },
] as const
const RANGE = '7d'

export default function AuditPage() {
  const [what] = useParam('what')
  const [since] = useParam('since', RANGE)
  const [actor] = useParam('actor')
  const [open] = useParam('entry')
  const { items, error, more, hasMore } = useList('listAudit', {
    limit: 200,
    since,
    ...(what === 'all' ? {} : { type: 'operation.performed' }),
    ...(actor === '' ? {} : { actor }),
  })
  const chosen = items?.find(({ id }) => id === open)
  return (
    <Page
      title="Audit"
      isFilled={true}
      sentence={items === undefined ? undefined : sentenceOf(items, hasMore)}
      actions={<Verify />}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-2">
        <AddressChoice label="What" param="what" choices={WHAT} />
        <AddressChoice label="How far back" param="since" missing={RANGE} choices={RANGES} />
        {actor !== '' && (
          <button type="button" className="link text-sm" onClick={() => setParams({ actor: null })}>
            of <bdi>{actor}</bdi>: of all
          </button>
        )}
      </div>
      <Answered of={{ data: items, error }} what="the audit">
        {(entries) =>
          entries.length === 0 && !hasMore ? (
            <Empty title="Nobody did anything in this time." command="npx reprise audit verify">
              Every change of an operator is on record: which operation, with which input, what was there before and
              after. The record is sealed in a chain of hashes. Check it in a terminal, or with the button above.
            </Empty>
          ) : (
            <DataTable
              label="Audit"
              rows={entries}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              isFilled={true}
              about={`${what} ${since} ${actor}`}
              onEnd={more}
              onOpen={({ id }) => setParams({ entry: id })}
            />
          )
        }
      </Answered>
      {chosen !== undefined && <EntrySheet entry={chosen} onClose={() => setParams({ entry: null })} />}
    </Page>
  )
}

function sentenceOf(entries: readonly Entry[], hasMore: boolean): string {
  const people = new Set(entries.map(({ actor }) => actor)).size
  return `${hasMore ? '≥ ' : ''}${many(entries.length, 'entry', 'entries')} of ${many(people, 'actor')}.`
}

const operationOf = ({ type, data }: Entry): string =>
  typeof data['operation'] === 'string' ? data['operation'] : type

const COLUMNS: readonly Column<Entry>[] = [
  {
    id: 'at',
    title: 'When',
    width: 'minmax(60px, 92px)',
    cell: ({ at }) => (
      <time dateTime={new Date(at).toISOString()} title={moment(at)}>
        {when(at, storeNow())}
      </time>
    ),
  },
  {
    id: 'what',
    title: 'Operation',
    width: 'minmax(96px, 176px)',
    cell: (entry) => <span className="font-mono text-sm">{operationOf(entry)}</span>,
  },
  {
    id: 'why',
    title: 'Reason',
    isMain: true,
    width: 'minmax(0, 2fr)',
    cell: ({ reason }) => <bdi title={reason}>{reason}</bdi>,
  },
  {
    id: 'actor',
    title: 'By',
    width: 'minmax(72px, 1fr)',
    from: 560,
    cell: ({ actor }) => (
      <bdi className="text-dim" title={actor}>
        {actor}
      </bdi>
    ),
  },
]

/** What is written as JSON is shown as what it says. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

function EntrySheet({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const { at, actor, reason, taskId, data } = entry
  const parts = ['input', 'before', 'after'].filter((part) => data[part] !== undefined && data[part] !== null)
  return (
    <Sheet
      title={operationOf(entry)}
      onClose={onClose}
      actions={<Copy text={JSON.stringify(entry, null, 2)} label="Copy as JSON" />}
    >
      <p className="mb-3 text-md">
        <Foreign>{reason}</Foreign>
      </p>
      <Facts
        of={[
          ['when', moment(at)],
          [
            'by',
            <button key="by" type="button" className="link" onClick={() => setParams({ actor, entry: null })}>
              <bdi>{actor}</bdi>
            </button>,
          ],
          [
            'task',
            taskId === null ? null : (
              <Link key="task" className="link" to={`/tasks/${encodeURIComponent(taskId)}`}>
                <Id id={taskId} />
              </Link>
            ),
          ],
          ['request', typeof data['request'] === 'string' ? <bdi key="request">{data['request']}</bdi> : null],
        ]}
      />
      {parts.map((part) => (
        <Section key={part} title={part}>
          <JsonView value={parsed(data[part])} />
        </Section>
      ))}
    </Sheet>
  )
}

/** Goes through all seals, a step at a time, and says what was found. */
function Verify() {
  const [found, setFound] = useState<Verified | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const verify = async (): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      let sum = await call('verifyAudit', {})
      while (sum.next !== null) {
        setFound(sum)
        const step: Verified = await call('verifyAudit', { cursor: sum.next })
        sum = {
          ...step,
          seals: sum.seals + step.seals,
          entries: sum.entries + step.entries,
          removed: sum.removed + step.removed,
          problems: [...sum.problems, ...step.problems],
        }
      }
      setFound(sum)
    } catch (refusal) {
      setError(refusal)
    }
    setBusy(false)
  }
  useCommands([{ title: 'Check the record', group: 'On this page', run: () => void verify() }])
  return (
    <div role="status" className="flex max-w-md flex-wrap items-center gap-2">
      {error !== null && <span className="text-dead">✕ {messageOf(error)}</span>}
      {found !== null && found.problems.length === 0 && (
        <span className="text-succeeded">
          ✓ As it was sealed: {many(found.entries, 'entry', 'entries')} in {many(found.seals, 'seal')}
          {found.unsealed > 0 && `; ${count(found.unsealed)} not sealed yet`}
        </span>
      )}
      {found?.problems.map(({ kind, seal, sentence }) => (
        <span key={`${kind} ${seal} ${sentence}`} className="text-dead">
          ✕ {sentence}
        </span>
      ))}
      <button type="button" className="button" disabled={isBusy} onClick={() => void verify()}>
        {isBusy ? 'Checking …' : 'Check the record'}
      </button>
    </div>
  )
}
