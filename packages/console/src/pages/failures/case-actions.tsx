// What people do about a cause: take it on, resolve it, ignore it for a while, open it again. Each can be taken back.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay, useSeesAll } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { count } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import type { GroupFigures } from './cases.ts'
import { SplitGroup } from './split-groups.tsx'

type Act = 'acknowledge' | 'resolve' | 'ignore' | 'reopen'
/** What is no step of its case. */
type Open = Act | 'split'

const NAMES: Readonly<Record<Act, string>> = {
  acknowledge: 'Acknowledge',
  resolve: 'Resolve …',
  ignore: 'Ignore …',
  reopen: 'Open again',
}
const KEYS: Readonly<Record<Act, string>> = { acknowledge: 'a', resolve: 'v', ignore: 'i', reopen: 'o' }

export function CaseActions({ group }: { readonly group: GroupFigures }) {
  const [act, setAct] = useState<Open | null>(null)
  // A case is for all tenants together.
  const seesAll = useSeesAll()
  const mayOperate = useMay('operate') && seesAll
  const status = group.case?.state.status ?? 'open'
  const possible: readonly Act[] =
    status === 'open'
      ? ['acknowledge', 'resolve', 'ignore']
      : status === 'acknowledged'
        ? ['resolve', 'ignore', 'reopen']
        : ['reopen']
  const acts = mayOperate ? possible : []
  const canSplit = mayOperate && group.count > 0
  useCommands([
    ...acts.map((one) => ({
      title: `${NAMES[one].replace(' …', '')} this cause`,
      key: KEYS[one],
      group: 'On this page' as const,
      run: () => setAct(one),
    })),
    ...(canSplit
      ? [{ title: 'Split this cause', key: 'p', group: 'On this page' as const, run: () => setAct('split') }]
      : []),
  ])
  return (
    <>
      {acts.map((one) => (
        <button key={one} type="button" className="button" onClick={() => setAct(one)}>
          {NAMES[one]}
        </button>
      ))}
      {canSplit && (
        <button type="button" className="button" onClick={() => setAct('split')}>
          Split …
        </button>
      )}
      {act === 'split' && <SplitGroup group={group} onClose={() => setAct(null)} />}
      {act !== null && act !== 'split' && <OneAct act={act} group={group} onClose={() => setAct(null)} />}
    </>
  )
}

function OneAct({
  act,
  group,
  onClose,
}: {
  readonly act: Act
  readonly group: GroupFigures
  readonly onClose: () => void
}) {
  const [text, setText] = useState(act === 'ignore' ? '1d' : '')
  const { fingerprint } = group
  const given = text.trim()
  const isSet = given !== ''
  const dead = `${count(group.count)} dead`
  const after = async (says: string): Promise<Awaited<ReturnType<Change['run']>>> => {
    await refresh()
    if (act === 'reopen') return says
    return { says, undo: () => call('reopenFailureGroup', { fingerprint, reason: `${act} taken back` }) }
  }
  const because = (reason: string | undefined) => (reason === undefined ? {} : { reason })
  const field = (label: string) => (
    <label className="flex flex-col gap-1">
      <span className="label">{label}</span>
      <input className="field" value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
    </label>
  )
  const changes: Readonly<Record<Act, Change>> = {
    acknowledge: {
      title: 'Take this cause on',
      verb: 'Acknowledge',
      touches: <p>Others see that somebody is on it. {dead}; they stay as they are.</p>,
      command: `npx reprise groups ack ${fingerprint}${isSet ? ` --owner ${shellWord(given)}` : ''}`,
      fields: field('Owner, you if empty'),
      run: async (reason) => {
        await call('acknowledgeFailureGroup', { fingerprint, ...(isSet ? { owner: given } : {}), ...because(reason) })
        return after('The cause is taken on.')
      },
    },
    resolve: {
      title: 'Say that the cause is gone',
      verb: 'Resolve',
      touches: <p>It opens again by itself if it comes back. {dead}; they stay where they are: redrive them.</p>,
      command: `npx reprise groups resolve ${fingerprint}${isSet ? ` --in-version ${shellWord(given)}` : ''}`,
      fields: field('In version, from now on if empty'),
      run: async (reason) => {
        await call('resolveFailureGroup', { fingerprint, ...(isSet ? { version: given } : {}), ...because(reason) })
        return after('The cause is resolved.')
      },
    },
    ignore: {
      title: 'Ignore this cause for a while',
      verb: 'Ignore',
      touches: <p>It leaves the list of open causes, and comes back after this time. {dead}; they stay as they are.</p>,
      command: `npx reprise groups ignore ${fingerprint} --for ${shellWord(given)}`,
      fields: field('How long, such as 2h or 3d'),
      isReady: isSet,
      run: async (reason) => {
        await call('ignoreFailureGroup', { fingerprint, for: given, ...because(reason) })
        return after(`The cause is ignored for ${given}.`)
      },
    },
    reopen: {
      title: 'Open this cause again',
      verb: 'Open again',
      touches: <p>It is back in the list of open causes. {dead}.</p>,
      command: `npx reprise groups reopen ${fingerprint}`,
      run: async (reason) => {
        await call('reopenFailureGroup', { fingerprint, ...because(reason) })
        return after('The cause is open again.')
      },
    },
  }
  return <Confirm change={changes[act]} onClose={onClose} />
}
