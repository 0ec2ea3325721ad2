// The last failed attempt of a task beside a good one of the same action.

import { Link } from '../../address.tsx'
import { isNotFound } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { Differences } from '../../parts/differences.tsx'
import { Answered, Empty } from '../../parts/states.tsx'
import { Id } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'

export function TaskDiff({ id }: { readonly id: string }) {
  const diff = useOperation('diffAttempt', { id }, { everyMs: 15_000, live: false })
  if (isNotFound(diff.error)) return <Empty title="No attempt of it has failed." />
  return (
    <Answered of={diff} what="the difference">
      {({ good, differences, summary }) => (
        <Section
          title="Failed beside good"
          aside={
            good === null ? undefined : (
              <Link to={`/tasks/${encodeURIComponent(good.task)}`} className="link">
                the good one <Id id={good.task} />
              </Link>
            )
          }
        >
          {differences.length === 0 ? (
            <p className="text-dim">{summary}</p>
          ) : (
            <Differences
              before="failed"
              after="good"
              rows={differences.map(({ feature, failed, good: other }) => ({ feature, before: failed, after: other }))}
            />
          )}
        </Section>
      )}
    </Answered>
  )
}
