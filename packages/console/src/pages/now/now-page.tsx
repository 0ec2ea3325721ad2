// Now: is all well, and if not, what and since when. The first line answers; below it what needs somebody, then the figures.

import { lazy, Suspense } from 'react'
import { Link, navigate } from '../../address.tsx'
import { useSeesAll } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { count, many, share, span } from '../../format.ts'
import { Choice } from '../../parts/choice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty, Waiting } from '../../parts/states.tsx'
import { At } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page, Section } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'
import {
  breakerConcerns,
  type Concern,
  causeConcerns,
  LATE,
  lateConcerns,
  ledgerConcerns,
  redriveConcerns,
  withAlerts,
  workerConcerns,
} from './concerns.ts'
import { LedgerLine } from './ledger-line.tsx'
import { RANGES, setRange, useRange } from './range.ts'

const Charts = lazy(() => import('./charts.tsx'))
export default function NowPage() {
  const seesAll = useSeesAll()
  const now = useNow()
  const counts = useOperation('counts', {})
  const monitoring = useOperation('monitoring', {}, { enabled: seesAll })
  const groups = useOperation('listFailureGroups', { state: 'open', order: 'recent', limit: 20 })
  const breakers = useOperation('listBreakers', {})
  const workers = useOperation('listWorkers', {}, { enabled: seesAll })
  const redrives = useOperation('listRedrives', {})
  const ledger = useOperation('getLedger', { limit: 1 })
  const { minutes } = useRange()
  const alerts = useOperation('listAlerts', { limit: 100 }, { enabled: seesAll })
  const found: readonly Concern[] = [
    ...ledgerConcerns(ledger.data?.differences ?? []),
    ...causeConcerns(groups.data?.items ?? [], (groups.data?.next ?? null) !== null, now),
    ...lateConcerns(monitoring.data?.because ?? []),
    ...breakerConcerns(breakers.data?.items ?? []),
    ...redriveConcerns(redrives.data?.items ?? []),
    ...workerConcerns(workers.data?.items ?? []),
  ]
  const concerns = withAlerts(found, alerts.data?.items ?? [])
  const isKnown = counts.data !== undefined && groups.data !== undefined && (!seesAll || monitoring.data !== undefined)
  useCommands(
    concerns
      .slice(0, 3)
      .map(({ what, to }) => ({ title: `Open: ${what}`, group: 'On this page' as const, run: () => navigate(to) })),
  )
  return (
    <Page title="Now" sentence={isKnown ? sentenceOf(concerns, counts.data?.accepted ?? 0) : undefined}>
      <Answered of={counts} what="the counts">
        {(known) =>
          known.accepted === 0 ? (
            <Empty title="No task has come in yet." command={`npx reprise submit hello '{"name":"Ann"}' --wait`}>
              Submit one from your code, or from a terminal. It shows here at once.
            </Empty>
          ) : (
            <>
              <Concerns concerns={concerns} />
              {monitoring.data !== undefined && <Figures of={monitoring.data} />}
              <Section
                title="The last"
                aside={<Choice label="Range" value={String(minutes)} options={RANGES} onChange={setRange} />}
              >
                <div className="min-h-36">
                  <Suspense fallback={<Waiting what="charts" />}>
                    <Charts />
                  </Suspense>
                </div>
              </Section>
              <Section title="Accounts">
                <LedgerLine counts={known} />
              </Section>
            </>
          )
        }
      </Answered>
    </Page>
  )
}

function sentenceOf(concerns: readonly Concern[], accepted: number): string {
  if (accepted === 0) return 'Nothing runs here yet.'
  const needs = concerns.filter(({ state }) => state !== 'running').length
  if (needs === 0) return concerns.length === 0 ? 'All is well.' : 'All is well; a redrive is under way.'
  return needs === 1 ? 'One thing needs you.' : `${count(needs)} things need you.`
}

const WORDS = { dead: 'failing', held: 'held', waiting: 'unwell', running: 'running' } as const

function Concerns({ concerns }: { readonly concerns: readonly Concern[] }) {
  if (concerns.length === 0) {
    return (
      <p className="text-dim">
        No alert fires. No open cause, no open breaker, no unhealthy worker, no redrive under way.
      </p>
    )
  }
  return (
    <ul className="border-t border-line" aria-label="What needs you">
      {concerns.map(({ key, state, what, details, since, to }) => (
        <li key={key} className="border-b border-line">
          <Link
            to={to}
            className="grid grid-cols-[16px_minmax(0,1fr)] items-baseline gap-x-2 py-1.5 hover:bg-sunken sm:grid-cols-[16px_minmax(0,1fr)_auto]"
          >
            <StateMark state={state} word={WORDS[state]} isShort={true} />
            <span className="flex min-w-0 flex-wrap gap-x-3 gap-y-0.5">
              <bdi className="line-clamp-2 min-w-0 font-semibold break-words" title={what}>
                {what}
              </bdi>
              <bdi className="min-w-0 break-words text-dim">{details}</bdi>
            </span>
            <span className="text-sm whitespace-nowrap text-dim max-sm:col-start-2">
              {since === null ? (
                ''
              ) : (
                <>
                  since <At at={since} />
                </>
              )}{' '}
              <span className="text-accent">open →</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

type Monitoring = NonNullable<ReturnType<typeof useOperation<'monitoring'>>['data']>

function Figures({
  of: { retryRate, retrySuccess, health, queueDepth, windowMs, because },
}: {
  readonly of: Monitoring
}) {
  const figures: readonly (readonly [string, string, string])[] = [
    [
      'to be tried again',
      share(retryRate.retried, retryRate.ended),
      `${count(retryRate.retried)} of ${many(retryRate.ended, 'attempt')}`,
    ],
    [
      'retries that help',
      share(retrySuccess.succeeded, retrySuccess.succeeded + retrySuccess.failed),
      `${count(retrySuccess.succeeded)} of ${count(retrySuccess.succeeded + retrySuccess.failed)}`,
    ],
    [
      'workers taking work',
      count(health.takingWork),
      `of ${count(health.workers)}, ${count(health.unhealthy)} unhealthy`,
    ],
    [
      'waiting for a slot',
      queueDepth.average === null ? '–' : count(Math.round(queueDepth.average)),
      queueDepth.max === null ? '' : `at most ${count(queueDepth.max)}`,
    ],
  ]
  // What is late stands above, among what needs somebody.
  const others = because.filter(({ about }) => !LATE.has(about))
  return (
    <Section title={`In the last ${span(windowMs)}`}>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        {figures.map(([name, value, detail]) => (
          <div key={name} className="min-w-0">
            <dt className="text-sm text-dim">{name}</dt>
            <dd className="text-lg font-semibold">{value}</dd>
            <dd className="text-sm text-dim">{detail}</dd>
          </div>
        ))}
      </dl>
      {others.length > 0 && (
        <ul className="mt-2 flex flex-col gap-0.5">
          {others.map(({ about, says, level }) => (
            <li key={about}>
              <span className={level === 'critical' ? 'text-dead' : 'text-waiting'}>
                {level === 'critical' ? '✕ critical' : '◔ warning'}
              </span>{' '}
              <bdi>{says}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
