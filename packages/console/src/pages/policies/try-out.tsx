// What would become of a task that keeps failing the same way: under the version in force, and under the draft beside it.

import { useQuery } from '@tanstack/react-query'
import { setParams, useParams } from '../../address.tsx'
import { call, type OperationInput, type OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { formText } from '../../form-text.ts'
import { count, many, span } from '../../format.ts'
import { Answered } from '../../parts/states.tsx'
import { CommandLine, shellWord } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { Version } from './policies-page.tsx'

type Simulation = OperationOutput<'simulatePolicies'>
type Attempt = Simulation['attempts'][number]
type Asked = Pick<OperationInput<'simulatePolicies'>, 'action' | 'failure' | 'tenant'>

const FIELDS = [
  ['action', 'Action', 'invoice.send'],
  ['code', 'Code', 'ECONNRESET'],
  ['status', 'HTTP status', '503'],
  ['message', 'Message', 'connection reset'],
  ['tenant', 'Tenant', 'any'],
] as const

const ATTEMPTS_SHOWN = 12

export function TryOut({ inForce, draft }: { readonly inForce: Version | null; readonly draft: string | null }) {
  const params = useParams()
  const lanes = useOperation('listLanes', { limit: 200 }, { everyMs: false, live: false })
  const actions = [...new Set(lanes.data?.items.map(({ action }) => action))].sort()
  const asked = askedOf(params)
  return (
    <Section title="Try it on a failure">
      <form
        className="grid max-w-2xl grid-cols-2 gap-2 sm:grid-cols-3"
        key={FIELDS.map(([field]) => params[field] ?? '').join('\n')}
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          const lost = form.get('lost') === null ? null : '1'
          setParams({
            lost,
            ...Object.fromEntries(FIELDS.map(([field]) => [field, formText(form, field) || null])),
          })
        }}
      >
        {FIELDS.map(([field, label, example]) => (
          <label key={field} className="flex flex-col gap-0.5">
            <span className="label">{label}</span>
            <input
              name={field}
              className="field h-7 text-sm"
              placeholder={example}
              defaultValue={params[field] ?? ''}
              maxLength={200}
              required={field === 'action'}
              {...(field === 'action' ? { list: 'actions' } : field === 'status' ? { pattern: '[1-5][0-9][0-9]' } : {})}
            />
          </label>
        ))}
        <div className="flex items-end gap-3">
          <label className="flex h-7 items-center gap-1.5 text-sm">
            <input type="checkbox" name="lost" defaultChecked={params['lost'] === '1'} /> worker lost
          </label>
          <button type="submit" className="button h-7 text-sm">
            Try
          </button>
        </div>
        <datalist id="actions">
          {actions.map((action) => (
            <option key={action} value={action} />
          ))}
        </datalist>
      </form>
      {asked === null ? (
        <p className="mt-2 text-sm text-dim">
          Name an action and how it fails, and see attempt by attempt what would be decided. Nothing is run.
        </p>
      ) : (
        <>
          <div className={`mt-3 grid gap-4 ${draft === null ? '' : 'sm:grid-cols-2'}`}>
            <Simulated
              title={inForce === null ? 'Without policies' : `Version ${inForce.number}, in force`}
              asked={asked}
              text={null}
            />
            {draft !== null && <Simulated title="Your draft" asked={asked} text={draft} />}
          </div>
          <div className="mt-2 max-w-2xl">
            <CommandLine command={commandOf(asked, draft !== null)} />
          </div>
        </>
      )}
    </Section>
  )
}

function askedOf({ action, tenant, code, status, message, lost }: Readonly<Record<string, string>>): Asked | null {
  const isSaid = code !== undefined || status !== undefined || message !== undefined
  if (action === undefined || (!isSaid && lost !== '1')) return null
  const failure =
    lost === '1'
      ? ('lost' as const)
      : {
          ...(code === undefined ? {} : { code }),
          ...(status === undefined ? {} : { status: Number(status) }),
          ...(message === undefined ? {} : { message }),
        }
  return { action, failure, ...(tenant === undefined ? {} : { tenant }) }
}

function commandOf({ action, failure, tenant }: Asked, hasDraft: boolean): string {
  const how =
    failure === 'lost'
      ? ' --lost'
      : Object.entries(failure)
          .map(([name, value]) => ` --${name} ${shellWord(String(value))}`)
          .join('')
  const whose = tenant === undefined ? '' : ` --tenant ${shellWord(tenant)}`
  return `npx reprise policy simulate ${shellWord(action)}${how}${whose}${hasDraft ? ' --policies retry-policies.yaml' : ''}`
}

function Simulated({
  title,
  asked,
  text,
}: {
  readonly title: string
  readonly asked: Asked
  readonly text: string | null
}) {
  const result = useQuery<Simulation>({
    queryKey: ['simulatePolicies', asked, text],
    queryFn: ({ signal }) => call('simulatePolicies', { ...asked, ...(text === null ? {} : { text }) }, signal),
  })
  return (
    <section aria-label={title} className="min-w-0">
      <h3 className="text-sm font-semibold">{title}</h3>
      <Answered of={result} what="what would happen">
        {({ attempts, notes }) => (
          <>
            <p className="mb-1">{endOf(attempts)}</p>
            <ol className="border-t border-line">
              {attempts.slice(0, ATTEMPTS_SHOWN).map((attempt) => (
                <li
                  key={attempt.attempt}
                  className="grid grid-cols-[88px_minmax(0,1fr)] gap-x-2 border-b border-line py-1"
                >
                  <span className="text-sm text-dim">
                    {attempt.attempt === 1 ? 'at once' : `+ ${span(attempt.startsAtMs)}`}
                  </span>
                  <span className="break-words">
                    {attempt.decision.sentence}{' '}
                    {attempt.attempt === 1 && (
                      <span className="text-sm text-dim">
                        {attempt.failure.reason}
                        {attempt.decision.policy !== undefined && (
                          <>
                            , by <bdi>{attempt.decision.policy.name}</bdi>
                          </>
                        )}
                      </span>
                    )}
                  </span>
                </li>
              ))}
            </ol>
            {attempts.length > ATTEMPTS_SHOWN && (
              <p className="text-sm text-dim">and {many(attempts.length - ATTEMPTS_SHOWN, 'more attempt')}</p>
            )}
            {notes.map((note) => (
              <p key={note} className="text-sm text-waiting">
                ◔ <bdi>{note}</bdi>
              </p>
            ))}
          </>
        )}
      </Answered>
    </section>
  )
}

function endOf(attempts: readonly Attempt[]): string {
  const last = attempts.at(-1)
  if (last === undefined) return 'Nothing would happen.'
  const tries = many(attempts.length, 'attempt')
  if (last.decision.kind === 'dead') {
    return attempts.length === 1 ? 'Dead at once.' : `Dead after ${tries}, ${span(last.endsAtMs)}.`
  }
  return `Still trying after ${count(attempts.length)} attempts, ${span(last.endsAtMs)}.`
}
