// What can be done with a job now: go on, run the failed chunks again, cancel.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { count, many } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import type { Job } from './job-words.tsx'

type Act = 'retry' | 'resume' | 'cancel'

const NAMES: Readonly<Record<Act, string>> = { retry: 'Retry the failed …', resume: 'Go on …', cancel: 'Cancel …' }
const ENDED = ['succeeded', 'failed', 'cancelled']

const CAN: Readonly<Record<Act, (job: Job) => boolean>> = {
  retry: ({ status, failed }) => failed > 0 && !['finishing', 'cancelling', 'cancelled'].includes(status),
  resume: ({ status }) => ['stopped', 'stopping', 'failed'].includes(status),
  cancel: ({ status }) => !ENDED.includes(status) && status !== 'cancelling',
}

export function JobActions({ job }: { readonly job: Job }) {
  const [act, setAct] = useState<Act | null>(null)
  const mayOperate = useMay('operate')
  const acts = mayOperate ? (Object.keys(CAN) as Act[]).filter((one) => CAN[one](job)) : []
  useCommands(
    acts.map((one) => ({
      title: `${NAMES[one].replace(' …', '')}: this job`,
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
          className={`button ${one === 'cancel' ? 'button-danger' : one === 'retry' ? 'button-main' : ''}`}
          onClick={() => setAct(one)}
        >
          {NAMES[one]}
        </button>
      ))}
      {act !== null && <Confirm change={changeOf(act, job)} onClose={() => setAct(null)} />}
    </>
  )
}

function changeOf(act: Act, job: Job): Change {
  const { id, failed, open, total, received, succeeded } = job
  const waiting = Math.max((total ?? received) - succeeded - failed - open, 0)
  const command = `npx reprise job ${act} ${shellWord(id)}`
  const done = async (says: string): Promise<string> => {
    await refresh()
    return says
  }
  const changes: Readonly<Record<Act, Change>> = {
    retry: {
      title: 'Run the failed chunks again',
      verb: `Retry ${many(failed, 'chunk')}`,
      command,
      touches: (
        <p>
          {many(failed, 'failed chunk runs', 'failed chunks run')} again, each in a new generation; then the job goes on
          with the {count(waiting)} that were not handed in yet. If the cause is still there, they fail again.
        </p>
      ),
      run: async (reason) => {
        await call('retryJob', { id, reason })
        return done(`${many(failed, 'chunk runs', 'chunks run')} again.`)
      },
    },
    resume: {
      title: 'Let the job go on',
      verb: 'Go on',
      command,
      touches: (
        <p>
          {waiting > 0
            ? `${many(waiting, 'chunk')} that ${waiting === 1 ? 'was' : 'were'} not handed in yet will be.`
            : 'All chunks were handed in; the job comes to its end.'}{' '}
          {failed > 0 &&
            `The ${many(failed, 'failed chunk')} so far ${failed === 1 ? 'is' : 'are'} accepted, and ${failed === 1 ? 'stays' : 'stay'} failed.`}
        </p>
      ),
      run: async (reason) => {
        await call('resumeJob', { id, reason })
        return done('The job goes on.')
      },
    },
    cancel: {
      title: 'Cancel this job',
      verb: 'Cancel the job',
      isDangerous: true,
      command,
      touches: (
        <p>
          {many(open, 'chunk')} under way {open === 1 ? 'is' : 'are'} cancelled, {count(waiting)} never run. The{' '}
          {count(succeeded)} that succeeded stay as they are. This can't be taken back.
        </p>
      ),
      run: async (reason) => {
        await call('cancelJob', { id, reason })
        return done('The job is being cancelled.')
      },
    },
  }
  return changes[act]
}
