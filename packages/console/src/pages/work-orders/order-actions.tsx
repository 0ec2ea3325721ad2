// What can be done with a work order now: take it, close it, open it again.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { many } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { isLive, type WorkOrderDetail } from './order-words.ts'

type Act = 'take' | 'resolve' | 'wont_fix' | 'reopen'

const NAMES: Readonly<Record<Act, string>> = {
  take: 'Take …',
  resolve: 'Resolve …',
  wont_fix: "Won't fix …",
  reopen: 'Open again …',
}
const KEYS: Readonly<Record<Act, string>> = { take: 'a', resolve: 'v', wont_fix: 'i', reopen: 'o' }

export function OrderActions({ order }: { readonly order: WorkOrderDetail }) {
  const [act, setAct] = useState<Act | null>(null)
  const mayOperate = useMay('operate')
  const acts: readonly Act[] = !mayOperate ? [] : isLive(order) ? ['take', 'resolve', 'wont_fix'] : ['reopen']
  useCommands(
    acts.map((one) => ({
      title: `${NAMES[one].replace(' …', '')}: this work order`,
      key: KEYS[one],
      group: 'On this page' as const,
      run: () => setAct(one),
    })),
  )
  return (
    <>
      {acts.map((one) => (
        <button
          key={one}
          type="button"
          className={`button ${one === 'take' && order.state.status === 'open' ? 'button-main' : ''}`}
          onClick={() => setAct(one)}
        >
          {NAMES[one]}
        </button>
      ))}
      {act !== null && <OneAct act={act} order={order} onClose={() => setAct(null)} />}
    </>
  )
}

function OneAct({
  act,
  order,
  onClose,
}: {
  readonly act: Act
  readonly order: WorkOrderDetail
  readonly onClose: () => void
}) {
  const [owner, setOwner] = useState('')
  const { id, dead } = order
  const given = owner.trim()
  const stay = `${many(dead, 'dead letter stays', 'dead letters stay')} where ${dead === 1 ? 'it is' : 'they are'}: redrive or discard ${dead === 1 ? 'it' : 'them'}.`
  const undo = () => call('reopenWorkOrder', { id, reason: 'closing taken back' })
  const close = (status: 'resolved' | 'wont_fix') => async (result: string | undefined) => {
    await call('closeWorkOrder', { id, status, result: result ?? '' })
    await refresh()
    return {
      says: status === 'resolved' ? 'The work order is resolved.' : "The work order is closed as won't fix.",
      undo,
    }
  }
  const resolving = {
    reasonLabel: 'What was done',
    needsReason: true,
    lineOf: (result: string) =>
      `npx reprise workorders resolve ${shellWord(id)}${result === '' ? '' : ` ${shellWord(result)}`}`,
  }
  const changes: Readonly<Record<Act, Change>> = {
    take: {
      title: 'Take this work order',
      verb: 'Take it',
      touches: <p>Others see who is on it. {many(dead, 'dead letter')}; nothing else changes.</p>,
      command: `npx reprise workorders take ${shellWord(id)}${given === '' ? '' : ` --owner ${shellWord(given)}`}`,
      fields: (
        <label className="flex flex-col gap-1">
          <span className="label">Owner, you if empty</span>
          <input className="field" value={owner} maxLength={200} onChange={(event) => setOwner(event.target.value)} />
        </label>
      ),
      run: async (reason) => {
        const taken = await call('takeWorkOrder', { id, reason, ...(given === '' ? {} : { owner: given }) })
        await refresh()
        return `The work order is with ${taken.owner}.`
      },
    },
    resolve: {
      title: 'Say that it is done',
      verb: 'Resolve',
      touches: <p>It opens again by itself if another task dies of the same cause. {dead > 0 && stay}</p>,
      command: `npx reprise workorders resolve ${shellWord(id)}`,
      ...resolving,
      run: close('resolved'),
    },
    wont_fix: {
      title: 'Say that nothing will be done',
      verb: "Won't fix",
      isDangerous: true,
      touches: <p>It stays closed, also if more tasks die of the same cause. {dead > 0 && stay}</p>,
      command: `npx reprise workorders resolve ${shellWord(id)} --wont-fix`,
      ...resolving,
      reasonLabel: 'Why not',
      lineOf: (result) => `${resolving.lineOf(result)} --wont-fix`,
      run: close('wont_fix'),
    },
    reopen: {
      title: 'Open this work order again',
      verb: 'Open again',
      touches: <p>It is back in the list of what waits for a person. {many(dead, 'dead letter')} of its cause now.</p>,
      command: `npx reprise workorders reopen ${shellWord(id)}`,
      run: async (reason) => {
        await call('reopenWorkOrder', { id, reason })
        await refresh()
        return 'The work order is open again.'
      },
    },
  }
  return <Confirm change={changes[act]} onClose={onClose} />
}
