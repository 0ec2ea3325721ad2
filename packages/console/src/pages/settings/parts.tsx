// The parts of the system, which versions they are of and how they are: the server, the store, the workers, the policies.

import { Link } from '../../address.tsx'
import { useMay } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, CommandLine } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import { standingOf } from '../workers/worker-words.ts'

const LEVELS = { ok: 'succeeded', warning: 'waiting', critical: 'dead' } as const

export function Parts() {
  return (
    <div className="grid gap-x-8 lg:grid-cols-2">
      <Health />
      <Server />
      <Workers />
      <Keys />
      <div className="mt-4 lg:col-span-2">
        <CommandLine command="npx reprise doctor" />
      </div>
    </div>
  )
}

function Health() {
  const asked = useOperation('monitoring', {})
  return (
    <Section title="Health">
      <Answered of={asked} what="the health">
        {({ level, because }) => (
          <>
            <p className="text-md">
              <StateMark state={LEVELS[level]} word={level} /> ·{' '}
              {because.length === 0 ? 'nothing is out of order.' : `${many(because.length, 'thing')} to look at.`}
            </p>
            <ul>
              {because.map(({ level: its, about, says }) => (
                <li key={`${about} ${says}`} className="flex gap-2 border-b border-line py-1">
                  <StateMark state={LEVELS[its]} word={its} isShort={true} />
                  <bdi className="min-w-0 break-words">{says}</bdi>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answered>
    </Section>
  )
}

function Server() {
  const asked = useOperation('info', {}, { everyMs: 30_000 })
  const policies = useOperation('policies', {}, { everyMs: 30_000 }).data
  return (
    <Section title="Server and store">
      <Answered of={asked} what="what the server is">
        {({ version, engine, store, maxRetries }) => (
          <>
            <Facts
              of={[
                ['version', version],
                ['store', engine.kind],
                ['survives', engine.durability],
                [
                  'id of the store',
                  store === null ? null : (
                    <bdi key="store" className="font-mono text-sm">
                      {store}
                    </bdi>
                  ),
                ],
                ["an operator's retries", `${count(maxRetries)} for each task`],
                [
                  'policies',
                  policies === undefined ? null : (
                    <Link key="policies" to="/policies" className="link">
                      {policies.version === null ? 'none' : `version ${policies.version.number}`}
                    </Link>
                  ),
                ],
              ]}
            />
            {engine.risk !== undefined && (
              <p role="alert" className="mt-2 rounded-sm bg-dead-soft px-2 py-1.5">
                <span className="text-dead">✕ Tasks may be lost.</span> {engine.risk}
              </p>
            )}
          </>
        )}
      </Answered>
    </Section>
  )
}

function Workers() {
  const asked = useOperation('listWorkers', { limit: 1_000 })
  return (
    <Section title="Workers, by version" aside={<Link to="/workers">all of them</Link>}>
      <Answered of={asked} what="the workers">
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-dim">No worker is here.</p>
          ) : (
            <ul>
              {[...Map.groupBy(items, ({ version }) => version)].map(([version, its]) => {
                const sick = its.filter((worker) => standingOf(worker) !== 'healthy').length
                return (
                  <li key={version} className="flex flex-wrap gap-x-3 border-b border-line py-1">
                    <Link className="link min-w-0 truncate" to={`/workers?version=${encodeURIComponent(version)}`}>
                      <bdi>version {version}</bdi>
                    </Link>
                    <span>{many(its.length, 'worker')}</span>
                    {sick > 0 && <span className="text-dead">✕ {count(sick)} not healthy</span>}
                  </li>
                )
              })}
            </ul>
          )
        }
      </Answered>
    </Section>
  )
}

const RINGS: Readonly<Record<string, string>> = {
  'lease-credentials': 'signs what workers outside hold',
  seals: 'marks tokens, sessions and links as ours',
}

function Keys() {
  const may = useMay('tokens')
  const asked = useOperation('listKeys', {}, { enabled: may, everyMs: 60_000 })
  if (!may) return null
  return (
    <Section title="Keys">
      <Answered of={asked} what="the keys">
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-dim">None was needed yet.</p>
          ) : (
            <ul>
              {items.map(({ ring, id, from, until }) => (
                <li key={`${ring} ${id}`} className="flex flex-wrap gap-x-3 border-b border-line py-1">
                  <span className="font-mono text-sm">{ring}</span>
                  <span className="text-dim">{RINGS[ring]}</span>
                  <span>
                    {from === 0 ? (
                      'from the beginning'
                    ) : (
                      <>
                        from <Ago at={from} />
                      </>
                    )}
                    {until !== null && (
                      <>
                        , verifies until <Ago at={until} />
                      </>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      <div className="mt-2">
        <CommandLine command="npx reprise key rotate seals --reason 'once a year'" />
      </div>
    </Section>
  )
}
