// One worker: how it is and why, what it runs at this moment, and what it said about itself. It can be told to finish.

import { useState } from 'react'
import { address, Link } from '../../address.tsx'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { count, many, span } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, Copy, Id, Since, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Section } from '../../shell/page.tsx'
import { evidenceOf, onlyServedBy, runsOf, STANDING_LOOK, standingOf, type Worker } from './worker-words.ts'

const MEBIBYTE = 1_048_576
const SHOWN = 50

export function WorkerSheet({
  id,
  all,
  onClose,
}: {
  readonly id: string
  readonly all: readonly Worker[]
  readonly onClose: () => void
}) {
  const asked = useOperation('getWorker', { id }, { keepsPrevious: false })
  const mayOperate = useMay('operate')
  const [isAsking, setAsking] = useState(false)
  const worker = asked.data
  const canDrain = mayOperate && worker !== undefined && !worker.draining
  useCommands(canDrain ? [{ title: `Drain ${id}`, group: 'On this page', run: () => setAsking(true) }] : [])
  return (
    <Sheet
      title={
        <span className="flex items-center gap-2">
          <bdi className="font-mono">{id}</bdi> <Copy text={id} />
        </span>
      }
      onClose={onClose}
      actions={
        canDrain ? (
          <button type="button" className="button" onClick={() => setAsking(true)}>
            Drain …
          </button>
        ) : undefined
      }
    >
      <Answered of={asked} what="the worker">
        {(known) => (
          <>
            <p className="text-md">
              <StateMark state={STANDING_LOOK[standingOf(known)]} word={standingOf(known)} />{' '}
              <span className="text-dim">·</span> <bdi>{evidenceOf(known)}</bdi>
            </p>
            <RunsNow id={id} inFlight={known.inFlight} />
            <Section title="What we know of it">
              <About worker={known} />
            </Section>
          </>
        )}
      </Answered>
      {isAsking && worker !== undefined && <Confirm change={drainOf(worker, all)} onClose={() => setAsking(false)} />}
    </Sheet>
  )
}

function drainOf(worker: Worker, all: readonly Worker[]): Change {
  const { worker: id, inFlight } = worker
  const unserved = onlyServedBy(worker, all)
  return {
    title: `Drain ${id}`,
    verb: 'Drain the worker',
    isDangerous: unserved.length > 0,
    needsReason: true,
    command: `npx reprise workers drain ${shellWord(id)}`,
    touches: (
      <>
        <p>
          It finishes {inFlight === 0 ? 'nothing, since it runs nothing' : many(inFlight, 'task')}, and takes nothing
          new from its next heartbeat on. This is not taken back: start the worker again, or another one.
        </p>
        {unserved.length > 0 && (
          <p className="text-dead">
            ✕ Nothing else takes work from {unserved.length === 1 ? 'the pool' : 'the pools'}{' '}
            <bdi>{unserved.join(', ')}</bdi>: what is queued there waits.
          </p>
        )}
      </>
    ),
    run: async (reason) => {
      const { changed } = await call('drainWorker', { id, reason })
      await refresh()
      return changed ? `${id} finishes what it runs and takes nothing new.` : `${id} was told so before.`
    },
  }
}

function RunsNow({ id, inFlight }: { readonly id: string; readonly inFlight: number }) {
  const q = `status:running worker:"${id.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  const asked = useOperation('listTasks', { q, limit: SHOWN }, { keepsPrevious: false })
  return (
    <Section title="Runs now" aside={<Link to={address('/tasks', { q })}>as a list of tasks</Link>}>
      <Answered of={asked} what="what it runs">
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-dim">{inFlight === 0 ? 'Nothing.' : 'Nothing any more; it has just ended.'}</p>
          ) : (
            <ul className="border-t border-line">
              {items.map(({ id: task, action, tenant, state }) => (
                <li key={task} className="flex h-8 items-center gap-3 border-b border-line">
                  <Link to={`/tasks/${encodeURIComponent(task)}`} className="link">
                    <Id id={task} />
                  </Link>
                  <bdi className="min-w-0 flex-1 truncate">{action}</bdi>
                  <bdi className="truncate text-dim max-sm:hidden">{tenant}</bdi>
                  <span className="text-sm text-dim">
                    {'startedAt' in state && typeof state.startedAt === 'number' && <Since at={state.startedAt} />}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Section>
  )
}

function About({ worker }: { readonly worker: ReturnType<typeof useOperation<'getWorker'>>['data'] & Worker }) {
  const { version, host, runtimes, pools, actions, endpoint, policyVersion, loopLagMs, memoryBytes } = worker
  const { recentFailures, recentOutcomes, consecutiveFailures, lastFailureAt, queueDepth } = worker
  return (
    <Facts
      of={[
        ['version', <bdi key="version">{version}</bdi>],
        ['host', <bdi key="host">{host}</bdi>],
        ['pools', <bdi key="pools">{pools.join(', ')}</bdi>],
        ['actions', <bdi key="actions">{actions === null ? 'all' : actions.join(', ')}</bdi>],
        ['runs', `${runsOf(worker)} at once${queueDepth === 0 ? '' : `, ${count(queueDepth)} more wait inside it`}`],
        [
          'failed lately',
          recentOutcomes === 0
            ? 'it has ended nothing yet'
            : `${count(recentFailures)} of ${many(recentOutcomes, 'attempt')}, ${count(consecutiveFailures)} in a row`,
        ],
        ['last failure', lastFailureAt === null ? null : <Ago key="failure" at={lastFailureAt} />],
        ['heartbeat', <Ago key="beat" at={worker.lastBeatAt} />],
        ['progress', <Ago key="progress" at={worker.lastProgressAt} />],
        ['event loop', `${span(loopLagMs)} late`],
        ['memory', `${count(Math.round(memoryBytes / MEBIBYTE))} MiB`],
        [
          'policies',
          policyVersion === null ? "the server's" : policyVersion === 0 ? 'none' : `version ${policyVersion}`,
        ],
        ['runtimes', <bdi key="runtimes">{runtimes.join(', ')}</bdi>],
        ['endpoint', endpoint === null ? null : <bdi key="endpoint">{endpoint}</bdi>],
        ['here since', <Ago key="since" at={worker.registeredAt} />],
      ]}
    />
  )
}
