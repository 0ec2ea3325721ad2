// Other causes with the same signs: what one deploy broke shows as several causes. Those that have dead letters only there can be
// sent back in one go. A cause that has as many elsewhere has another reason, and would fail again: it is left out, and told.

import { useEffect, useMemo, useState } from 'react'
import { Link, useParam } from '../../address.tsx'
import { useMay } from '../../api/me.ts'
import { useOperation } from '../../api/operations.ts'
import { causeWords } from '../../cause-words.ts'
import { count, many, share } from '../../format.ts'
import { shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Section } from '../../shell/page.tsx'
import { RedriveSheet } from '../redrive/redrive-sheet.tsx'
import type { Group } from './cases.ts'
import type { Sign } from './signs.ts'

const EVERY_MS = 60_000
const KNOWN_MAX = 200
/** A query has room for as many fingerprints. */
const CAUSES_MAX = 20
/** From this share on, a cause has its dead letters only there. */
const SHARE_MIN = 0.95

interface Found {
  readonly group: Group
  /** Dead letters with the signs, and in all. */
  readonly here: number
  readonly total: number
}

interface Order {
  readonly q: string
  readonly count: number
  readonly sample: string | null
}

const isOnlyHere = ({ here, total }: Found): boolean => here >= SHARE_MIN * total && total > 0

/** Several actions can have one cause: they are held against each other together. */
function byFingerprint(groups: readonly Group[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { fingerprint, count: some } of groups) sums.set(fingerprint, (sums.get(fingerprint) ?? 0) + some)
  return sums
}

function comparedTo(all: readonly Group[] | undefined, found: readonly Group[]): readonly Found[] {
  if (all === undefined) return []
  const [here, totals] = [byFingerprint(found), byFingerprint(all)]
  return found
    .filter((group) => group.case?.state.status !== 'ignored')
    .slice(0, CAUSES_MAX)
    .map((group) => ({
      group,
      here: here.get(group.fingerprint) ?? 0,
      total: totals.get(group.fingerprint) ?? 0,
    }))
}

const fingerprintsOf = ({ fingerprint, members = [] }: Group): readonly string[] => [fingerprint, ...members]

function orderOf(signs: readonly Sign[], causes: readonly Found[]): Order {
  const fingerprints = new Set(causes.flatMap(({ group }) => fingerprintsOf(group)))
  return {
    q: ['status:dead', ...signs.map(({ term }) => term), `fingerprint:${[...fingerprints].join(',')}`].join(' '),
    count: causes.reduce((sum, { group }) => sum + group.count, 0),
    sample: causes[0]?.group.lastTask ?? null,
  }
}

export function Alike({ fingerprint, signs }: { readonly fingerprint: string; readonly signs: readonly Sign[] }) {
  const [sheet, setSheet] = useParam('sheet')
  const mayOperate = useMay('operate')
  const often = { everyMs: EVERY_MS, live: false, enabled: signs.length > 0 } as const
  const q = ['status:dead', ...signs.map(({ term }) => term)].join(' ')
  const found = useOperation('listFailureGroups', { q, order: 'count' }, often)
  const known = useOperation('listFailureGroups', { order: 'count', limit: KNOWN_MAX }, often)
  const groups = useMemo(() => comparedTo(known.data?.items, found.data?.items ?? []), [known.data, found.data])
  const only = groups.filter(isOnlyHere)
  const elsewhere = groups.filter((one) => !isOnlyHere(one))
  const canRedrive = mayOperate && only.length > 1 && found.data?.next === null
  const order = canRedrive ? orderOf(signs, only) : null
  // What was opened stays as it was: the list gets shorter while tasks recover.
  const [opened, setOpened] = useState<Order | null>(null)
  const isOpen = sheet === 'alike'
  useEffect(() => {
    if (!isOpen) setOpened(null)
    else if (opened === null && order !== null) setOpened(order)
  }, [isOpen, opened, order])
  useCommands(
    order === null
      ? []
      : [
          {
            title: `Redrive ${many(only.length, 'cause')} with the same signs`,
            key: 's',
            group: 'On this page',
            run: () => setSheet('alike'),
          },
        ],
  )
  const others = groups.filter(({ group }) => group.fingerprint !== fingerprint)
  const words = signs.map((sign) => sign.words).join(' and ')
  return (
    <>
      {others.length > 0 && (
        <Section
          title="Other causes with the same signs"
          aside={<bdi>{found.data?.next === null ? words : `${words}, among the newest dead letters`}</bdi>}
        >
          <ul className="border-t border-line">
            {others.map((one) => (
              <Row key={`${one.group.fingerprint} ${one.group.action}`} of={one} isOnlyHere={isOnlyHere(one)} />
            ))}
          </ul>
          {order !== null && (
            <div className="mt-2 flex flex-wrap items-baseline gap-x-3 gap-y-1">
              <button type="button" className="button button-main" onClick={() => setSheet('alike')}>
                Redrive all {count(only.length)}: {many(order.count, 'task')} …
              </button>
              <span className="text-sm text-dim">
                Only dead letters with <bdi>{words}</bdi>.{' '}
                {elsewhere.length > 0 && `${many(elsewhere.length, 'cause')} that other tasks have as well stay out.`}
              </span>
            </div>
          )}
        </Section>
      )}
      {isOpen && opened !== null && (
        <RedriveSheet
          what={{ q: opened.q }}
          command={`--query ${shellWord(opened.q)}`}
          count={opened.count}
          sample={opened.sample}
          onClose={() => setSheet(null)}
        />
      )}
    </>
  )
}

const Row = ({ of: { group, here, total }, isOnlyHere }: { readonly of: Found; readonly isOnlyHere: boolean }) => (
  <li className="flex items-baseline gap-x-3 border-b border-line py-1">
    <Link to={`/failures/${group.fingerprint}`} className="link min-w-0 truncate">
      <bdi>{causeWords(group.sample)}</bdi>
    </Link>
    <bdi className="text-sm whitespace-nowrap text-dim max-sm:hidden">{group.action}</bdi>
    <span className="ml-auto text-sm whitespace-nowrap text-dim">
      {isOnlyHere
        ? 'only here'
        : total === 0
          ? 'left out: too small to compare'
          : `left out: ${share(total - here, total)} of it is elsewhere`}
    </span>
    <span className="w-16 text-right">{count(group.count)}</span>
  </li>
)
