// A cause: what is different about these failures, what changed before, how it goes, and what to do about it.

import type { ReactNode } from 'react'
import { address, Link, useParam, usePart } from '../../address.tsx'
import { isNotFound } from '../../api/client.ts'
import { useMay, useSeesAll } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { causeWords } from '../../cause-words.ts'
import { count, many, share } from '../../format.ts'
import { Differences } from '../../parts/differences.tsx'
import { FailureText } from '../../parts/failure-text.tsx'
import { Notes } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Ago, At, Copy, Id } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Page, Section } from '../../shell/page.tsx'
import { RedriveSheet } from '../redrive/redrive-sheet.tsx'
import { Alike } from './alike.tsx'
import { CaseActions } from './case-actions.tsx'
import { CASE_LOOKS, type GroupFigures } from './cases.ts'
import { Contrasts, causeSentence } from './contrasts.tsx'
import { Helped } from './helped.tsx'
import { signsOf, tellingFirst } from './signs.ts'
import { Merged, Parts } from './split-groups.tsx'
import { Suggested } from './suggested.tsx'
import { Changes, Trend } from './trend.tsx'

const SLOW_MS = 15_000

export default function CausePage() {
  const fingerprint = usePart('fingerprint')
  const [sheet, setSheet] = useParam('sheet')
  const mayOperate = useMay('operate')
  const seesAll = useSeesAll()
  const group = useOperation('getFailureGroup', { fingerprint }, { keepsPrevious: false })
  const cause = useOperation(
    'explainFailureGroup',
    { fingerprint },
    // Without dead letters there is nothing to compare.
    { everyMs: SLOW_MS, live: false, keepsPrevious: false, enabled: group.data !== undefined && group.data.count > 0 },
  )
  const { data } = group
  const canRedrive = mayOperate && data !== undefined && data.count > 0
  useCommands(
    canRedrive
      ? [{ title: 'Redrive this cause', key: 'r', group: 'On this page', run: () => setSheet('redrive') }]
      : [],
  )
  if (data === undefined && isNotFound(group.error)) {
    return (
      <Page title="Cause">
        <Empty title="There is no such cause." command="npx reprise groups">
          It may have been removed with its tasks.{' '}
          <Link to="/failures" className="link">
            All causes
          </Link>
        </Empty>
      </Page>
    )
  }
  const title = data === undefined ? fingerprint : data.sample === null ? data.action : causeWords(data.sample)
  return (
    <Page
      title={title}
      above={
        <>
          <Link to="/failures" className="link font-normal">
            Failures
          </Link>{' '}
          ›{' '}
        </>
      }
      sentence={
        data?.count === 0
          ? 'No dead letter of it is left.'
          : cause.data === undefined
            ? undefined
            : causeSentence(tellingFirst(cause.data.contrasts), whoSentence(data))
      }
      actions={
        data === undefined ? undefined : (
          <>
            <CaseActions group={data} />
            {canRedrive && (
              <button type="button" className="button button-main" onClick={() => setSheet('redrive')}>
                Redrive {count(data.count)} …
              </button>
            )}
          </>
        )
      }
    >
      <Answered of={group} what="the cause">
        {(known) => (
          <>
            <Line group={known} />
            <Section
              title="What the failures have, and the successes don't"
              aside={
                cause.data === undefined
                  ? undefined
                  : `${many(cause.data.sample.failures, 'failure')} against ${many(cause.data.sample.successes, 'success', 'successes')}`
              }
            >
              {known.count === 0 && <p className="text-dim">No dead letter of it is left.</p>}
              {known.count > 0 && (
                <Answered of={cause} what="what is different">
                  {({ contrasts, summary }) =>
                    contrasts.length === 0 ? (
                      <p className="text-dim">{summary}</p>
                    ) : (
                      <Contrasts contrasts={tellingFirst(contrasts)} />
                    )
                  }
                </Answered>
              )}
            </Section>
            {cause.data !== undefined && (
              <Alike fingerprint={known.fingerprint} signs={signsOf(cause.data.contrasts)} />
            )}
            <div className="grid gap-x-8 lg:grid-cols-2">
              {seesAll && <Trend group={known} marks={cause.data?.changes ?? []} />}
              <Changes changes={cause.data?.changes ?? []} beganAt={cause.data?.beganAt ?? known.firstAt} />
            </div>
            <Parts group={known} />
            <Merged group={known} />
            {seesAll && <Suggested group={known} />}
            <Helped group={known} />
            <LastFailure group={known} />
            <div className="grid gap-x-8 lg:grid-cols-2">
              <WhoAndWhere group={known} />
              {seesAll && (
                <Section title="Notes">
                  <Notes notes={known.notes ?? []} on={{ fingerprint }} />
                </Section>
              )}
            </div>
          </>
        )}
      </Answered>
      {sheet === 'redrive' && mayOperate && data !== undefined && (
        <RedriveSheet
          what={{ fingerprint }}
          command={`--fingerprint ${fingerprint}`}
          sample={data.lastTask}
          count={data.count}
          onClose={() => setSheet(null)}
        />
      )}
    </Page>
  )
}

function Line({ group }: { readonly group: GroupFigures }) {
  const { look, word } = CASE_LOOKS[group.case?.state.status ?? 'open']
  const q = `status:dead fingerprint:${[group.fingerprint, ...(group.members ?? [])].join(',')}`
  return (
    <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-y border-line py-1.5">
      <StateMark state={look} word={word} />
      <bdi className="min-w-0 break-words">{group.action}</bdi>
      <span>
        <strong>{count(group.count)}</strong> dead
      </span>
      <span className="text-dim">
        first <Ago at={group.firstAt} />, last <Ago at={group.lastAt} />
      </span>
      {group.case?.firstVersion !== undefined && (
        <span className="text-dim">
          began with version <bdi className="text-ink">{group.case.firstVersion}</bdi>
        </span>
      )}
      {group.case?.owner != null && (
        <span className="text-dim">
          owner <bdi>{group.case.owner}</bdi>
        </span>
      )}
      {group.case !== undefined && group.case.regressions > 0 && (
        <span className="text-dead">came back {many(group.case.regressions, 'time')}</span>
      )}
      <Link to={address('/tasks', { q })} className="link">
        its tasks →
      </Link>
      <span className="ml-auto inline-flex items-center gap-2 text-sm text-dim">
        <span className="font-mono">{group.fingerprint}</span> <Copy text={group.fingerprint} />
      </span>
    </p>
  )
}

/** Where there is nothing to compare: how many died, since when, and what they have in common. */
function whoSentence(group: GroupFigures | undefined): ReactNode {
  if (group === undefined) return undefined
  const { count: dead, action, firstAt, tenants, versions, sampled } = group
  const shared = (
    [
      ['tenant', tenants],
      ['version', versions],
    ] as const
  ).flatMap(([name, [first]]) => (first?.value != null && first.count === sampled ? [`${name} ${first.value}`] : []))
  return (
    <>
      {many(dead, 'task')} of <bdi>{action}</bdi> died since <At at={firstAt} />
      {shared.length > 0 && (
        <>
          , {dead === 1 ? 'with' : 'all with'} <bdi>{shared.join(', ')}</bdi>
        </>
      )}
      .
    </>
  )
}

function LastFailure({ group: { sample, lastTask } }: { readonly group: GroupFigures }) {
  const diff = useOperation(
    'diffAttempt',
    { id: lastTask ?? '' },
    { enabled: lastTask !== null, everyMs: SLOW_MS, live: false },
  )
  if (sample === null || lastTask === null) return null
  return (
    <div className="grid gap-x-8 lg:grid-cols-2">
      <Section
        title="The last failure"
        aside={
          <Link to={`/tasks/${encodeURIComponent(lastTask)}`} className="link">
            task <Id id={lastTask} />
          </Link>
        }
      >
        <FailureText failure={sample} />
      </Section>
      <Section title="Beside the last good one">
        <Answered of={diff} what="the difference">
          {({ differences, summary }) =>
            differences.length === 0 ? (
              <p className="text-dim">{summary}</p>
            ) : (
              <Differences
                before="failed"
                after="good"
                rows={differences.map(({ feature, failed, good }) => ({ feature, before: failed, after: good }))}
              />
            )
          }
        </Answered>
      </Section>
    </div>
  )
}

type Values = readonly { readonly value: string | null; readonly count: number }[]

function WhoAndWhere({ group }: { readonly group: GroupFigures }) {
  const lists: readonly (readonly [string, Values])[] = [
    ['Tenants', group.tenants],
    ['Versions', group.versions],
    ['Hosts', group.hosts],
    ['Pools', group.pools],
  ]
  if (group.sampled === 0)
    return <Section title="Who is hit">{<p className="text-dim">No dead letter of it is left.</p>}</Section>
  return (
    <Section
      title="Who is hit"
      aside={group.sampled < group.count ? `of the newest ${count(group.sampled)}` : undefined}
    >
      <div className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        {lists.map(([name, values]) => (
          <div key={name} className="min-w-0">
            <p className="text-sm text-dim">{name}</p>
            {values.slice(0, 5).map(({ value, count: some }) => (
              <p key={value ?? ''} className="flex justify-between gap-2">
                <bdi className="truncate" title={value ?? 'unknown'}>
                  {value ?? 'unknown'}
                </bdi>
                <span className="whitespace-nowrap text-dim">{share(some, group.sampled)}</span>
              </p>
            ))}
          </div>
        ))}
      </div>
    </Section>
  )
}
