// A task: what happened to it, why it is not running now, and what can be done.

import { TRACEPARENT_LABEL } from '@reprise/core'
import { Link, useParam, usePart } from '../../address.tsx'
import { isNotFound, type OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { span } from '../../format.ts'
import { Choice } from '../../parts/choice.tsx'
import { FailureText } from '../../parts/failure-text.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Notes } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, Copy, Since } from '../../parts/texts.tsx'
import { Trace } from '../../parts/trace.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page, Section } from '../../shell/page.tsx'
import { RedriveSheet } from '../redrive/redrive-sheet.tsx'
import { TaskActions } from './task-actions.tsx'
import { TaskDiff } from './task-diff.tsx'
import { TaskJournal } from './task-journal.tsx'
import { Timeline } from './timeline.tsx'
import { WhyNot } from './why-not.tsx'

type Task = OperationOutput<'getTask'>

const TABS = [
  ['', 'What happened'],
  ['explain', 'Why not running'],
  ['diff', 'Beside a good one'],
  ['journal', 'Journal'],
  ['settings', 'Settings'],
] as const

export default function TaskPage() {
  const id = usePart('id')
  const [tab, setTab] = useParam('tab')
  const [sheet, setSheet] = useParam('sheet')
  const mayOperate = useMay('operate')
  const task = useOperation('getTask', { id }, { everyMs: 2_000, keepsPrevious: false })
  const executions = useOperation('listExecutions', { id, limit: 100 }, { everyMs: 2_000, keepsPrevious: false })
  const { data } = task
  const isDead = data?.state.status === 'dead'
  useCommands([
    { title: 'Explain why it is not running', key: 'e', group: 'On this page', run: () => setTab('explain') },
    ...(mayOperate && isDead
      ? [{ title: 'Redrive this task', key: 'r', group: 'On this page' as const, run: () => setSheet('redrive') }]
      : []),
  ])
  if (data === undefined && isNotFound(task.error)) {
    return (
      <Page title="Task">
        <Empty title="There is no such task." command={`npx reprise list 'id:*${id.slice(-6)}'`}>
          Its id may be another one, or retention has removed it.{' '}
          <Link to="/tasks" className="link">
            All tasks
          </Link>
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title={id}
      above={
        <>
          <Link to="/tasks" className="link font-normal">
            Tasks
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={data === undefined ? undefined : sentenceOf(data)}
      actions={
        data === undefined ? undefined : (
          <>
            <TaskActions task={data} />
            {mayOperate && isDead && (
              <button type="button" className="button" onClick={() => setSheet('redrive')}>
                Redrive with patch …
              </button>
            )}
          </>
        )
      }
    >
      <Answered of={task} what="the task">
        {(known) => (
          <>
            <Facts task={known} />
            <Trace traceparent={String(known.labels[TRACEPARENT_LABEL] ?? '')} />
            <div className="mt-3">
              <Choice label="Parts" value={tab} options={TABS} onChange={setTab} />
            </div>
            {tab === '' && (
              <>
                <Section title="Timeline">
                  <Answered of={executions} what="its attempts">
                    {({ items }) => <Timeline task={known} executions={items} />}
                  </Answered>
                </Section>
                <div className="grid gap-x-8 lg:grid-cols-2">
                  <Section title="Payload" aside={<Copy text={JSON.stringify(known.payload, null, 2)} />}>
                    <JsonView value={known.payload} />
                  </Section>
                  <Outcome task={known} />
                </div>
                <Section title="Notes">
                  <Notes notes={known.notes ?? []} on={{ task: id }} />
                </Section>
              </>
            )}
            {tab === 'explain' && <WhyNot id={id} />}
            {tab === 'diff' && <TaskDiff id={id} />}
            {tab === 'journal' && <TaskJournal id={id} />}
            {tab === 'settings' && (
              <Section title="As it was captured when it was submitted">
                <JsonView
                  value={{
                    settings: known.settings,
                    labels: known.labels,
                    priority: known.priority,
                    retryToken: known.retryToken,
                    dedupeKey: known.dedupeKey,
                    deadlineAt: known.deadlineAt,
                    generation: known.generation,
                  }}
                />
              </Section>
            )}
          </>
        )}
      </Answered>
      {sheet === 'redrive' && mayOperate && isDead && (
        <RedriveSheet
          what={{ ids: [id] }}
          command={`--query id:${id}`}
          sample={id}
          count={1}
          onClose={() => setSheet(null)}
        />
      )}
    </Page>
  )
}

interface Said {
  readonly status: string
  readonly at?: number
  readonly reason?: string
  readonly dueAt?: number
  readonly failure?: Parameters<typeof FailureText>[0]['failure']
  readonly result?: unknown
}

const stateOf = ({ state }: Task): Said => state

function sentenceOf(task: Task): string {
  const { status, reason, failure, at } = stateOf(task)
  const tries = task.attempt === 1 ? 'at its first attempt' : `after ${task.attempt} attempts`
  switch (status) {
    case 'dead':
      return `It is dead ${task.attempt === 0 ? '' : tries}: ${failure?.message.split('\n', 1)[0] ?? reason?.replaceAll('_', ' ') ?? ''}`
    case 'succeeded':
      return `It succeeded ${tries}${at === undefined ? '' : `, ${span(at - task.acceptedAt)} after it was accepted`}.`
    case 'running':
      return `Attempt ${task.attempt} is running.`
    case 'waiting':
      return `It waits${reason === undefined ? '' : ` (${reason.replaceAll('_', ' ')})`} and is tried again by itself.`
    case 'queued':
      return 'It stands in the queue.'
    default:
      return `It was ${status}.`
  }
}

function Facts({ task }: { readonly task: Task }) {
  const { status, dueAt } = stateOf(task)
  const labels = Object.entries(task.labels).filter(([name]) => name !== TRACEPARENT_LABEL)
  return (
    <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-y border-line py-1.5">
      <StateMark state={status} />
      <bdi className="min-w-0 font-semibold break-words">{task.action}</bdi>
      <bdi className="min-w-0 break-words">{task.tenant}</bdi>
      <span className="text-dim">
        pool <bdi className="text-ink">{task.pool}</bdi>
      </span>
      <span className="text-dim">
        accepted <Ago at={task.acceptedAt} />
      </span>
      {dueAt !== undefined && (
        <span className="text-dim">
          due <Ago at={dueAt} />
        </span>
      )}
      {task.lastWorker !== null && (
        <span className="text-dim">
          worker <bdi className="text-ink">{task.lastWorker.worker}</bdi>
          {task.lastWorker.version !== null && (
            <>
              {' '}
              · version <bdi className="text-ink">{task.lastWorker.version}</bdi>
            </>
          )}
        </span>
      )}
      {labels.map(([name, value]) => (
        <bdi key={name} className="rounded-sm bg-sunken px-1.5 font-mono text-sm">
          {name}={String(value)}
        </bdi>
      ))}
      {status === 'running' && task.acceptedAt > 0 && (
        <span className="text-running">
          for <Since at={stateOf(task).at ?? task.acceptedAt} />
        </span>
      )}
      <span className="ml-auto">
        <Copy text={task.id} label="Copy id" />
      </span>
    </p>
  )
}

function Outcome({ task }: { readonly task: Task }) {
  const { failure, result, status } = stateOf(task)
  if (failure !== undefined) {
    return (
      <Section
        title="Error"
        aside={
          'fingerprint' in failure ? (
            <Link to={`/failures/${String(failure.fingerprint)}`} className="link">
              its cause →
            </Link>
          ) : undefined
        }
      >
        <FailureText failure={failure} />
      </Section>
    )
  }
  if (status !== 'succeeded') return null
  return (
    <Section title="Result">
      {result === undefined || result === null ? (
        <p className="text-dim">Nothing was handed back.</p>
      ) : (
        <JsonView value={result} />
      )}
    </Section>
  )
}
