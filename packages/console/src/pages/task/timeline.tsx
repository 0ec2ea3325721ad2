// What happened to a task, attempt by attempt: how long it waited, how long it ran and where, how it ended, and what was decided.

import type { OperationOutput } from '../../api/client.ts'
import { count, moment, span, when } from '../../format.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { useNow } from '../../time.ts'

type Task = OperationOutput<'getTask'>
type Execution = OperationOutput<'listExecutions'>['items'][number]

interface Piece {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly colour: string
  readonly name: string
}

const COLOURS: Readonly<Record<string, string>> = {
  running: 'bg-running',
  succeeded: 'bg-succeeded',
  failed: 'bg-dead',
  lost: 'bg-dead',
  cancelled: 'bg-edge',
}

function piecesOf(task: Task, executions: readonly Execution[], now: number): readonly Piece[] {
  const pieces: Piece[] = []
  let at = task.acceptedAt
  for (const { attempt, status, dispatchedAt, resolvedAt } of executions) {
    if (dispatchedAt > at)
      pieces.push({
        key: `wait ${attempt}`,
        from: at,
        to: dispatchedAt,
        colour: 'bg-waiting-soft',
        name: attempt === 1 ? 'queued' : 'waiting',
      })
    const end = resolvedAt ?? now
    pieces.push({
      key: `run ${attempt}`,
      from: dispatchedAt,
      to: Math.max(end, dispatchedAt + 1),
      colour: COLOURS[status] ?? 'bg-edge',
      name: `attempt ${attempt}, ${status}`,
    })
    at = end
  }
  const isLive = ['queued', 'waiting'].includes(task.state.status)
  if (isLive && now > at)
    pieces.push({ key: 'wait now', from: at, to: now, colour: 'bg-waiting-soft', name: task.state.status })
  return pieces
}

export function Timeline({ task, executions }: { readonly task: Task; readonly executions: readonly Execution[] }) {
  const now = useNow()
  const pieces = piecesOf(task, executions, now)
  const first = pieces[0]?.from ?? task.acceptedAt
  const whole = Math.max((pieces.at(-1)?.to ?? first) - first, 1)
  return (
    <>
      {pieces.length > 0 && (
        <div className="mb-3">
          <div
            className="flex h-4 overflow-hidden bg-sunken"
            role="img"
            aria-label={pieces.map(({ name, from, to }) => `${name} ${span(to - from)}`).join(', ')}
          >
            {pieces.map(({ key, from, to, colour, name }) => (
              <span
                key={key}
                className={`min-w-0.5 ${colour}`}
                style={{ flexGrow: Math.max((to - from) / whole, 0.004) }}
                title={`${name}: ${span(to - from)}`}
              />
            ))}
          </div>
          <p className="mt-0.5 flex justify-between text-xs text-dim">
            <span title={moment(first)}>{when(first, now)}</span>
            <span>{span(whole)}</span>
          </p>
        </div>
      )}
      <ol className="flex flex-col">
        <Step at={task.acceptedAt} now={now}>
          <span>accepted</span> <span className="text-dim">priority {task.priority}</span>
        </Step>
        {executions.map((execution) => (
          <Step key={execution.attempt} at={execution.dispatchedAt} now={now}>
            <Attempt execution={execution} now={now} />
          </Step>
        ))}
        {executions.length === 0 && <li className="border-b border-line py-1.5 text-dim">No attempt has begun yet.</li>}
      </ol>
    </>
  )
}

const Step = ({
  at,
  now,
  children,
}: {
  readonly at: number
  readonly now: number
  readonly children: React.ReactNode
}) => (
  <li className="grid grid-cols-[72px_minmax(0,1fr)] gap-3 border-b border-line py-1.5">
    <time className="text-sm text-dim" dateTime={new Date(at).toISOString()} title={moment(at)}>
      {when(at, now)}
    </time>
    <div className="min-w-0">{children}</div>
  </li>
)

function Attempt({ execution, now }: { readonly execution: Execution; readonly now: number }) {
  const { attempt, generation, status, worker, build, dispatchedAt, resolvedAt, failure, decision, retryReason } =
    execution
  const sentence = decision !== null && 'sentence' in decision ? String(decision['sentence']) : null
  const policy =
    decision !== null && 'policy' in decision
      ? (decision['policy'] as { readonly name?: string; readonly version?: number } | null)
      : null
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <StateMark state={status} word={`attempt ${count(attempt)} ${status}`} />
        <span>{span((resolvedAt ?? now) - dispatchedAt)}</span>
        <span className="text-dim">
          {worker !== null && <bdi>{worker}</bdi>}
          {build !== null && (
            <>
              {' '}
              · version <bdi>{build.version}</bdi> · <bdi>{build.host}</bdi>
            </>
          )}
          {generation > 1 && ` · generation ${generation}`}
          {retryReason !== null && ` · retried: ${retryReason.replaceAll('_', ' ')}`}
        </span>
      </p>
      {failure !== null && (
        <p className="break-words">
          <bdi>{failure.message.split('\n', 1)[0]}</bdi>{' '}
          <span className="font-mono text-sm text-dim">{failure.code}</span>
        </p>
      )}
      {sentence !== null && (
        <p className="break-words text-dim">
          → <bdi>{sentence}</bdi>
          {policy?.name !== undefined && ` (policy ${policy.name}, version ${policy.version ?? ''})`}
        </p>
      )}
    </>
  )
}
