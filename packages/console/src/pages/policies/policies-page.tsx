// Policies: what is done with failures. The text in force, a draft of it that is checked while it is written and tried out before
// it counts, every version there was, and templates to begin with.

import { lazy, Suspense, useEffect, useState } from 'react'
import { useParam } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Answered, Waiting } from '../../parts/states.tsx'
import { TextDiff } from '../../parts/text-diff.tsx'
import { Ago, Copy } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { completePolicy } from './complete.ts'
import { publishOf } from './publish.tsx'
import { RecordedFailures } from './recorded-failures.tsx'
import { Templates } from './templates.tsx'
import { TryOut } from './try-out.tsx'
import { useCheck } from './use-check.ts'
import { Versions } from './versions.tsx'

const CodeEditor = lazy(() => import('../../parts/code-editor.tsx'))

export type Version = NonNullable<OperationOutput<'policies'>['version']>

const TABS = [
  { value: '', word: 'Text and draft' },
  { value: 'history', word: 'History' },
  { value: 'templates', word: 'Templates' },
] as const

/** What a first text could say. */
const BEGINNING = `# The first policy that matches a failure counts.
policies:
  - name: everything
    template: default
`

export default function PoliciesPage() {
  const asked = useOperation('policies', {})
  const [tab] = useParam('tab')
  const version = asked.data?.version ?? null
  return (
    <Page title="Policies" sentence={asked.data === undefined ? undefined : <Sentence version={version} />}>
      <div className="pb-2">
        <AddressChoice label="What of the policies" param="tab" choices={TABS} />
      </div>
      <Answered of={asked} what="the policies">
        {({ version: inForce, notes }) =>
          tab === 'history' ? (
            <Versions inForce={inForce} />
          ) : tab === 'templates' ? (
            <Templates />
          ) : (
            <Draft inForce={inForce} notes={notes} />
          )
        }
      </Answered>
    </Page>
  )
}

/** The version in force, who brought it in, and whether everybody decides by it. */
function Sentence({ version }: { readonly version: Version | null }) {
  const workers = useOperation('listWorkers', { limit: 1_000 }).data?.items ?? []
  if (version === null) return 'No policies are in force: each action decides for itself.'
  const own = workers.filter(({ policyVersion }) => policyVersion !== null)
  const late = own.filter(({ policyVersion }) => policyVersion !== version.number).length
  return (
    <>
      Version {count(version.number)} is in force, brought in <Ago at={version.at} /> by <bdi>{version.by}</bdi>
      {own.length === 0
        ? '.'
        : late === 0
          ? `; ${own.length === 1 ? 'the worker applies' : `all ${count(own.length)} workers apply`} it.`
          : `; ${many(late, 'worker does', 'workers do')} not apply it yet.`}
    </>
  )
}

function Draft({ inForce, notes }: { readonly inForce: Version | null; readonly notes: readonly string[] }) {
  const mayConfigure = useMay('configure')
  // The version that the draft is made from; another one that comes in does not touch what was typed.
  const [base, setBase] = useState(inForce)
  const [text, setText] = useState(inForce?.text ?? BEGINNING)
  const [turn, setTurn] = useState(0)
  const [isAsking, setAsking] = useState(false)
  const baseText = base?.text ?? ''
  const isChanged = mayConfigure && text !== baseText
  const isOvertaken = (inForce?.number ?? 0) !== (base?.number ?? 0)
  const check = useCheck(text, isChanged)
  const begin = (from: Version | null): void => {
    setBase(from)
    setText(from?.text ?? BEGINNING)
    setTurn(turn + 1)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: an untouched draft follows what is in force
  useEffect(() => {
    if (isOvertaken && !isChanged) begin(inForce)
  }, [isOvertaken, isChanged])
  useEffect(() => {
    if (!isChanged) return
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isChanged])
  const canPublish = isChanged && check.state === 'right' && !isOvertaken
  useCommands(canPublish ? [{ title: 'Publish the draft', group: 'On this page', run: () => setAsking(true) }] : [])
  return (
    <div className="grid gap-x-6 gap-y-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <section aria-label="The text" className="flex min-w-0 flex-col gap-2">
        <div className="flex min-h-8 flex-wrap items-center gap-2">
          <p role="status" className="min-w-0 flex-1 basis-40 text-sm text-dim">
            {isChanged ? check.says : base === null ? 'A text to begin with.' : `Version ${base.number}, unchanged.`}
          </p>
          <Copy text={text} label="Copy text" />
          {isChanged && (
            <>
              <button type="button" className="button h-7 text-sm" onClick={() => begin(inForce)}>
                Drop the draft
              </button>
              <button
                type="button"
                className="button button-main h-7 text-sm"
                disabled={!canPublish}
                onClick={() => setAsking(true)}
              >
                Publish …
              </button>
            </>
          )}
        </div>
        {isOvertaken && isChanged && (
          <div role="alert" className="flex flex-col gap-2 rounded-sm bg-waiting-soft px-2 py-1.5">
            <p>
              Version {inForce?.number ?? 0} came in while you wrote, by <bdi>{inForce?.by}</bdi>. Your draft is made
              for version {base?.number ?? 0}. Copy it, look at the difference, and drop it to begin from the newest.
            </p>
            <TextDiff before={baseText} after={inForce?.text ?? ''} />
          </div>
        )}
        <div className="h-[52vh] min-h-64">
          <Suspense fallback={<Waiting what="the editor" />}>
            <CodeEditor
              label={mayConfigure ? 'Text of the policies' : 'Text of the policies, to read'}
              value={text}
              document={`${base?.number ?? 0} ${turn}`}
              onChange={setText}
              problems={check.problems}
              complete={completePolicy}
              isReadOnly={!mayConfigure}
            />
          </Suspense>
        </div>
        <Remarks of={isChanged ? check.notes : notes} />
        {check.problems.length > 0 && (
          <ul aria-label="Problems" className="flex flex-col gap-0.5 text-sm text-dead">
            {check.problems.map(({ line, column, message }) => (
              <li key={`${line} ${column} ${message}`}>
                ✕ Line {line}, character {column}: <bdi>{message}</bdi>
              </li>
            ))}
          </ul>
        )}
      </section>
      <div className="min-w-0">
        <TryOut inForce={inForce} draft={isChanged && check.state === 'right' ? text : null} />
        <RecordedFailures inForce={inForce} draft={isChanged && check.state === 'right' ? text : null} />
      </div>
      {isAsking && <Confirm change={publishOf({ inForce, text, onDone: begin })} onClose={() => setAsking(false)} />}
    </div>
  )
}

function Remarks({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return null
  return (
    <ul aria-label="Remarks" className="flex flex-col gap-0.5 text-sm text-waiting">
      {of.map((note) => (
        <li key={note}>
          ◔ <bdi>{note}</bdi>
        </li>
      ))}
    </ul>
  )
}
