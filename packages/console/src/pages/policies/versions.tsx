// Every version of the policies: who brought it in, when and why, what it changed, and the way back to it.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { useMay } from '../../api/me.ts'
import { useList } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { lineDiff } from '../../parts/line-diff.ts'
import { Sheet } from '../../parts/sheet.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { TextDiff } from '../../parts/text-diff.tsx'
import { Ago, Copy } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { Version } from './policies-page.tsx'
import { publishOf } from './publish.tsx'

interface Row {
  readonly version: Version
  readonly before: Version | undefined
}

export function Versions({ inForce }: { readonly inForce: Version | null }) {
  const { items, error, more } = useList('listPolicyVersions', { limit: 100 })
  const [chosen] = useParam('version')
  const rows = items?.map((version, index): Row => ({ version, before: items[index - 1] })).toReversed()
  const open = rows?.find(({ version }) => String(version.number) === chosen)
  return (
    <>
      <Answered of={{ data: rows, error }} what="the versions">
        {(all) =>
          all.length === 0 ? (
            <Empty
              title="There is no version yet."
              command="npx reprise policy publish config/tasks/retry-policies.yaml --reason 'the first ones'"
            >
              A version comes from the text here, from a terminal, or from the file that a process is configured with.
            </Empty>
          ) : (
            <DataTable
              label="Versions"
              rows={all}
              keyOf={({ version }) => String(version.number)}
              columns={COLUMNS}
              onEnd={more}
              onOpen={({ version }) => setParams({ version: String(version.number) })}
            />
          )
        }
      </Answered>
      {open !== undefined && <VersionSheet row={open} inForce={inForce} onClose={() => setParams({ version: null })} />}
    </>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  { id: 'number', title: 'Version', width: '56px', isNumber: true, cell: ({ version }) => count(version.number) },
  { id: 'at', title: 'Since', width: '76px', cell: ({ version }) => <Ago at={version.at} /> },
  {
    id: 'change',
    title: 'Change',
    width: '112px',
    cell: ({ version, before }) => <ChangeSize before={before?.text ?? ''} after={version.text} />,
  },
  {
    id: 'why',
    title: 'Reason',
    width: 'minmax(0, 2fr)',
    from: 480,
    cell: ({ version }) => <bdi title={version.reason}>{version.reason ?? '–'}</bdi>,
  },
  {
    id: 'by',
    title: 'By',
    width: 'minmax(72px, 1fr)',
    cell: ({ version }) => (
      <bdi className="text-dim" title={version.by}>
        {version.by}
      </bdi>
    ),
  },
]

function ChangeSize({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = lineDiff(before, after)
  const of = (kind: 'gone' | 'new'): number => lines.filter((line) => line.kind === kind).length
  return (
    <>
      <span className="sr-only">
        {many(of('new'), 'line')} came, {many(of('gone'), 'line')} went
      </span>
      <span aria-hidden="true">
        {of('new') > 0 && <span className="text-succeeded">+{of('new')} </span>}
        {of('gone') > 0 && <span className="text-dead">−{of('gone')}</span>}
      </span>
    </>
  )
}

function VersionSheet({
  row: { version, before },
  inForce,
  onClose,
}: {
  readonly row: Row
  readonly inForce: Version | null
  readonly onClose: () => void
}) {
  const mayConfigure = useMay('configure')
  const [isAsking, setAsking] = useState(false)
  const isInForce = version.number === inForce?.number
  return (
    <Sheet
      title={`Version ${version.number}${isInForce ? ', in force' : ''}`}
      onClose={onClose}
      actions={
        <>
          {mayConfigure && !isInForce && (
            <button type="button" className="button" onClick={() => setAsking(true)}>
              Roll back to it …
            </button>
          )}
          <Copy text={version.text} label="Copy text" />
        </>
      }
    >
      <p className="text-md">
        {version.reason === undefined ? 'Nobody said why' : <bdi>{version.reason}</bdi>}
        <span className="text-dim">
          {' '}
          · <bdi>{version.by}</bdi>, <Ago at={version.at} />
        </span>
      </p>
      <Section title={before === undefined ? 'The first one' : `What it changed of version ${before.number}`}>
        <TextDiff before={before?.text ?? ''} after={version.text} />
      </Section>
      {!isInForce && inForce !== null && (
        <Section title={`What version ${inForce.number}, in force, says otherwise`}>
          <TextDiff before={version.text} after={inForce.text} />
        </Section>
      )}
      {isAsking && (
        <Confirm
          change={publishOf({ inForce, text: version.text, older: version, onDone: onClose })}
          onClose={() => setAsking(false)}
        />
      )}
    </Sheet>
  )
}
