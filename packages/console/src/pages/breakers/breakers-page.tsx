// Breakers: what is held because something that tasks need is down; what tripped it, when it is tried again, and how to close it.

import { useState } from 'react'
import { address, Link, useParam } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { useMay, useSeesAll } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { count, many, share, span } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, At, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'

type Breaker = OperationOutput<'listBreakers'>['items'][number]
type Event = OperationOutput<'listEvents'>['items'][number]

const LOOKS = {
  open: ['held', 'open'],
  half_open: ['waiting', 'trying'],
  ramping: ['running', 'letting more through'],
  closed: ['succeeded', 'closed'],
} as const
const ORDER = ['open', 'half_open', 'ramping', 'closed'] as const

const nameOf = ({ name, tenant }: Breaker): string => (tenant === null ? name : `${name} of ${tenant}`)

export default function BreakersPage() {
  const asked = useOperation('listBreakers', { limit: 500 })
  const trips = useOperation('listEvents', { newest: true, since: '24h', type: 'breaker.opened', limit: 500 })
  const mayOperate = useMay('operate')
  const [resetting, setResetting] = useState<Breaker | null>(null)
  const [chosen] = useParam('name')
  const breakers = asked.data?.items
    .filter(({ name }) => chosen === '' || name === chosen)
    .toSorted(
      (one, other) =>
        ORDER.indexOf(one.state.status) - ORDER.indexOf(other.state.status) || (nameOf(one) < nameOf(other) ? -1 : 1),
    )
  const holding = breakers?.filter(({ state }) => state.status !== 'closed') ?? []
  useCommands(
    mayOperate
      ? holding.map((one) => ({
          title: `Close breaker ${nameOf(one)}`,
          group: 'On this page' as const,
          run: () => setResetting(one),
        }))
      : [],
  )
  return (
    <Page title="Breakers" sentence={breakers === undefined ? undefined : sentenceOf(breakers)}>
      <Answered of={asked} what="breakers">
        {() =>
          breakers === undefined || breakers.length === 0 ? (
            <Empty title="No breaker holds anything, and none has seen failures lately." command="npx reprise breakers">
              A breaker comes into being when tasks fail in a way that looks like an outage. It opens when too many do,
              holds the work without using up attempts, and lets a few tasks through to try. Say what a task depends on
              with <code>uses</code> in its action, and tasks of several actions share one.
            </Empty>
          ) : (
            <ul aria-label="Breakers" className="border-t border-line">
              {breakers.map((breaker) => (
                <One
                  key={nameOf(breaker)}
                  breaker={breaker}
                  trip={trips.data?.items.find((event) => isOf(event, breaker))}
                  onReset={mayOperate ? () => setResetting(breaker) : null}
                />
              ))}
            </ul>
          )
        }
      </Answered>
      {resetting !== null && <Confirm change={resetOf(resetting)} onClose={() => setResetting(null)} />}
    </Page>
  )
}

function sentenceOf(breakers: readonly Breaker[]): string {
  const holding = breakers.filter(({ state }) => state.status !== 'closed')
  const [first] = holding
  if (first === undefined) {
    return breakers.length === 0
      ? 'Nothing is held by a breaker.'
      : `Nothing is held. ${many(breakers.length, 'breaker has', 'breakers have')} seen failures lately.`
  }
  if (holding.length > 1) return `${count(holding.length)} breakers hold work back.`
  return `Breaker ${nameOf(first)} is ${LOOKS[first.state.status][1]}: what it holds waits, and no attempt is charged.`
}

const isOf = ({ data: { details } }: Event, { name, tenant }: Breaker): boolean =>
  (details['breaker'] ?? details['name']) === name && (details['tenant'] ?? null) === tenant

function One({
  breaker,
  trip,
  onReset,
}: {
  readonly breaker: Breaker
  readonly trip: Event | undefined
  readonly onReset: (() => void) | null
}) {
  const { name, tenant, state, actions, settings } = breaker
  const [look, word] = LOOKS[state.status]
  const seesAll = useSeesAll()
  const isHolding = state.status !== 'closed'
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 border-b border-line py-2">
      <span className="w-40 shrink-0">
        <StateMark state={look} word={word} />
        {isHolding && (
          <span className="block pl-[18px] text-sm text-dim">
            since <At at={state.since} />
          </span>
        )}
      </span>
      <div className="min-w-0 flex-1 basis-72">
        <p>
          <bdi className="font-semibold break-words">{name}</bdi>{' '}
          <span className="text-dim">
            {tenant === null ? 'of all tenants' : 'of tenant '}
            {tenant !== null && <bdi>{tenant}</bdi>}
          </span>
        </p>
        <p className="break-words">
          <Next breaker={breaker} />
        </p>
        <p className="text-sm break-words text-dim">
          {actions.length > 0 && (
            <>
              Holds{' '}
              {actions.map((action, index) => (
                <span key={action}>
                  {index > 0 && ', '}
                  <Link className="link" to={address('/lanes', { action, tenant })}>
                    <bdi>{action}</bdi>
                  </Link>
                </span>
              ))}
              {'. '}
            </>
          )}
          Opens at {share(settings.failureRate, 1)} of failures, at least {count(settings.minFailures)}, within{' '}
          {span(settings.windowMs)}.{seesAll && <Voices breaker={breaker} />}
        </p>
        {trip !== undefined && (
          <p className="text-sm break-words text-dim">
            Opened last <Ago at={Date.parse(trip.time)} /> by <bdi>{trip.data.actor}</bdi>:{' '}
            <bdi>{trip.data.reason}</bdi>
            {trip.subject !== undefined && (
              <>
                {' '}
                <Link className="link" to={`/tasks/${encodeURIComponent(trip.subject)}`}>
                  the task that did it
                </Link>
              </>
            )}
          </p>
        )}
      </div>
      {onReset !== null && (
        <button type="button" className="button h-7 text-sm" onClick={onReset}>
          {isHolding ? 'Close it …' : 'Forget its failures …'}
        </button>
      )}
    </li>
  )
}

/** What happens next, by itself. */
function Next({ breaker: { state, settings, buckets, voices } }: { readonly breaker: Breaker }) {
  const now = useNow()
  switch (state.status) {
    case 'open':
      return state.until > now
        ? `Nothing starts. In ${span(state.until - now)} ${many(settings.probes, 'task')} of each action may try${state.opens > 1 ? `; it has opened ${count(state.opens)} times in a row` : ''}.`
        : 'Nothing started yet. The next claim lets a few tasks through to try.'
    case 'half_open':
      return `${count(state.succeeded)} of ${many(settings.probes, 'probe')} succeeded. When all have, more and more is let through; if one fails, it opens again.`
    case 'ramping':
      return `At most ${count(state.concurrency)} run at once, twice as many after each round that goes well, up to ${count(settings.maxRamp)}. Then it is closed.`
    case 'closed': {
      const sum = (of: 'ok' | 'failed'): number => [...buckets, ...voices].reduce((total, one) => total + one[of], 0)
      return `Holds nothing. ${count(sum('failed'))} failed and ${count(sum('ok'))} succeeded in its window.`
    }
  }
}

function Voices({ breaker: { voices } }: { readonly breaker: Breaker }) {
  const against = voices.filter(({ failed }) => failed > 0).toSorted((one, other) => other.failed - one.failed)
  if (against.length === 0) return null
  return (
    <>
      {' '}
      Failures come from{' '}
      <bdi>
        {against
          .slice(0, 5)
          .map(({ tenant, failed }) => `${tenant} (${count(failed)})`)
          .join(', ')}
      </bdi>
      {against.length > 5 ? ` and ${many(against.length - 5, 'other tenant')}` : ''}.
    </>
  )
}

function resetOf(breaker: Breaker): Change {
  const { name, tenant, actions } = breaker
  return {
    title: `Close ${nameOf(breaker)}`,
    verb: 'Close the breaker',
    needsReason: true,
    command: `npx reprise breakers reset ${shellWord(name)}${tenant === null ? '' : ` --tenant ${shellWord(tenant)}`}`,
    touches: (
      <>
        <p>
          Work of <bdi>{actions.length === 0 ? 'what it covers' : actions.join(', ')}</bdi> goes on at once, as fast as
          workers take it, and the failures that it counted are forgotten.
          {tenant === null && ' The breakers of this name of each tenant are closed as well.'}
        </p>
        <p>If what they need is still down, tasks use up attempts until the breaker opens again.</p>
      </>
    ),
    run: async (reason) => {
      const { changed } = await call('resetBreaker', { name, tenant: tenant ?? undefined, reason })
      await refresh()
      return changed ? `${nameOf(breaker)} is closed.` : `${nameOf(breaker)} is not there any more.`
    },
  }
}
