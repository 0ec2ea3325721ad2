// What the journal has about a task, oldest first.

import { useOperation } from '../../api/operations.ts'
import { moment, when } from '../../format.ts'
import { Answered } from '../../parts/states.tsx'
import { Section } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'

export function TaskJournal({ id }: { readonly id: string }) {
  const asked = useOperation('listEvents', { task: id, limit: 200 })
  const now = useNow()
  return (
    <Answered of={asked} what="its journal">
      {({ items }) => (
        <Section title="Journal">
          {items.length === 0 && (
            <p className="text-dim">Nothing unusual happened to it, and nobody did anything to it.</p>
          )}
          <ol>
            {items.map(({ id: entry, type, time, data }) => {
              const at = Date.parse(time)
              return (
                <li
                  key={entry}
                  className="grid grid-cols-[72px_minmax(0,1fr)] gap-x-3 border-b border-line py-1 md:grid-cols-[72px_180px_160px_minmax(0,1fr)]"
                >
                  <time className="text-sm text-dim" dateTime={time} title={moment(at)}>
                    {when(at, now)}
                  </time>
                  <span className="font-mono text-sm">{type.replace(/^reprise\./, '')}</span>
                  <bdi className="truncate text-dim max-md:col-start-2" title={data.actor}>
                    {data.actor}
                  </bdi>
                  <bdi className="break-words max-md:col-start-2">{data.reason}</bdi>
                </li>
              )
            })}
          </ol>
        </Section>
      )}
    </Answered>
  )
}
