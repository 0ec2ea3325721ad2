// How far a redrive is, stage by stage, why it halted, and what can be said to it.

import { useState } from 'react'
import { Link } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { count, many, share } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { CommandLine, Id, Since } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'

type Redrive = OperationOutput<'getRedrive'>
type State = Redrive['state']
type Act = 'start' | 'pause' | 'resume' | 'abort' | 'undo'

export const REDRIVE_LOOKS: Readonly<Record<State, { readonly look: string; readonly word: string }>> = {
  collecting: { look: 'queued', word: 'collecting' },
  ready: { look: 'queued', word: 'planned' },
  running: { look: 'running', word: 'running' },
  paused: { look: 'held', word: 'paused' },
  halted: { look: 'dead', word: 'halted' },
  aborting: { look: 'cancelled', word: 'aborting' },
  aborted: { look: 'cancelled', word: 'aborted' },
  undoing: { look: 'cancelled', word: 'undoing' },
  undone: { look: 'cancelled', word: 'undone' },
  done: { look: 'succeeded', word: 'done' },
}

/** The one sentence. */
export function redriveSentence({ state, total, counts, halt, held }: Redrive): string {
  const { recovered, failed, pending, sent } = counts
  if (halt !== null && state === 'halted') return halt.sentence
  if (state === 'ready') return `${many(total, 'task')} would run again. Nothing has been sent.`
  if (state === 'done')
    return `${count(recovered)} of ${many(total, 'task')} recovered${failed === 0 ? '.' : `, ${count(failed)} failed again.`}`
  if (state === 'running')
    return `${count(recovered)} of ${many(total, 'task')} recovered, ${count(sent)} under way, ${count(pending)} to go.${held === null ? '' : ` ${held}`}`
  return `${REDRIVE_LOOKS[state].word}: ${count(recovered)} of ${many(total, 'task')} recovered, ${count(failed)} failed again.`
}

export function Progress({ redrive }: { readonly redrive: Redrive }) {
  const { counts, total, stages, again, halt, held, id, state, plan } = redrive
  const { look, word } = REDRIVE_LOOKS[state]
  const bars = [
    ['recovered', counts.recovered, 'bg-succeeded'],
    ['failed again', counts.failed, 'bg-dead'],
    ['under way', counts.sent, 'bg-running'],
    ['skipped', counts.skipped + counts.ended + counts.undone, 'bg-edge'],
  ] as const
  return (
    <div className="flex flex-col gap-4">
      <p className="flex flex-wrap items-baseline gap-3">
        <StateMark state={look} word={word} />
        {/* Why it halted stands below, with its evidence. */}
        {state !== 'halted' && <span>{redriveSentence(redrive)}</span>}
      </p>
      <div>
        <div
          className="flex h-3 overflow-hidden bg-sunken"
          role="img"
          aria-label={bars.map(([name, value]) => `${count(value)} ${name}`).join(', ')}
        >
          {bars.map(([name, value, colour]) => (
            <span key={name} className={colour} style={{ width: `${total === 0 ? 0 : (100 * value) / total}%` }} />
          ))}
        </div>
        <dl className="mt-1.5 flex flex-wrap gap-x-5 gap-y-1 text-sm">
          {bars.map(([name, value, colour]) => (
            <div key={name} className="flex items-center gap-1.5">
              <span aria-hidden="true" className={`inline-block size-2 ${colour}`} />
              <dt className="text-dim">{name}</dt>
              <dd>{count(value)}</dd>
            </div>
          ))}
          <div className="flex gap-1.5">
            <dt className="text-dim">to go</dt>
            <dd>{count(counts.pending)}</dd>
          </div>
        </dl>
      </div>
      {held !== null && state === 'running' && (
        <p>
          <span className="text-held">‖ Waits:</span> <bdi>{held}</bdi>
        </p>
      )}
      {halt !== null && (
        <div className="rounded-sm bg-dead-soft px-3 py-2">
          <p className="font-semibold">✕ {halt.sentence}</p>
          <ul className="mt-1">
            {halt.evidence.slice(0, 5).map(({ taskId, message, isSame }) => (
              <li key={taskId} className="truncate">
                <Link to={`/tasks/${encodeURIComponent(taskId)}`} className="link">
                  <Id id={taskId} />
                </Link>{' '}
                {isSame ? 'the same cause: ' : 'another cause: '}
                <bdi title={message}>{message}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
      <table className="w-full text-left">
        <thead className="text-sm text-dim">
          <tr className="border-b border-line">
            <th scope="col" className="py-1 font-normal">
              Stage
            </th>
            <th scope="col" className="py-1 text-right font-normal">
              Sent
            </th>
            <th scope="col" className="py-1 text-right font-normal">
              Recovered
            </th>
            <th scope="col" className="py-1 text-right font-normal">
              Failed
            </th>
            <th scope="col" className="py-1 text-right font-normal">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {stages.map(({ size, sent, recovered, failed, startedAt, endedAt }, index) => (
            <tr key={startedAt} className="border-b border-line">
              <th scope="row" className="py-1 font-normal">
                {index + 1}: {size === null ? 'the rest' : count(size)}
              </th>
              <td className="py-1 text-right">{count(sent)}</td>
              <td className="py-1 text-right text-succeeded">
                {count(recovered)} <span className="text-dim">{share(recovered, recovered + failed)}</span>
              </td>
              <td className={`py-1 text-right ${failed > 0 ? 'text-dead' : ''}`}>{count(failed)}</td>
              <td className="py-1 text-right text-dim">
                {endedAt === null ? <Since at={startedAt} /> : `${((endedAt - startedAt) / 1_000).toFixed(1)} s`}
              </td>
            </tr>
          ))}
          {plan.canary.slice(stages.length).map((size, index) => (
            <tr key={`next ${size}`} className="border-b border-line text-dim">
              <th scope="row" className="py-1 font-normal">
                {index + stages.length + 1}: {count(size)}
              </th>
              <td colSpan={4} className="py-1 text-right">
                to come
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {again.length > 0 && (
        <div>
          <p className="text-sm text-dim">Why they failed again</p>
          {again.map(({ fingerprint, message, count: some }) => (
            <p key={fingerprint} className="flex justify-between gap-3">
              <Link to={`/failures/${fingerprint}`} className="link min-w-0 truncate">
                <bdi>{message}</bdi>
              </Link>
              {count(some)}
            </p>
          ))}
        </div>
      )}
      <CommandLine command={`npx reprise redrive watch ${id}`} />
    </div>
  )
}

const POSSIBLE: Readonly<Record<Act, readonly State[]>> = {
  start: ['ready'],
  pause: ['running'],
  resume: ['paused', 'halted'],
  abort: ['ready', 'running', 'paused', 'halted'],
  undo: ['running', 'paused', 'halted', 'aborting', 'done', 'aborted'],
}
const WORDS: Readonly<Record<Act, { readonly name: string; readonly says: string; readonly done: string }>> = {
  start: { name: 'Start', says: 'It runs as it was planned.', done: 'It runs.' },
  pause: { name: 'Pause', says: 'Nothing more is sent. What was sent goes on.', done: 'It is paused.' },
  resume: { name: 'Go on', says: 'It goes on; after a halt with its next stage.', done: 'It goes on.' },
  abort: { name: 'Abort', says: 'Nothing more is sent, for good. What was sent goes on.', done: 'It is aborted.' },
  undo: {
    name: 'Undo',
    says: 'What has not started is dead again, as before. What has started goes on.',
    done: 'It is being undone.',
  },
}
const OPERATIONS = {
  start: 'startRedrive',
  pause: 'pauseRedrive',
  resume: 'resumeRedrive',
  abort: 'abortRedrive',
  undo: 'undoRedrive',
} as const

/** Buttons for what can be said to it now. */
export function RedriveActs({ redrive: { id, state, counts } }: { readonly redrive: Redrive }) {
  const [act, setAct] = useState<Act | null>(null)
  const mayOperate = useMay('operate')
  const acts = mayOperate ? (Object.keys(POSSIBLE) as Act[]).filter((one) => POSSIBLE[one].includes(state)) : []
  useCommands(
    acts.map((one) => ({
      title: `${WORDS[one].name} this redrive`,
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
          className={`button ${one === 'abort' || one === 'undo' ? 'button-danger' : one === 'pause' ? '' : 'button-main'}`}
          onClick={() => setAct(one)}
        >
          {WORDS[one].name}
        </button>
      ))}
      {act !== null && (
        <Confirm
          onClose={() => setAct(null)}
          change={{
            title: `${WORDS[act].name} this redrive`,
            verb: WORDS[act].name,
            needsReason: true,
            isDangerous: act === 'abort' || act === 'undo',
            command: `npx reprise redrive ${act} ${id}`,
            touches: (
              <>
                <p>{WORDS[act].says}</p>
                <p className="text-dim">
                  {count(counts.pending)} to go, {count(counts.sent)} under way, {count(counts.recovered)} recovered.
                </p>
              </>
            ),
            run: async (reason = '') => {
              await call(OPERATIONS[act], { id, reason })
              await refresh()
              return WORDS[act].done
            },
          }}
        />
      )}
    </>
  )
}
