// Retention: what is kept, what was removed lately, and where that is set. The rules belong to the process that sweeps, so they
// stand in its configuration.

import { address, Link } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
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
      <Section title="How long things are kept">
        <p className="mb-2">
          What is not named is kept for ever. The rules stand in the configuration of the process that moves tasks (
          <code>reprise up</code>, <code>reprise orchestrator</code>), in <code>reprise.yaml</code>:
        </p>
        <CommandLine command={EXAMPLE} />
        <p className="mt-2 mb-2">To see what a process is configured with, where it runs:</p>
        <CommandLine command="npx reprise config print" />
      </Section>
    </div>
  )
}
