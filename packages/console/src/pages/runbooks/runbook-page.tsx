// One runbook: what it does step by step, how often it helped, its runs, its text; and to run it.

import { Link, setParams, useParam, usePart } from '../../address.tsx'
import { isNotFound } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { useList, useOperation } from '../../api/operations.ts'
import { Facts } from '../../parts/facts.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Copy } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page, Section } from '../../shell/page.tsx'
import { RunForm } from './run-form.tsx'
import { RunList } from './run-list.tsx'
import { helpedWords, KIND_WORDS, type RunbookDetail } from './runbook-words.ts'

const RUNS_SHOWN = 20

export default function RunbookPage() {
  const name = usePart('name')
  const asked = useOperation('getRunbook', { name }, { everyMs: 15_000, keepsPrevious: false })
  const runs = useList('listRunbookRuns', { runbook: name, limit: 200 })
  const [sheet] = useParam('sheet')
  const known = asked.data
  const mayRun = useMay(known?.right ?? 'operate') && known !== undefined
  const run = (): void => setParams({ sheet: 'run' })
  useCommands(mayRun ? [{ title: 'Run this runbook', key: 'r', group: 'On this page', run }] : [])
  if (known === undefined && isNotFound(asked.error)) {
    return (
      <Page title="Runbook">
        <Empty title="There is no such runbook." command="npx reprise runbook list">
          <Link to="/runbooks" className="link">
            All runbooks
          </Link>
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title={known?.title ?? name}
      above={
        <>
          <Link to="/runbooks" className="link font-normal">
            Runbooks
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={known === undefined ? undefined : <bdi>{known.about}</bdi>}
      actions={
        mayRun ? (
          <button type="button" className="button button-main" onClick={run}>
            Run …
          </button>
        ) : undefined
      }
    >
      <Answered of={asked} what="the runbook">
        {(runbook) => (
          <>
            <div className="grid gap-x-8 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
              <Steps runbook={runbook} />
              <Known runbook={runbook} />
            </div>
            {runs.items !== undefined && runs.items.length > 0 && (
              <Section title="Its latest runs">
                <RunList runs={runs.items.toReversed().slice(0, RUNS_SHOWN)} isFilled={false} />
              </Section>
            )}
            <Section title="As it is written" aside={<Copy text={runbook.text} />}>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, also with the keyboard */}
              <section aria-label="Text" tabIndex={0} className="overflow-x-auto rounded-sm bg-sunken px-2 py-1.5">
                <pre className="font-mono text-sm">{runbook.text.trimEnd()}</pre>
              </section>
            </Section>
          </>
        )}
      </Answered>
      {sheet === 'run' && mayRun && known !== undefined && (
        <RunForm runbook={known} onClose={() => setParams({ sheet: null })} />
      )}
    </Page>
  )
}

function Steps({ runbook: { steps } }: { readonly runbook: RunbookDetail }) {
  return (
    <Section title="Steps">
      <ol className="border-t border-line">
        {steps.map(({ name, title, kind, mayRepeat, hasUndo }, at) => (
          <li key={name} className="flex gap-3 border-b border-line py-1.5">
            <span className="w-5 shrink-0 text-right text-dim">{at + 1}</span>
            <div className="min-w-0 flex-1">
              <bdi className="break-words">{title}</bdi>
              <p className="text-sm text-dim">
                {KIND_WORDS[kind] ?? kind}
                {hasUndo && ' · taken back on abort'}
                {!mayRepeat && kind !== 'ask' && ' · asks if a crash leaves it in doubt'}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function Known({
  runbook: { name, version, right, needsApproval, inputs, figures, by },
}: {
  readonly runbook: RunbookDetail
}) {
  return (
    <Section title="What is known">
      <Facts
        of={[
          [
            'name',
            <bdi key="name" className="font-mono text-sm">
              {name}
            </bdi>,
          ],
          ['version', version === 0 ? 'comes with Reprise' : <bdi key="version">{`${version}, by ${by ?? ''}`}</bdi>],
          ['helped', helpedWords(figures)],
          ['aborted', figures.aborted === 0 ? null : String(figures.aborted)],
          ['right', right],
          ['agreement', needsApproval ? 'a second person has to agree' : null],
          ...Object.entries(inputs).map(
            ([input, { about, default: missing }]) =>
              [
                input,
                <span key={input}>
                  <bdi>{about}</bdi>
                  {missing !== undefined && <span className="text-dim"> · {String(missing)} if not given</span>}
                </span>,
              ] as const,
          ),
        ]}
      />
    </Section>
  )
}
