// What can be done with one task now: retry, promote, cancel, discard.

import { useState } from 'react'
import { call, type OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { useCommands } from '../../shell/commands.ts'

type Task = OperationOutput<'getTask'>
type Act = 'retry' | 'promote' | 'cancel' | 'discard'

const FROM: Readonly<Record<Act, (task: Task) => boolean>> = {
  retry: ({ state, retryable }) => retryable && (state.status === 'dead' || state.status === 'waiting'),
  promote: ({ state }) => state.status === 'waiting',
  cancel: ({ state }) => ['queued', 'waiting', 'running'].includes(state.status),
  discard: ({ state }) => state.status === 'dead',
}
const NAMES: Readonly<Record<Act, string>> = {
  retry: 'Retry …',
  promote: 'Promote …',
  cancel: 'Cancel …',
  discard: 'Discard …',
}

export function TaskActions({ task }: { readonly task: Task }) {
  const [act, setAct] = useState<Act | null>(null)
  const mayOperate = useMay('operate')
  const acts = mayOperate ? (Object.keys(FROM) as Act[]).filter((one) => FROM[one](task)) : []
  useCommands(
    acts.map((one) => ({
      title: `${NAMES[one].replace(' …', '')} this task`,
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
          className={`button ${one === 'retry' ? 'button-main' : one === 'promote' ? '' : 'button-danger'}`}
          onClick={() => setAct(one)}
        >
          {NAMES[one]}
        </button>
      ))}
      {act !== null && <Confirm change={changeOf(act, task.id)} onClose={() => setAct(null)} />}
    </>
  )
}

function changeOf(act: Act, id: string): Change {
  const because = (reason: string | undefined) => (reason === undefined ? {} : { reason })
  const changes: Readonly<Record<Act, Change>> = {
    retry: {
      title: 'Retry this task',
      verb: 'Retry',
      touches: <p>One task. Its next attempt is queued at once, within its budget; no patch, no canary.</p>,
      command: `npx reprise retry ${id}`,
      run: async (reason) => {
        const { attempt } = await call('retryExecution', { id, ...because(reason) })
        return `Attempt ${attempt} is queued.`
      },
    },
    promote: {
      title: 'Promote this task',
      verb: 'Promote',
      touches: <p>One task. It is due at once, whatever it waits for.</p>,
      command: `npx reprise promote ${id}`,
      run: async (reason) => {
        await call('promoteTasks', { ids: [id], ...because(reason) })
        return 'The task is due.'
      },
    },
    cancel: {
      title: 'Cancel this task',
      verb: 'Cancel the task',
      isDangerous: true,
      needsReason: true,
      touches: (
        <p>One task. It never runs again; if it runs now, its handler is told to stop. This can't be taken back.</p>
      ),
      command: `npx reprise cancel ${id}`,
      run: async (reason) => {
        await call('cancelTask', { id, ...because(reason) })
        return 'The task is cancelled.'
      },
    },
    discard: {
      title: 'Discard this dead letter',
      verb: 'Discard',
      isDangerous: true,
      needsReason: true,
      touches: <p>One task. It leaves the dead letters; for 7 days this can be taken back.</p>,
      command: `npx reprise discard ${id}`,
      run: async (reason) => {
        await call('discardTasks', { ids: [id], ...because(reason) })
        return {
          says: 'The task is discarded.',
          undo: () => call('restoreTasks', { ids: [id], reason: 'discard taken back' }),
        }
      },
    },
  }
  const { run, ...rest } = changes[act]
  return {
    ...rest,
    run: async (reason) => {
      const done = await run(reason)
      await refresh()
      return done
    },
  }
}
