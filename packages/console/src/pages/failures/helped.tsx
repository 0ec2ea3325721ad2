// What helped before: redrives of this cause, and of causes that look alike, with what came of each. The reason that an operator
// gave says what had been fixed.

import { Link } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { Ago } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { GroupFigures } from './cases.ts'

type Redrive = OperationOutput<'listRedrives'>['items'][number]

const EVERY_MS = 30_000
const REDRIVES_MAX = 200
const SHOWN = 5

/** Without numbers and ids, which differ from one failure to the next. */
const plain = (message: string): string =>
  message
    .toLowerCase()
    .replaceAll(/[0-9a-f]*\d[0-9a-f]*/g, '#')
    .slice(0, 80)

/** How near a redrive was to this cause: the same, one that looks alike, or none. */
function nearness({ found }: Redrive, group: GroupFigures): 'same' | 'alike' | null {
  const names = new Set([group.fingerprint, ...(group.members ?? [])])
  if (found.causes.some(({ fingerprint }) => names.has(fingerprint))) return 'same'
  const message = group.sample === null ? null : plain(group.sample.message)
  return message !== null && found.causes.some((cause) => plain(cause.message) === message) ? 'alike' : null
}

export function Helped({ group }: { readonly group: GroupFigures }) {
  const { data } = useOperation('listRedrives', { limit: REDRIVES_MAX }, { everyMs: EVERY_MS, live: false })
  const found = (data?.items ?? []).flatMap((redrive) => {
    const near = redrive.startedAt === null ? null : nearness(redrive, group)
    return near === null ? [] : [{ redrive, near }]
  })
  const shown = found.toSorted((one, other) => other.redrive.createdAt - one.redrive.createdAt).slice(0, SHOWN)
  if (shown.length === 0) return null
  return (
    <Section title="Sent back before, and what came of it">
      <ul className="border-t border-line">
        {shown.map(({ redrive: { id, reason, counts, total, createdAt }, near }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-3 border-b border-line py-1">
            <StateMark
              state={counts.recovered >= total ? 'succeeded' : counts.recovered > 0 ? 'waiting' : 'dead'}
              word={counts.recovered >= total ? 'helped' : counts.recovered > 0 ? 'helped some' : 'did not help'}
            />
            <Link to={`/redrives/${id}`} className="link min-w-0 truncate">
              <bdi>{reason}</bdi>
            </Link>
            <span className="text-dim">
              {count(counts.recovered)} of {many(total, 'task')} recovered
              {near === 'alike' && ' · of a cause that looks alike'}
            </span>
            <span className="ml-auto text-sm text-dim">
              <Ago at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
