// What a run asks, with its answers; and to resume or abort it.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh } from '../../api/operations.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { Ago, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import type { Run } from './runbook-words.ts'

type Question = NonNullable<Run['question']>
type Answer = 'yes' | 'no' | 'happened' | 'again'

const ANSWERS: Readonly<Record<Question['kind'], readonly Answer[]>> = {
  approval: ['yes', 'no'],
  confirm: ['yes', 'no'],
  doubt: ['happened', 'again'],
}
const WORDS: Readonly<Record<Question['kind'], string>> = {
  approval: 'It asks whether it may begin.',
  confirm: 'It asks you.',
  doubt: 'Nobody knows whether this step happened.',
}

const wordOf = (kind: Question['kind'], answer: Answer): string => {
  if (answer === 'happened') return 'It happened'
  if (answer === 'again') return 'Do it again'
  if (answer === 'yes') return kind === 'approval' ? 'Agree' : 'Yes, go on'
  return kind === 'approval' ? 'Refuse' : 'No, halt'
}

const AFTER: Readonly<Record<Answer, (kind: Question['kind']) => string>> = {
  yes: (kind) => (kind === 'approval' ? 'The run begins.' : 'The run goes on with its next step.'),
  no: (kind) =>
    kind === 'approval' ? 'The run ends, and nothing was done.' : 'The run halts. It can be resumed or aborted.',
  happened: () => 'The step counts as done, and the run goes on.',
  again: () => 'The step is done once more. If it had happened, it happens twice.',
}

export function RunQuestion({ run, question }: { readonly run: Run; readonly question: Question }) {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const mayOperate = useMay('operate')
  const isOwn = question.kind === 'approval' && run.isOwn
  const answers = mayOperate ? ANSWERS[question.kind].filter((one) => !(isOwn && one === 'yes')) : []
  useCommands(
    answers.map((one) => ({
      title: `Answer: ${wordOf(question.kind, one)}`,
      group: 'On this page',
      run: () => setAnswer(one),
    })),
  )
  return (
    <section aria-label="It asks" className="mt-1 mb-2 max-w-4xl rounded-sm border border-edge bg-raised px-3 py-2">
      <p className="text-sm text-dim">
        {WORDS[question.kind]} Asked <Ago at={question.since} />.
      </p>
      <p className="text-md font-medium">
        <bdi className="break-words">{question.text}</bdi>
      </p>
      {isOwn && (
        <p className="mt-1">
          You started it, or a token of yours did, so somebody else has to agree. Send them this address.
        </p>
      )}
      {answers.length > 0 && (
        <div className="mt-2 flex flex-wrap gap-2">
          {answers.map((one) => (
            <button
              key={one}
              type="button"
              className={`button ${one === 'yes' ? 'button-main' : ''}`}
              onClick={() => setAnswer(one)}
            >
              {wordOf(question.kind, one)} …
            </button>
          ))}
        </div>
      )}
      {answer !== null && <Confirm change={answerChange(run, question.kind, answer)} onClose={() => setAnswer(null)} />}
    </section>
  )
}

function answerChange({ id }: Run, kind: Question['kind'], answer: Answer): Change {
  return {
    title: wordOf(kind, answer),
    verb: wordOf(kind, answer),
    isDangerous: answer === 'again',
    command: `npx reprise runbook confirm ${shellWord(id)} ${answer}`,
    touches: <p>{AFTER[answer](kind)}</p>,
    run: async (reason) => {
      await call('answerRunbookRun', { id, answer, reason })
      await refresh()
      return AFTER[answer](kind)
    },
  }
}

type Act = 'resume' | 'abort'

export function RunActions({ run }: { readonly run: Run }) {
  const [act, setAct] = useState<Act | null>(null)
  const mayOperate = useMay('operate')
  const acts: readonly Act[] = !mayOperate
    ? []
    : [...(run.state === 'halted' ? ['resume' as const] : []), ...(run.state === 'aborting' ? [] : ['abort' as const])]
  useCommands(
    acts.map((one) => ({
      title: one === 'resume' ? 'Resume this run' : 'Abort this run',
      group: 'On this page',
      run: () => setAct(one),
    })),
  )
  return (
    <>
      {acts.map((one) => (
        <button
          key={one}
          type="button"
          className={`button ${one === 'resume' ? 'button-main' : 'button-danger'}`}
          onClick={() => setAct(one)}
        >
          {one === 'resume' ? 'Resume …' : 'Abort …'}
        </button>
      ))}
      {act !== null && <Confirm change={actChange(run, act)} onClose={() => setAct(null)} />}
    </>
  )
}

function actChange({ id, steps }: Run, act: Act): Change {
  if (act === 'resume') {
    const failed = steps.find(({ state }) => state === 'failed')
    return {
      title: 'Resume this run',
      verb: 'Resume',
      command: `npx reprise runbook resume ${shellWord(id)}`,
      touches: (
        <p>
          “<bdi>{failed?.title ?? 'The failed step'}</bdi>” is tried again; then the run goes on.
        </p>
      ),
      run: async (reason) => {
        await call('resumeRunbookRun', { id, reason })
        await refresh()
        return 'The run goes on.'
      },
    }
  }
  return {
    title: 'Abort this run',
    verb: 'Abort',
    isDangerous: true,
    command: `npx reprise runbook abort ${shellWord(id)}`,
    touches: (
      <p>
        No further step is done. Steps that say how are taken back, the last one first; the others stay as they are.
      </p>
    ),
    run: async (reason) => {
      await call('abortRunbookRun', { id, reason })
      await refresh()
      return 'The run is aborted.'
    },
  }
}
