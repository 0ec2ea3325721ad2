// One entry of the journal, whole.

import { address, Link } from '../../address.tsx'
import { moment } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Copy, Foreign } from '../../parts/texts.tsx'
import { type Entry, kindOf, saysOf } from './entries.ts'

export function EntrySheet({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const { type, time, subject, data } = entry
  return (
    <Sheet
      title={kindOf(type)}
      onClose={onClose}
      actions={<Copy text={JSON.stringify(entry, null, 2)} label="Copy as JSON" />}
    >
      <p className="mb-3 text-md">
        <Foreign>{saysOf(data)}</Foreign>
      </p>
      <Facts
        of={[
          ['when', moment(Date.parse(time))],
          [
            'by',
            <Link key="by" className="link" to={address('/journal', { actor: data.actor, since: 'all' })}>
              <bdi>{data.actor}</bdi>
            </Link>,
          ],
          [
            'task',
            subject === undefined ? null : (
              <span key="task" className="flex flex-wrap gap-x-3">
                <Link className="link font-mono text-sm" to={`/tasks/${encodeURIComponent(subject)}`}>
                  <bdi>{subject}</bdi>
                </Link>
                <Link className="link" to={address('/journal', { task: subject, since: 'all' })}>
                  all of its entries
                </Link>
              </span>
            ),
          ],
          ['attempt', data.attempt],
          ...Object.entries(data.details)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => [name, <Foreign key={name}>{wordsOf(name, value)}</Foreign>] as const),
        ]}
      />
    </Sheet>
  )
}

/** Moments are told as people read them. */
const wordsOf = (name: string, value: unknown): string =>
  typeof value === 'number' && name.endsWith('At')
    ? moment(value)
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
