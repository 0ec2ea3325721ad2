// The lanes as a list, those that are held and those with most to do first; the holds above it, and what can be done about them.

import { useState } from 'react'
import { setParams, useParam } from '../../address.tsx'
import { useMay } from '../../api/me.ts'
import { count, many } from '../../format.ts'
import { type Gate, gateKey, gateSentence, type Scope, scopeWords } from '../../gate-words.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useCommands } from '../../shell/commands.ts'
import { storeNow } from '../../time.ts'
import { type Begin, GateActions, GateLine } from './gates.tsx'
import type { Lane } from './lane.ts'
import { type LaneChange, LaneConfirm, type LaneVerb } from './lane-changes.tsx'
import { LaneSheet } from './lane-sheet.tsx'

const laneKey = ({ pool, action, tenant }: Lane): string => [pool, action, tenant].map(encodeURIComponent).join('/')

const waits = ({ counts }: Lane): number => counts.queued + counts.waiting

const byNeed = (one: Lane, other: Lane): number =>
  Number(other.gates.length > 0) - Number(one.gates.length > 0) ||
  waits(other) - waits(one) ||
  (laneKey(one) < laneKey(other) ? -1 : 1)

/** What a change of this scope would touch, of the lanes that are shown. */
function changeOf(verb: LaneVerb, scope: Scope, lanes: readonly Lane[]): LaneChange {
  const touched = lanes.filter((lane) =>
    (['pool', 'action', 'tenant'] as const).every((part) => scope[part] === undefined || scope[part] === lane[part]),
  )
  const sum = (of: (lane: Lane) => number): number => touched.reduce((total, lane) => total + of(lane), 0)
  return {
    verb,
    scope: Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== undefined)),
    lanes: touched.length,
    live: sum((lane) => waits(lane) + lane.counts.running),
    running: sum(({ counts }) => counts.running),
  }
}

export function LaneList({ lanes, scope }: { readonly lanes: readonly Lane[]; readonly scope: Scope }) {
  const mayOperate = useMay('operate')
  const [which] = useParam('which')
  const [open] = useParam('lane')
  const [change, setChange] = useState<LaneChange | null>(null)
  const begin = (verb: LaneVerb, of: Scope): void => setChange(changeOf(verb, of, lanes))
  useCommands(
    mayOperate
      ? [
          { title: `Pause ${scopeWords(scope)}`, group: 'On this page', run: () => begin('pause', scope) },
          { title: `Limit ${scopeWords(scope)}`, group: 'On this page', run: () => begin('limit', scope) },
        ]
      : [],
  )
  const shown = lanes
    .filter((lane) => (which === 'held' ? lane.gates.length > 0 : which === 'busy' ? isBusy(lane) : true))
    .toSorted(byNeed)
  const chosen = lanes.find((lane) => laneKey(lane) === open)
  return (
    <>
      <Holds lanes={lanes} begin={mayOperate ? begin : null} />
      <div className="flex flex-wrap items-center gap-2 py-2">
        <AddressChoice
          label="Which lanes"
          param="which"
          choices={[
            { value: '', word: 'All' },
            { value: 'busy', word: 'With work', count: lanes.filter(isBusy).length },
            { value: 'held', word: 'Held', count: lanes.filter(({ gates }) => gates.length > 0).length },
          ]}
        />
        <span className="flex-1" />
        {mayOperate && (
          <>
            <button type="button" className="button h-7 text-sm" onClick={() => begin('pause', scope)}>
              Pause <bdi>{scopeWords(scope)}</bdi> …
            </button>
            <button type="button" className="button h-7 text-sm" onClick={() => begin('limit', scope)}>
              Limit …
            </button>
          </>
        )}
      </div>
      {shown.length === 0 ? (
        <p className="py-3 text-dim">No lane is like that now.</p>
      ) : (
        <DataTable
          label="Lanes"
          rows={shown}
          keyOf={laneKey}
          columns={COLUMNS}
          isFilled={true}
          about={which}
          onOpen={(lane) => setParams({ lane: laneKey(lane) })}
        />
      )}
      {chosen !== undefined && (
        <LaneSheet lane={chosen} begin={mayOperate ? begin : null} onClose={() => setParams({ lane: null })}>
          {change !== null && <LaneConfirm change={change} onClose={() => setChange(null)} />}
        </LaneSheet>
      )}
      {chosen === undefined && change !== null && <LaneConfirm change={change} onClose={() => setChange(null)} />}
    </>
  )
}

const isBusy = (lane: Lane): boolean => waits(lane) + lane.counts.running > 0

/** Each hold and full limit once, however many lanes it holds. */
function Holds({ lanes, begin }: { readonly lanes: readonly Lane[]; readonly begin: Begin }) {
  const holds = new Map<string, { readonly gate: Gate; lanes: number; tasks: number }>()
  for (const lane of lanes) {
    for (const gate of lane.gates) {
      const known = holds.get(gateKey(gate)) ?? { gate, lanes: 0, tasks: 0 }
      known.lanes++
      known.tasks += waits(lane)
      holds.set(gateKey(gate), known)
    }
  }
  if (holds.size === 0) return null
  return (
    <ul aria-label="Holds" className="max-h-48 shrink-0 overflow-auto border-t border-line">
      {[...holds].map(([key, { gate, lanes: some, tasks }]) => (
        <li key={key} className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-0.5 border-b border-line py-1">
          <GateLine gate={gate} />
          <span className="text-sm text-dim">
            {many(some, 'lane')}, {many(tasks, 'task')}
          </span>
          <GateActions gate={gate} begin={begin} />
        </li>
      ))}
    </ul>
  )
}

const number = (id: string, title: string, of: (lane: Lane) => number, from = 0): Column<Lane> => ({
  id,
  title,
  width: '72px',
  from,
  isNumber: true,
  cell: (lane) => <span className={of(lane) === 0 ? 'text-dim' : ''}>{count(of(lane))}</span>,
})

const COLUMNS: readonly Column<Lane>[] = [
  {
    id: 'action',
    title: 'Action',
    width: 'minmax(110px, 1.2fr)',
    cell: ({ action }) => <bdi title={action}>{action}</bdi>,
  },
  {
    id: 'tenant',
    title: 'Tenant',
    width: 'minmax(72px, 0.8fr)',
    cell: ({ tenant }) => <bdi title={tenant}>{tenant}</bdi>,
  },
  { id: 'pool', title: 'Pool', width: 'minmax(72px, 0.6fr)', from: 700, cell: ({ pool }) => <bdi>{pool}</bdi> },
  number('queued', 'Queued', ({ counts }) => counts.queued),
  number('waiting', 'Waiting', ({ counts }) => counts.waiting, 560),
  number('running', 'Running', ({ counts }) => counts.running, 480),
  {
    ...number('dead', 'Dead', ({ counts }) => counts.dead, 480),
    cell: ({ counts }) => <span className={counts.dead === 0 ? 'text-dim' : 'text-dead'}>{count(counts.dead)}</span>,
  },
  {
    id: 'held',
    title: 'Held by',
    width: 'minmax(0, 2fr)',
    from: 900,
    cell: ({ gates }) => {
      const text = gates.map((gate) => gateSentence(gate, storeNow())).join('; ')
      return text === '' ? '' : <bdi title={text}>‖ {text}</bdi>
    },
  },
]
