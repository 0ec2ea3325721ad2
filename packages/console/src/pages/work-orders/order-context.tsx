// What is known about the failure that a work order is about: the attempts of one task and its payload, what is different, how the
// workers and breakers are, and which runbooks helped.

import { Link } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { Facts } from '../../parts/facts.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { RunbookLink } from '../../parts/runbook-link.tsx'
import { Answered } from '../../parts/states.tsx'
import { Section } from '../../shell/page.tsx'

type Known = OperationOutput<'getWorkOrderContext'>

export function OrderContext({ id, fingerprint }: { readonly id: string; readonly fingerprint: string }) {
  const asked = useOperation('getWorkOrderContext', { id }, { keepsPrevious: true })
  return (
    <Section title="The failure">
      <Answered of={asked} what="what is known about the failure">
        {(known) => (
          <>
            <Facts of={factsOf(known, fingerprint)} />
            {known.task !== null && (
              <div className="mt-2">
                <JsonView value={known.payload} />
              </div>
            )}
          </>
        )}
      </Answered>
    </Section>
  )
}

function factsOf({ task, chain, contrasts, workers, breakers, runbooks }: Known, fingerprint: string) {
  const { healthy, degraded, unhealthy } = workers
  const lines = (items: readonly { readonly key: string; readonly text: string }[]) =>
    items.length === 0 ? null : (
      <ul>
        {items.map(({ key, text }) => (
          <li key={key}>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
    )
  return [
    [
      'task',
      task === null ? null : (
        <Link key="task" className="link font-mono text-sm" to={`/tasks/${encodeURIComponent(task.id)}`}>
          <bdi>{task.id}</bdi>
        </Link>
      ),
    ],
    ['attempts', lines(chain.map((one) => ({ key: String(one.attempt), text: attemptText(one) })))],
    ['different', lines(contrasts.map((text) => ({ key: text, text })))],
    ['workers', `${healthy} healthy, ${degraded} degraded, ${unhealthy} unhealthy`],
    [
      'breakers',
      lines(
        breakers.map(({ name, tenant, status }) => ({
          key: `${name} ${tenant ?? ''}`,
          text: `${name} is ${status.replace('_', ' ')}`,
        })),
      ),
    ],
    [
      'runbooks',
      runbooks.length === 0 ? null : (
        <ul key="runbooks">
          {runbooks.map(({ name, suggested, runs, succeeded }) => (
            <li key={name}>
              <RunbookLink runbook={name} fingerprint={fingerprint} />, because {suggested}; helped {succeeded} of{' '}
              {runs} times
            </li>
          ))}
        </ul>
      ),
    ],
  ] as const
}

const attemptText = ({ attempt, status, worker, version, code, message }: Known['chain'][number]): string =>
  `#${attempt} ${status} on ${worker ?? 'no worker'}${version === null ? '' : ` (version ${version})`}${code === null ? '' : `, ${code}: ${message}`}`
