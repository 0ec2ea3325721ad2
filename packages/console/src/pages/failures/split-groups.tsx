// One fingerprint can have two causes: its dead letters are told apart by a field. Several can have one: they were merged, and are
// taken out again here.

import { useState } from 'react'
import { address, Link } from '../../address.tsx'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { GroupFigures } from './cases.ts'

const FIELDS = ['tenant', 'version', 'host', 'worker', 'code'] as const

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason })

/** Asks by which field; `isSplit` says that it is told apart already. */
export function SplitGroup({ group, onClose }: { readonly group: GroupFigures; readonly onClose: () => void }) {
  const { fingerprint } = group
  const before = group.case?.splitBy ?? null
  const [by, setBy] = useState(before ?? 'version')
  const field = by.trim()
  const change: Change = {
    title: 'Tell its dead letters apart',
    verb: 'Split',
    isReady: field !== '',
    command: `npx reprise groups split ${fingerprint} --by ${shellWord(field)}`,
    touches: (
      <p>
        {many(group.count, 'dead letter')} and those to come are shown in parts, one for each value. No task is moved,
        and the parts have no state of their own.
      </p>
    ),
    fields: (
      <label className="flex flex-col gap-1">
        <span className="label">By {FIELDS.join(', ')}, or a label such as label.region</span>
        <input
          className="field font-mono"
          list="split-fields"
          value={by}
          maxLength={200}
          spellCheck={false}
          onChange={(event) => setBy(event.target.value)}
        />
        <datalist id="split-fields">
          {FIELDS.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </label>
    ),
    run: async (reason) => {
      await call('splitFailureGroup', { fingerprint, by: field, ...because(reason) })
      await refresh()
      return {
        says: `Told apart by ${field}.`,
        undo: () => call('splitFailureGroup', { fingerprint, by: before, reason: 'split taken back' }),
      }
    },
  }
  return <Confirm change={change} onClose={onClose} />
}

export function Parts({ group }: { readonly group: GroupFigures }) {
  const mayOperate = useMay('operate')
  const [isAsking, setAsking] = useState(false)
  const { parts, fingerprint, partsCounted = group.count } = group
  const field = group.case?.splitBy ?? null
  if (parts === undefined || field === null) return null
  const together: Change = {
    title: 'Show its dead letters together again',
    verb: 'Put together',
    command: `npx reprise groups split ${fingerprint} --by none`,
    touches: <p>It is shown as one. No task is moved.</p>,
    run: async (reason) => {
      await call('splitFailureGroup', { fingerprint, by: null, ...because(reason) })
      await refresh()
      return {
        says: 'Not told apart any more.',
        undo: () => call('splitFailureGroup', { fingerprint, by: field, reason: 'taken back' }),
      }
    },
  }
  return (
    <Section
      title={`Told apart by ${field}`}
      aside={
        mayOperate && (
          <button type="button" className="link" onClick={() => setAsking(true)}>
            Together again …
          </button>
        )
      }
    >
      {partsCounted < group.count && (
        <p className="pb-2 text-sm text-dim">
          Counted from {count(partsCounted)} of {count(group.count)} dead letters. The links find all of them.
        </p>
      )}
      <ul className="border-t border-line">
        {parts.map(({ value, count: some, q }) => (
          <li key={value ?? ''} className="flex items-baseline gap-3 border-b border-line py-1">
            <bdi className="min-w-0 flex-1 truncate font-mono text-sm">{value ?? 'without one'}</bdi>
            <span>{count(some)}</span>
            <Link to={address('/tasks', { q })} className="link">
              its tasks →
            </Link>
          </li>
        ))}
      </ul>
      {isAsking && <Confirm change={together} onClose={() => setAsking(false)} />}
    </Section>
  )
}

export function Merged({ group: { merged } }: { readonly group: GroupFigures }) {
  const [out, setOut] = useState<string | null>(null)
  const mayOperate = useMay('operate')
  if (merged === undefined || merged.length === 0) return null
  return (
    <Section title="Merged into it">
      <ul className="border-t border-line">
        {merged.map(({ fingerprint, deaths }) => (
          <li key={fingerprint} className="flex items-baseline gap-3 border-b border-line py-1">
            <span className="min-w-0 flex-1 font-mono text-sm">{fingerprint}</span>
            <span className="text-dim">{count(deaths)} died of it</span>
            {mayOperate && (
              <button type="button" className="link" onClick={() => setOut(fingerprint)}>
                Take it out …
              </button>
            )}
          </li>
        ))}
      </ul>
      {out !== null && (
        <Confirm
          onClose={() => setOut(null)}
          change={{
            title: 'Take a cause out again',
            verb: 'Take it out',
            command: `npx reprise groups split ${out}`,
            touches: <p>It is a cause of its own again, with its dead letters and those to come. No task is moved.</p>,
            run: async (reason) => {
              await call('splitFailureGroup', { fingerprint: out, ...because(reason) })
              await refresh()
              return 'It is a cause of its own again.'
            },
          }}
        />
      )}
    </Section>
  )
}
