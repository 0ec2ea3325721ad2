// What would have become of the tasks that really failed: what happened, the version in force, and the draft, side by side.

import { useQuery } from '@tanstack/react-query'
import { Link, setParams, useParams } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { count, many, span } from '../../format.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { Answered } from '../../parts/states.tsx'
import { CommandLine, shellWord } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { Version } from './policies-page.tsx'

type Replay = OperationOutput<'replayPolicies'>
type Outcome = Replay['actual']

const PERIODS = [
  { value: '1h', word: '1 h' },
  { value: '1d', word: '1 d' },
  { value: '7d', word: '7 d' },
] as const
const PERIOD = '1d'

export function RecordedFailures({
  inForce,
  draft,
}: {
  readonly inForce: Version | null
  readonly draft: string | null
}) {
  const { period = PERIOD, replay, action } = useParams()
  const isAsked = replay === '1'
  const result = useQuery<Replay>({
    queryKey: ['replayPolicies', period, action, draft, inForce?.number],
    queryFn: ({ signal }) =>
      call(
        'replayPolicies',
        { since: period, ...(action === undefined ? {} : { action }), ...(draft === null ? {} : { text: draft }) },
        signal,
      ),
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const only = action === undefined ? '' : ` ${shellWord(action)}`
  return (
    <Section title="Try it on what really failed">
      <div className="flex flex-wrap items-center gap-3">
        <AddressChoice label="How far back" param="period" missing={PERIOD} choices={PERIODS} />
        {!isAsked && (
          <button type="button" className="button h-7 text-sm" onClick={() => setParams({ replay: '1' })}>
            Replay
          </button>
        )}
        <span className="text-sm text-dim">
          {action === undefined ? (
            'All actions.'
          ) : (
            <>
              Only <bdi>{action}</bdi>.
            </>
          )}
        </span>
      </div>
      {isAsked && (
        <Answered of={result} what="what failed">
          {(found) => (
            <>
              <p className="my-1">{sentenceOf(found)}</p>
              <Outcomes
                rows={[
                  ['what happened', found.actual],
                  [inForce === null ? 'without policies' : `version ${inForce.number}`, found.inForce],
                  ...(found.draft === null ? [] : [['your draft', found.draft] as const]),
                ]}
              />
              <Causes of={found.causes} />
              {found.notes.map((note) => (
                <p key={note} className="mt-1 text-sm text-dim">
                  <bdi>{note}</bdi>
                </p>
              ))}
            </>
          )}
        </Answered>
      )}
      <div className="mt-2 max-w-2xl">
        <CommandLine
          command={`npx reprise policy simulate${only} --recorded --since ${period}${draft === null ? '' : ' --policies retry-policies.yaml'}`}
        />
      </div>
    </Section>
  )
}

function sentenceOf({ tasks, sampled, isWhole, inForce, draft }: Replay): string {
  if (tasks === 0) return 'Nothing failed in this time.'
  const looked =
    sampled === tasks && isWhole
      ? `${many(tasks, 'task')} failed.`
      : `${isWhole ? '' : '≥ '}${many(tasks, 'task')} failed; ${count(sampled)} of them were looked at.`
  if (draft === null) return looked
  const more = draft.recovered - inForce.recovered
  const says =
    more === 0
      ? `Your draft would have recovered ${draft.recovered === 0 ? 'none' : count(draft.recovered)}, as without it.`
      : `Your draft would have recovered ${count(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'}.`
  return `${looked} ${says}`
}

function Outcomes({ rows }: { readonly rows: readonly (readonly [string, Outcome])[] }) {
  return (
    <table className="w-full max-w-2xl text-right">
      <thead className="text-sm text-dim">
        <tr className="border-b border-line">
          <th scope="col" className="py-1 text-left font-normal">
            Under
          </th>
          {['Recovered', 'Dead', 'Not known', 'Retries', 'Median'].map((title) => (
            <th key={title} scope="col" className={`py-1 font-normal ${title === 'Not known' ? 'max-sm:hidden' : ''}`}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, { recovered, dead, unknown, retries, recoveredAfterMs }]) => (
          <tr key={name} className="border-b border-line">
            <th scope="row" className="py-1 text-left font-normal">
              {name}
            </th>
            <td className="text-succeeded">{count(recovered)}</td>
            <td className={dead > 0 ? 'text-dead' : ''}>{count(dead)}</td>
            <td className="max-sm:hidden">{count(unknown)}</td>
            <td>{count(retries)}</td>
            <td>{recoveredAfterMs === null ? '–' : span(recoveredAfterMs.median)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Causes({ of }: { readonly of: Replay['causes'] }) {
  if (of.length === 0) return null
  return (
    <ul aria-label="By cause" className="mt-2 max-w-2xl">
      {of.map(({ fingerprint, action, code, tasks, inForce, draft }) => (
        <li key={`${fingerprint} ${action}`} className="flex gap-3 border-b border-line py-1">
          <Link to={`/failures/${encodeURIComponent(fingerprint)}`} className="link min-w-0 flex-1 truncate">
            <bdi>
              {action}: {code}
            </bdi>
          </Link>
          <span className="whitespace-nowrap text-dim">{many(tasks, 'task')}</span>
          <span className="whitespace-nowrap">
            {count(inForce.recovered)}
            {draft !== null && ` → ${count(draft.recovered)}`} recovered
          </span>
        </li>
      ))}
    </ul>
  )
}
