// Why a task is not running now: every gate with what would lift it, and every worker that was considered.

import { address, Link } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { Answered } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'

type Gate = OperationOutput<'explainTask'>['gates'][number]

const LIFTS: Readonly<Record<Gate['kind'], { readonly name: string; readonly lift: string; readonly to: string }>> = {
  paused: { name: 'Its lane is paused', lift: 'Resume the lane.', to: '/lanes' },
  concurrency: {
    name: 'As many run as may',
    lift: 'It starts when one of them ends, or when the limit is raised.',
    to: '/lanes',
  },
  not_due: { name: 'It is not due yet', lift: 'Wait, or promote it.', to: '' },
  breaker: {
    name: 'A breaker holds it',
    lift: 'It starts when the probes succeed, or when the breaker is reset.',
    to: '/breakers',
  },
  retry_quota: { name: 'Too many retries in this window', lift: 'It goes on in the next window.', to: '/policies' },
  no_worker: {
    name: 'No healthy worker takes this action',
    lift: 'Start a worker for its pool and action.',
    to: '/workers',
  },
}

export function WhyNot({ id }: { readonly id: string }) {
  const asked = useOperation('explainTask', { id }, { everyMs: 2_000 })
  return (
    <Answered of={asked} what="why it is not running">
      {({ summary, gates, workers, nextAt }) => (
        <>
          <p className="mt-4 max-w-4xl text-md font-semibold break-words">
            <bdi>{summary}</bdi>
          </p>
          {nextAt !== null && (
            <p className="text-dim">
              The next thing can change <Ago at={nextAt} />.
            </p>
          )}
          <Section title="What holds it">
            {gates.length === 0 && <p className="text-dim">Nothing holds it.</p>}
            <ul>
              {gates.map((gate) => (
                <OneGate key={JSON.stringify(gate)} gate={gate} />
              ))}
            </ul>
          </Section>
          <Section title="Workers">
            {workers.length === 0 && <p className="text-dim">No worker is there that could take it.</p>}
            <ul className="flex flex-col gap-0.5">
              {workers.map(({ worker, verdict, reasons }) => (
                <li key={worker} className="flex flex-wrap gap-x-3">
                  <span className={verdict === 'eligible' ? 'text-succeeded' : 'text-dim'}>
                    {verdict === 'eligible' ? '✓ could take it' : `✕ ${verdict.replaceAll('_', ' ')}`}
                  </span>
                  <Link to={address(`/workers`, { worker })} className="link">
                    <bdi>{worker}</bdi>
                  </Link>
                  <span className="text-dim">{reasons.map((reason) => reason.replaceAll('_', ' ')).join(', ')}</span>
                </li>
              ))}
            </ul>
          </Section>
        </>
      )}
    </Answered>
  )
}

function OneGate({ gate }: { readonly gate: Gate }) {
  const { name, lift, to } = LIFTS[gate.kind]
  const scope = Object.entries(gate.scope ?? {}).map(([field, value]) => `${field} ${value}`)
  const reason = 'reason' in gate ? String(gate['reason']) : ''
  return (
    <li className="border-b border-line py-1.5">
      <p>
        <span className="text-held">‖ {name}</span>{' '}
        {scope.length > 0 && <bdi className="text-dim">{scope.join(', ')}</bdi>} {reason !== '' && <bdi>{reason}</bdi>}
      </p>
      <p className="text-dim">
        {lift}{' '}
        {to !== '' && (
          <Link to={to} className="link">
            open →
          </Link>
        )}
      </p>
    </li>
  )
}
