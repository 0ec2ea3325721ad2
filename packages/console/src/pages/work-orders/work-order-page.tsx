// One work order with everything that its person needs: what failed and how often, what was tried, how it ended before and how
// others like it ended, what was said; and what can be done about it.

import { address, Link, usePart } from '../../address.tsx'
import { call } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { FailureText } from '../../parts/failure-text.tsx'
import { Remarks } from '../../parts/remarks.tsx'
import { RunbookLink } from '../../parts/runbook-link.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, At, Copy, Id } from '../../parts/texts.tsx'
import { Page, Section } from '../../shell/page.tsx'
import { OrderActions } from './order-actions.tsx'
import { OrderContext } from './order-context.tsx'
import { ORDER_LOOKS, SEVERITY_SHAPES, type WorkOrderDetail } from './order-words.ts'

export default function WorkOrderPage() {
  const id = usePart('id')
  const asked = useOperation('getWorkOrder', { id }, { keepsPrevious: false })
  const order = asked.data
  return (
    <Page
      title={order?.action ?? id}
      above={
        <>
          <Link to="/work-orders" className="link font-normal">
            Work orders
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={order && <Sentence order={order} />}
      actions={order && <OrderActions order={order} />}
    >
      <Answered of={asked} what="the work order">
        {(known) => (
          <div className="grid gap-x-8 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
            <div className="min-w-0">
              {known.sample !== null && (
                <Section title="The newest failure">
                  <FailureText failure={known.sample} />
                </Section>
              )}
              <OrderContext id={known.id} fingerprint={known.subject.fingerprint} />
              <Tasks order={known} />
              <Comments order={known} />
            </div>
            <div className="min-w-0">
              <Context order={known} />
              <Ends title="How it ended before" ends={known.past.toReversed()} />
              <Ends title="How others of this action ended" ends={known.similar} />
            </div>
          </div>
        )}
      </Answered>
    </Page>
  )
}

function Sentence({ order: { state, dead, owner } }: { readonly order: WorkOrderDetail }) {
  const [look, word] = ORDER_LOOKS[state.status]
  return (
    <>
      <StateMark state={look} word={word} /> ·{' '}
      {dead === 0 ? 'No dead letter of its cause is left' : `${many(dead, 'dead letter')} of its cause`}
      {state.status === 'open' && (
        <>
          ; {state.because === 'again' ? 'it came back' : 'opened'} <Ago at={state.since} />, nobody is on it.
        </>
      )}
      {state.status === 'in_progress' && (
        <>
          ; <bdi>{owner ?? state.by}</bdi> is on it since <At at={state.since} />.
        </>
      )}
      {(state.status === 'resolved' || state.status === 'wont_fix') && (
        <>
          ; <bdi>{state.result}</bdi> (<bdi>{state.by}</bdi>, <Ago at={state.since} />)
        </>
      )}
    </>
  )
}

function Context({ order }: { readonly order: WorkOrderDetail }) {
  const { id, subject, severity, owner, runbook, dueAt, openedAt, lastDeathAt, action, tickets } = order
  const fingerprint = encodeURIComponent(subject.fingerprint)
  return (
    <Section title="What is known">
      <Facts
        of={[
          [
            'cause',
            <span key="cause" className="flex flex-wrap gap-x-3">
              <Link className="link font-mono text-sm" to={`/failures/${fingerprint}`}>
                <bdi>{subject.fingerprint}</bdi>
              </Link>
              <Link className="link" to={`/failures/${fingerprint}?sheet=redrive`}>
                redrive …
              </Link>
            </span>,
          ],
          ['task', subject.kind === 'task' ? <TaskLink key="task" id={subject.taskId} /> : null],
          ['tenant', subject.kind === 'task' ? <bdi key="tenant">{subject.tenant}</bdi> : null],
          [
            'action',
            <Link key="action" className="link" to={address('/work-orders', { action })}>
              <bdi>{action}</bdi>
            </Link>,
          ],
          [
            'severity',
            <span key="severity" className={severity === 'critical' || severity === 'high' ? 'text-dead' : ''}>
              <span aria-hidden="true">{SEVERITY_SHAPES[severity]}</span>
              {severity}
            </span>,
          ],
          ['owner', owner === null ? 'nobody' : <bdi key="owner">{owner}</bdi>],
          [
            'runbook',
            runbook === null ? null : <RunbookLink key="runbook" runbook={runbook} fingerprint={subject.fingerprint} />,
          ],
          ['due', dueAt === null ? null : <Ago key="due" at={dueAt} />],
          ['opened', <Ago key="opened" at={openedAt} />],
          ['last death', <Ago key="last" at={lastDeathAt} />],
          [
            'tickets',
            tickets.length === 0 ? null : (
              <span key="tickets" className="flex flex-wrap gap-x-3">
                {tickets.map((one) => (
                  <TicketLink key={one.system} ticket={one} />
                ))}
              </span>
            ),
          ],
          [
            'id',
            <span key="id" className="flex flex-wrap items-center gap-2">
              <bdi className="font-mono text-sm break-all">{id}</bdi> <Copy text={id} />
            </span>,
          ],
        ]}
      />
    </Section>
  )
}

const TaskLink = ({ id }: { readonly id: string }) => (
  <Link className="link" to={`/tasks/${encodeURIComponent(id)}`}>
    <Id id={id} />
  </Link>
)

type Ticket = WorkOrderDetail['tickets'][number]

/** Its address was checked when it came in: nothing but the web. */
function TicketLink({
  ticket: { system, ticket, url, status, isThere, isClosed, error },
}: {
  readonly ticket: Ticket
}) {
  if (!isThere) {
    return (
      <span className="text-dead">
        <bdi>{system}</bdi>: not made yet{error !== null && <bdi className="break-words">. {error}</bdi>}
      </span>
    )
  }
  const words = `${system}: ${ticket ?? 'a ticket'} (${status ?? (isClosed ? 'closed' : 'open')})`
  if (url === null) return <bdi>{words}</bdi>
  return (
    <a className="link" href={url} rel="noreferrer" target="_blank">
      <bdi>{words}</bdi>
    </a>
  )
}

function Tasks({ order: { tasks, subject } }: { readonly order: WorkOrderDetail }) {
  if (tasks.length === 0) return null
  const q = `status:dead fingerprint:${subject.fingerprint}`
  return (
    <Section title="The tasks that died last" aside={<Link to={address('/tasks', { q })}>all that are dead now</Link>}>
      <p className="flex flex-wrap gap-x-3 gap-y-1">
        {tasks.map((id) => (
          <TaskLink key={id} id={id} />
        ))}
      </p>
    </Section>
  )
}

type End = WorkOrderDetail['past'][number] & { readonly id?: string }

const BECAUSE: Readonly<Record<End['because'], string>> = {
  operator: '',
  outside: 'its ticket was closed',
  recovered: 'its tasks recovered',
  gone: 'its tasks were discarded, cancelled or removed',
}

function Ends({ title, ends }: { readonly title: string; readonly ends: readonly End[] }) {
  if (ends.length === 0) return null
  return (
    <Section title={title}>
      <ul>
        {ends.map((end) => (
          <li key={`${end.id ?? ''} ${end.since}`} className="border-b border-line py-1">
            <StateMark state={ORDER_LOOKS[end.status][0]} word={ORDER_LOOKS[end.status][1]} />{' '}
            <bdi className="break-words">{end.result}</bdi>
            <span className="text-sm text-dim">
              {BECAUSE[end.because] !== '' && ` · ${BECAUSE[end.because]}`} · <bdi>{end.by}</bdi>,{' '}
              <Ago at={end.since} />
            </span>{' '}
            {end.id !== undefined && (
              <Link className="link text-sm" to={`/work-orders/${encodeURIComponent(end.id)}`}>
                see it
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Comments({ order: { id, comments } }: { readonly order: WorkOrderDetail }) {
  return (
    <Section title="Comments">
      <Remarks
        remarks={comments}
        none="Nobody has said anything yet."
        label="A comment"
        hint="What you found, and who you asked"
        verb="Comment"
        maxLength={1_000}
        add={(text) => call('commentWorkOrder', { id, text })}
      />
    </Section>
  )
}
