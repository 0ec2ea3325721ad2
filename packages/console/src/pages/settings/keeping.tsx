// Retention: what is kept, what was removed lately, the rules in force, and where they are set. They belong to the process that
// sweeps: it tells them to the store, and they stand in its configuration.

import { address, Link } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { count, many, span } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Answered } from '../../parts/states.tsx'
import { CommandLine } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'

const EXAMPLE = `retention:
  succeeded: 7d
  cancelled: 7d
  discarded: 30d
  journal: 90d
  dead: { after: 90d, export_to: /var/lib/reprise/dead-letters }`

export function Keeping() {
  const counts = useOperation('counts', {})
  const removed = useOperation('listEvents', { type: 'tasks.removed', newest: true, since: '24h', limit: 1_000 })
  const sum = (removed.data?.items ?? []).reduce((total, { data }) => total + Number(data.details['count'] ?? 0), 0)
  const least = removed.data?.next == null ? '' : '≥ '
  return (
    <div className="max-w-3xl">
      <Answered of={counts} what="what is kept">
        {({ succeeded, cancelled, discarded, dead }) => (
          <>
            <p className="text-md">
              {many(succeeded + cancelled + discarded, 'ended task is', 'ended tasks are')} kept.{' '}
              {removed.data !== undefined &&
                (sum === 0
                  ? 'None was removed in the last day.'
                  : `${least}${many(sum, 'task was', 'tasks were')} removed in the last day.`)}{' '}
              {sum > 0 && (
                <Link className="link" to={address('/journal', { type: 'tasks.removed' })}>
                  when
                </Link>
              )}
            </p>
            <Section title="Kept now">
              <Facts
                of={[
                  ['succeeded', count(succeeded)],
                  ['cancelled', count(cancelled)],
                  ['discarded', count(discarded)],
                  ['dead', `${count(dead)}: kept until somebody comes for them, or a rule exports and discards them`],
                ]}
              />
            </Section>
          </>
        )}
      </Answered>
      <Rules />
      <Section title="How to set it">
        <p className="mb-2">
          What is not named is kept for ever. The rules stand in the configuration of the process that moves tasks (
          <code>reprise up</code>, <code>reprise orchestrator</code>), in <code>reprise.yaml</code>:
        </p>
        <CommandLine command={EXAMPLE} />
        <p className="mt-2 mb-2">To see all that a process is configured with, where it runs:</p>
        <CommandLine command="npx reprise config print" />
      </Section>
    </div>
  )
}

const RULES = [
  ['succeeded', 'succeededMs'],
  ['cancelled', 'cancelledMs'],
  ['discarded', 'discardedMs'],
  ['journal', 'journalMs'],
  ['figures by the minute', 'seriesMs'],
] as const

/** As the process that removes things was configured when it began. */
function Rules() {
  const asked = useOperation('info', {}, { everyMs: 30_000 })
  return (
    <Section title="How long things are kept">
      <Answered of={asked} what="the rules">
        {({ retention }) =>
          retention == null ? (
            <p className="text-dim">No process that removes anything has told its rules to this store yet.</p>
          ) : (
            <Facts
              of={[
                ...RULES.map(([what, rule]) => [what, keptFor(retention[rule])] as const),
                [
                  'dead',
                  retention.deadMs === undefined
                    ? 'until somebody comes for them'
                    : `${span(retention.deadMs)}, then exported and discarded`,
                ],
              ]}
            />
          )
        }
      </Answered>
    </Section>
  )
}

const keptFor = (ms: number | undefined): string => (ms === undefined ? 'for ever' : `${span(ms)}, then removed`)
