// One run of a runbook, live: each step with its state, its time and what came of it; what it asks, and what can be done.

import { Link, usePart } from '../../address.tsx'
import { isNotFound } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { span } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, Since } from '../../parts/texts.tsx'
import { Page, Section } from '../../shell/page.tsx'
import { RunActions, RunQuestion } from './run-actions.tsx'
import { isOver, RUN_LOOKS, type Run, runbookAddress, runSentence, STEP_LOOKS, type Step } from './runbook-words.ts'

const LIVE_MS = 1_000

export default function RunPage() {
  const id = usePart('id')
  const asked = useOperation('getRunbookRun', { id }, { everyMs: LIVE_MS, keepsPrevious: false })
  const run = asked.data
  if (run === undefined && isNotFound(asked.error)) {
    return (
      <Page title="Run">
        <Empty title="There is no such run." command="npx reprise runbook runs --all">
          <Link to="/runbooks?tab=runs" className="link">
            All runs
          </Link>
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title={run?.title ?? id}
      above={
        <>
          <Link to="/runbooks?tab=runs" className="link font-normal">
            Runs of runbooks
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={
        run && (
          <>
            <StateMark state={RUN_LOOKS[run.state][0]} word={RUN_LOOKS[run.state][1]} /> · {runSentence(run)}
          </>
        )
      }
      actions={run && !isOver(run) ? <RunActions run={run} /> : undefined}
    >
      <Answered of={asked} what="the run">
        {(known) => (
          <>
            {known.question !== null && <RunQuestion run={known} question={known.question} />}
            <div className="grid gap-x-8 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
              <Section title="Steps">
                <ol aria-label="Steps" className="border-t border-line">
                  {known.steps.map((step, at) => (
                    <OneStep key={step.name} step={step} at={at} isAsking={known.question !== null} />
                  ))}
                </ol>
              </Section>
              <Known run={known} />
            </div>
          </>
        )}
      </Answered>
    </Page>
  )
}

interface OneStepProps {
  readonly step: Step
  readonly at: number
  /** Whether the run asks something: what is under way waits for the answer then. */
  readonly isAsking: boolean
}

function OneStep({ step, at, isAsking }: OneStepProps) {
  const { title, state, startedAt, endedAt, tries, output, error } = step
  const [look, word] = isAsking && state === 'running' ? RUN_LOOKS.waiting : STEP_LOOKS[state]
  const isNow = state === 'running' || state === 'polling' || state === 'undoing'
  return (
    <li
      className={`flex gap-3 border-b border-line py-2 ${isNow ? 'bg-accent-soft' : ''}`}
      aria-current={isNow ? 'step' : undefined}
    >
      <span className="w-5 shrink-0 text-right text-dim">{at + 1}</span>
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <bdi className={`min-w-0 flex-1 basis-48 break-words ${state === 'pending' ? 'text-dim' : 'font-semibold'}`}>
            {title}
          </bdi>
          <span className="text-sm text-dim">
            {tries > 1 && `${tries} tries · `}
            {startedAt !== null && (endedAt === null ? <Since at={startedAt} /> : span(endedAt - startedAt))}
          </span>
          <span className="w-28">
            <StateMark state={look} word={word} />
          </span>
        </div>
        {error !== null && (
          <p className="text-dead">
            ✕ <bdi className="break-words">{error}</bdi>
          </p>
        )}
        <Output output={output} />
      </div>
    </li>
  )
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

const textIn = (value: unknown, name: string): string => {
  const found = fieldOf(value, name)
  return typeof found === 'string' ? found : ''
}

/** What came of a step: a sentence where there is one, else all of it, folded. */
function Output({ output }: { readonly output: unknown }) {
  if (output === null || output === undefined) return null
  const [would, answer, redrive, value] = ['would', 'answer', 'id', 'value'].map((name) => fieldOf(output, name))
  if (typeof would === 'string')
    return (
      <p>
        Would <bdi>{would}</bdi>
      </p>
    )
  if (typeof answer === 'string')
    return (
      <p className="text-dim">
        <bdi>{textIn(output, 'by')}</bdi> said {answer}: <bdi>{textIn(output, 'reason')}</bdi>
      </p>
    )
  if (typeof redrive === 'string' && fieldOf(output, 'counts') !== undefined) {
    const recovered = fieldOf(fieldOf(output, 'counts'), 'recovered')
    return (
      <p>
        <Link className="link" to={`/redrives/${encodeURIComponent(redrive)}`}>
          the redrive
        </Link>{' '}
        <span className="text-dim">
          is {textIn(output, 'state')}
          {typeof recovered === 'number' && `; ${recovered} recovered`}
        </span>
      </p>
    )
  }
  if (typeof value === 'number' || typeof value === 'string')
    return (
      <p className="text-dim">
        It is <bdi>{String(value)}</bdi>.
      </p>
    )
  return (
    <details>
      <summary className="cursor-pointer text-sm text-dim">What came of it</summary>
      <JsonView value={output} />
    </details>
  )
}

function Known({ run }: { readonly run: Run }) {
  const { id, runbook, version, actor, reason, approvedBy, createdAt, endedAt, fingerprint, inputs, isDryRun } = run
  return (
    <Section title="What is known">
      <Facts
        of={[
          [
            'runbook',
            <Link key="runbook" className="link" to={runbookAddress(runbook)}>
              <bdi>{runbook}</bdi>
            </Link>,
          ],
          ['version', version === 0 ? 'comes with Reprise' : String(version)],
          ['dry run', isDryRun ? 'yes: nothing is changed' : null],
          [
            'cause',
            fingerprint === null ? null : (
              <Link key="cause" className="link font-mono text-sm" to={`/failures/${encodeURIComponent(fingerprint)}`}>
                <bdi>{fingerprint}</bdi>
              </Link>
            ),
          ],
          ['by', <bdi key="by">{actor}</bdi>],
          ['reason', <bdi key="reason">{reason}</bdi>],
          ['agreed', approvedBy === null ? null : <bdi key="agreed">{approvedBy}</bdi>],
          ['began', <Ago key="began" at={createdAt} />],
          ['took', endedAt === null ? null : span(endedAt - createdAt)],
          ...Object.entries(inputs).map(
            ([name, value]) =>
              [
                name,
                <bdi key={name} className="font-mono text-sm break-all">
                  {typeof value === 'string' ? value : JSON.stringify(value)}
                </bdi>,
              ] as const,
          ),
          [
            'id',
            <bdi key="id" className="font-mono text-sm break-all">
              {id}
            </bdi>,
          ],
        ]}
      />
    </Section>
  )
}
