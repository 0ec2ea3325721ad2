// A run of a runbook, and its state machine. Pure: each function gives the next document, with the entries for the journal in
// `untold`. A service of the orchestrator moves runs (runner.ts), operators answer, resume and abort them.
//
//   running    A service does one step after the other, under a lease. Left by itself: to `waiting`, `halted` or `succeeded`; or by
//              an operator's abort.
//   waiting    A person is asked something: whether the run may begin, whether to go on, or whether a step happened that nobody knows
//              about. Left by the answer, or by an abort.
//   halted     A step failed, or a person said no. Left by an operator: resume tries that step again, abort takes back.
//   aborting   A service takes back what was done, the last step first. Left by itself.
//   succeeded, aborted   For ever.
//
// A step is written down as `running` before it is done and as `done` after it. If the process dies in between, nobody knows whether
// it happened: a step that may be repeated is done again, for any other one a person is asked. A step that only waits for something
// is `polling` in between, where there is no doubt.

import {
  actorText,
  type By,
  type Collection,
  ConflictError,
  type Engine,
  type JournalEntryInput,
  stepTold,
  type ToldDocument,
  untoldIndex,
} from '@reprise/core'
import { checkRunSize, ERROR_LENGTH_MAX, QUESTION_LENGTH_MAX, roomFor, shortened } from './room.ts'
import type { Runbook, RunbookStep } from './runbook.ts'

export const RUN_STATES = ['running', 'waiting', 'halted', 'aborting', 'succeeded', 'aborted'] as const
export type RunState = (typeof RUN_STATES)[number]

export const STEP_STATES = [
  'pending',
  'running',
  'polling',
  'done',
  'skipped',
  'failed',
  'undoing',
  'undone',
  'undo_failed',
] as const
export type StepState = (typeof STEP_STATES)[number]

export interface StepRecord {
  readonly name: string
  readonly state: StepState
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** How often it was begun. */
  readonly tries: number
  readonly output: unknown
  readonly error: string | null
}

export interface Question {
  /** May it begin; go on; did it happen? */
  readonly kind: 'approval' | 'confirm' | 'doubt'
  readonly text: string
  readonly since: number
}

/** `happened` and `again` are for what is in doubt, the others for the rest. */
export type Answer = 'yes' | 'no' | 'happened' | 'again'

export interface RunbookRun extends ToldDocument {
  /** As it was when the run began. */
  readonly runbook: Runbook
  /** 0 for those that come with the product. */
  readonly version: number
  readonly inputs: Readonly<Record<string, unknown>>
  /** The failure group that it is for, if any: success is counted by it. */
  readonly fingerprint: string | null
  readonly state: RunState
  readonly question: Question | null
  readonly isDryRun: boolean
  readonly actor: string
  /** Who is behind the actor: of a token, who made it. The actor if missing. */
  readonly person?: string
  readonly reason: string
  readonly approvedBy: string | null
  readonly createdAt: number
  readonly endedAt: number | null
  readonly steps: readonly StepRecord[]
  /** Nothing is done before. */
  readonly nextAt: number
  readonly owner: string | null
  readonly leaseUntil: number
}

export const isRunOver = ({ state }: Pick<RunbookRun, 'state'>): boolean => state === 'succeeded' || state === 'aborted'
const isMoving = ({ state }: Pick<RunbookRun, 'state'>): boolean => state === 'running' || state === 'aborting'

export const runsIn = (engine: Pick<Engine, 'collection'>): Collection<RunbookRun> =>
  engine.collection<RunbookRun>({
    name: 'runbook-runs',
    indexes: {
      moving: (run) => (isMoving(run) ? 'yes' : null),
      open: (run) => (isRunOver(run) ? null : 'yes'),
      runbook: ({ runbook }) => runbook.name,
      cause: ({ fingerprint }) => fingerprint,
      untold: untoldIndex,
    },
  })

/** Takes a step of a run, and tells of it. Null if `next` gave null, or there is no such run. */
export const stepRun = (
  engine: Pick<Engine, 'collection' | 'journal'>,
  id: string,
  next: (run: RunbookRun) => RunbookRun | null,
): Promise<RunbookRun | null> => stepTold(engine.journal, runsIn(engine), id, next)

type Begun = Pick<RunbookRun, 'id' | 'runbook' | 'version' | 'inputs' | 'fingerprint' | 'isDryRun' | 'person'>

export function newRun(begun: Begun, { actor, reason }: By, now: number): RunbookRun {
  const { runbook, isDryRun } = begun
  const asksFirst = runbook.needsApproval && !isDryRun
  const run: RunbookRun = {
    ...begun,
    state: asksFirst ? 'waiting' : 'running',
    question: asksFirst
      ? { kind: 'approval', text: `${actorText(actor)} wants to run '${runbook.title}': ${reason}`, since: now }
      : null,
    actor,
    reason,
    approvedBy: null,
    createdAt: now,
    endedAt: null,
    steps: runbook.steps.map(({ name }) => ({ ...NOT_BEGUN, name })),
    nextAt: now,
    owner: null,
    leaseUntil: 0,
    untold: [],
  }
  checkRunSize(run)
  return told(run, 'runbook.started', { actor, reason }, { dryRun: isDryRun, asksFirst })
}

const NOT_BEGUN = { state: 'pending', startedAt: null, endedAt: null, tries: 0, output: null, error: null } as const

/** The step that is next; -1 if none is left. When it is aborted: the last one that can be taken back. */
export function nextStep({ state, steps, runbook }: RunbookRun): number {
  if (state !== 'aborting') return steps.findIndex((step) => step.state !== 'done' && step.state !== 'skipped')
  return steps.findLastIndex(
    (step, at) => step.state !== 'pending' && !ENDED_UNDO.has(step.state) && runbook.steps[at]?.undo != null,
  )
}

const ENDED_UNDO: ReadonlySet<StepState> = new Set(['skipped', 'undone', 'undo_failed'])

export interface Holder {
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
}

/** A service takes the run: its lease is over, or its own. Null if it may not, or there is nothing to do now. */
export function taken(run: RunbookRun, { owner, now, leaseMs }: Holder): RunbookRun | null {
  if (!isMoving(run) || run.nextAt > now || (run.owner !== owner && run.leaseUntil > now)) return null
  const mine = { ...run, owner, leaseUntil: now + leaseMs }
  const at = nextStep(mine)
  const [step, record] = [run.runbook.steps[at], run.steps[at]]
  // Who takes a run is at no step of it: what is written down as begun was left by a process that died, or lost the store.
  const isInDoubt = run.state === 'running' && record?.state === 'running'
  if (!isInDoubt || step === undefined || step.mayRepeat) return mine
  const text = `Step '${step.title}' was begun, and the process that did it is gone. Did it happen? Look, then answer 'happened' or 'again'.`
  return asking(mine, at, { kind: 'doubt', text, since: now })
}

/** Null if somebody else has the run by now. */
const held = (run: RunbookRun, owner: string): boolean => run.owner === owner && isMoving(run)

export function renewed(run: RunbookRun, { owner, now, leaseMs }: Holder): RunbookRun | null {
  return held(run, owner) ? { ...run, leaseUntil: now + leaseMs } : null
}

/** Written down before the step is done. */
export function begun(run: RunbookRun, at: number, { owner, now, leaseMs }: Holder): RunbookRun | null {
  const record = run.steps[at]
  if (!held(run, owner) || record === undefined || nextStep(run) !== at) return null
  const state = run.state === 'aborting' ? 'undoing' : 'running'
  const startedAt = record.state === 'polling' || record.state === 'running' ? record.startedAt : now
  const isNew = record.state !== 'polling'
  const next = {
    ...record,
    state,
    startedAt,
    endedAt: null,
    error: null,
    tries: record.tries + (isNew ? 1 : 0),
  } as const
  return { ...withStep(run, at, next), leaseUntil: now + leaseMs }
}

/** What a step came to. */
export type StepEnd =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'later'; readonly nextAt: number; readonly output: unknown }
  | { readonly kind: 'ask'; readonly question: string }

/** Written down when the step was done. */
export function ended(run: RunbookRun, at: number, end: StepEnd, { owner, now }: Holder): RunbookRun | null {
  const record = run.steps[at]
  if (run.owner !== owner || record === undefined) return null
  if (record.state === 'undoing') return undone(run, at, end, now)
  // Aborted meanwhile: what was done is written down, and taken back next.
  if (!isMoving(run)) return null
  const over = { ...record, endedAt: now }
  switch (end.kind) {
    case 'later': {
      const output = roomFor(run, at, end.output)
      return { ...withStep(run, at, { ...record, state: 'polling', output }), nextAt: end.nextAt }
    }
    case 'ask':
      return run.state === 'aborting'
        ? withStep(run, at, { ...over, state: 'skipped' })
        : asking(run, at, { kind: 'confirm', text: end.question, since: now })
    case 'skipped':
      return finished(withStep(run, at, { ...over, state: 'skipped' }), now)
    case 'done':
      return finished(
        toldStep(withStep(run, at, { ...over, state: 'done', output: roomFor(run, at, end.output) }), at),
        now,
      )
    case 'failed': {
      const failed = toldStep(withStep(run, at, { ...over, state: 'failed', error: errorOf(end) }), at)
      return failed.state === 'aborting' ? failed : { ...failed, state: 'halted', owner: null, leaseUntil: 0 }
    }
  }
}

function undone(run: RunbookRun, at: number, end: StepEnd, now: number): RunbookRun | null {
  const record = run.steps[at]
  if (record === undefined || end.kind === 'ask') return null
  if (end.kind === 'later') return { ...run, nextAt: end.nextAt }
  const isUndone = end.kind !== 'failed'
  const next = {
    ...record,
    endedAt: now,
    state: isUndone ? 'undone' : 'undo_failed',
    error: isUndone ? null : errorOf(end),
  } as const
  return finished(toldStep(withStep(run, at, next), at), now)
}

const errorOf = ({ error }: StepEnd & { readonly kind: 'failed' }): string => shortened(error, ERROR_LENGTH_MAX)

/** The run ends when no step is left. */
export function finished(run: RunbookRun, now: number): RunbookRun {
  if (nextStep(run) !== -1 || !isMoving(run)) return run
  const state = run.state === 'aborting' ? 'aborted' : 'succeeded'
  const left = run.steps.filter((step) => step.state === 'undo_failed').map(({ name }) => name)
  const reason =
    state === 'succeeded'
      ? 'All steps are done.'
      : left.length === 0
        ? 'It was aborted, and what could be taken back was.'
        : `It was aborted. These could not be taken back: ${left.join(', ')}.`
  const over = { ...run, state, owner: null, leaseUntil: 0, endedAt: now } as const
  return told(over, 'runbook.ended', { actor: 'runbooks', reason }, {})
}

function asking(run: RunbookRun, at: number, { text, ...rest }: Question): RunbookRun {
  const question = { ...rest, text: shortened(text, QUESTION_LENGTH_MAX) }
  const asked = { ...run, state: 'waiting', question, owner: null, leaseUntil: 0 } as const
  return told(
    asked,
    'runbook.asked',
    { actor: 'runbooks', reason: question.text },
    { step: run.steps[at]?.name ?? null },
  )
}

const ANSWERS = {
  approval: ['yes', 'no'],
  confirm: ['yes', 'no'],
  doubt: ['happened', 'again'],
} as const satisfies Record<Question['kind'], readonly Answer[]>

/** Without the address, which an issuer may change: the mark behind it is of the account. */
const accountOf = (actor: string): string => actor.replace(/^(google|oidc):.*(#[0-9a-f]{8})$/, '$1:$2')

const isSame = (one: string, other: string): boolean => accountOf(one) === accountOf(other)

/** Whether somebody, or who is behind them, started it. A run from before `person` was kept has its actor alone. */
export const isStartedBy = (run: Pick<RunbookRun, 'actor' | 'person'>, actor: string, person: string): boolean =>
  isSame(actor, run.actor) || isSame(person, run.person ?? run.actor)

/** A person answers: `person`, if the actor is a token of theirs. */
export function answered(run: RunbookRun, by: By, answer: Answer, now: number, person = by.actor): RunbookRun {
  const { question } = run
  if (run.state !== 'waiting' || question === null)
    throw new ConflictError(`Run ${run.id} asks nothing: it is ${run.state}.`)
  const allowed: readonly Answer[] = ANSWERS[question.kind]
  if (!allowed.includes(answer))
    throw new ConflictError(`The answer to this is ${allowed.join(' or ')}, not ${answer}.`)
  if (question.kind === 'approval' && answer === 'yes' && isStartedBy(run, by.actor, person)) {
    throw new ConflictError('Somebody else has to agree: you started this run, or a token that you made did.')
  }
  const at = nextStep({ ...run, state: 'running' })
  const record = run.steps[at]
  const said = told({ ...run, question: null }, 'runbook.answered', by, { answer, step: record?.name ?? null })
  const onward = { ...said, state: 'running', nextAt: now } as const
  if (question.kind === 'approval') {
    return answer === 'yes' ? { ...onward, approvedBy: by.actor } : finished({ ...said, state: 'aborting' }, now)
  }
  if (record === undefined) return finished(onward, now)
  if (answer === 'again') return withStep(onward, at, { ...record, state: 'pending' })
  const output = { answer, by: by.actor, reason: by.reason }
  if (answer === 'no') {
    return {
      ...withStep(said, at, {
        ...record,
        state: 'failed',
        endedAt: now,
        error: `${actorText(by.actor)} said no: ${by.reason}`,
      }),
      state: 'halted',
    }
  }
  return finished(toldStep(withStep(onward, at, { ...record, state: 'done', endedAt: now, output }), at), now)
}

/** An operator has the step tried again that failed. */
export function resumedRun(run: RunbookRun, by: By, now: number): RunbookRun {
  if (run.state !== 'halted')
    throw new ConflictError(`Run ${run.id} is ${run.state}: only one that has halted can be resumed.`)
  const at = nextStep({ ...run, state: 'running' })
  const record = run.steps[at]
  const next = record === undefined ? run : withStep(run, at, { ...record, state: 'pending' })
  return told({ ...next, state: 'running', nextAt: now }, 'runbook.answered', by, {
    answer: 'resume',
    step: record?.name ?? null,
  })
}

export function abortedRun(run: RunbookRun, by: By, now: number): RunbookRun | null {
  if (run.state === 'aborting') return null
  if (isRunOver(run))
    throw new ConflictError(`Run ${run.id} has ended: it ${run.state === 'succeeded' ? 'succeeded' : 'was aborted'}.`)
  const next = { ...run, state: 'aborting', question: null, nextAt: now } as const
  return told(next, 'runbook.answered', by, { answer: 'abort', step: null })
}

const withStep = (run: RunbookRun, at: number, record: StepRecord): RunbookRun => ({
  ...run,
  steps: run.steps.with(at, record),
})

function toldStep(run: RunbookRun, at: number): RunbookRun {
  const [record, step] = [run.steps[at], run.runbook.steps[at]]
  if (record === undefined || step === undefined) return run
  const reason = sentenceOf(step, record)
  return told(run, 'runbook.step', { actor: run.actor, reason }, { step: step.name, outcome: record.state })
}

function sentenceOf({ title }: RunbookStep, { state, error }: StepRecord): string {
  return error === null ? `${title}: ${state}.` : shortened(`${title}: ${error}`, ERROR_LENGTH_MAX)
}

function told(run: RunbookRun, type: JournalEntryInput['type'], by: By, data: JournalEntryInput['data']): RunbookRun {
  const { id, runbook, version, fingerprint, state } = run
  const about = {
    run: id,
    runbook: runbook.name,
    version,
    state,
    ...(fingerprint === null ? {} : { fingerprint }),
    ...data,
  }
  const entry = { type, taskId: null, attempt: null, actor: by.actor, reason: by.reason, data: about }
  return { ...run, untold: [...run.untold, entry] }
}
