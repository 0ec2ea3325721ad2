// How runbooks and runs of them are shown.

import { isStartedBy, RUN_STATES, type RunbookRun, STEP_STATES } from '@reprise/orchestrator'
import { z } from 'zod'
import { behind, type Caller } from '../access/caller.ts'
import { listOf, Moment } from '../schemas/names.ts'
import type { Redaction } from '../views.ts'
import type { KnownRunbook } from './known.ts'

const InputView = z.object({
  type: z.enum(['text', 'number', 'flag', 'json']),
  about: z.string(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  choices: listOf(z.string()).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
})

const FiguresView = z.object({ runs: z.int(), succeeded: z.int(), aborted: z.int() })

export const RunbookView = z
  .object({
    name: z.string(),
    title: z.string(),
    about: z.string(),
    version: z.int().meta({ description: '0 for one that comes with the product.' }),
    right: z.enum(['operate', 'configure']),
    needsApproval: z.boolean(),
    inputs: z.record(z.string(), InputView),
    suggested: z.string().nullable().meta({ description: 'Why it is suggested for the cause; null if it is not.' }),
    figures: FiguresView.meta({ description: 'How its latest runs ended; with a cause, those for that cause.' }),
  })
  .meta({ id: 'Runbook' })

export const DetailView = RunbookView.extend({
  text: z.string(),
  by: z.string().nullable(),
  steps: z.array(
    z.object({ name: z.string(), title: z.string(), kind: z.string(), mayRepeat: z.boolean(), hasUndo: z.boolean() }),
  ),
}).meta({ id: 'RunbookDetail' })

export const RunView = z
  .object({
    id: z.string(),
    runbook: z.string(),
    title: z.string(),
    version: z.int(),
    state: z.enum(RUN_STATES),
    question: z
      .object({ kind: z.enum(['approval', 'confirm', 'doubt']), text: z.string(), since: Moment })
      .nullable()
      .meta({ description: 'What a person is asked: to agree, to confirm, or whether a step happened.' }),
    isDryRun: z.boolean(),
    inputs: z.record(z.string(), z.unknown()),
    fingerprint: z.string().nullable(),
    actor: z.string(),
    isOwn: z.boolean().meta({
      description: 'Whether the caller started it, also by a token: then somebody else has to agree.',
    }),
    reason: z.string(),
    approvedBy: z.string().nullable(),
    isMoved: z.boolean().meta({ description: 'Whether an orchestrator moves it now, or will when its time has come.' }),
    createdAt: Moment,
    endedAt: Moment.nullable(),
    steps: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        state: z.enum(STEP_STATES),
        startedAt: Moment.nullable(),
        endedAt: Moment.nullable(),
        tries: z.int(),
        output: z.unknown(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'RunbookRun' })

export function runbookView({ runbook, version }: KnownRunbook) {
  const { name, title, about, inputs, right, needsApproval } = runbook
  return { name, title, about, version, right, needsApproval, inputs: { ...inputs } }
}

export function detailView(
  known: KnownRunbook,
  figures: (name: string) => z.output<typeof FiguresView>,
): z.output<typeof DetailView> {
  const { runbook, text, by } = known
  return {
    ...runbookView(known),
    suggested: null,
    figures: figures(runbook.name),
    text,
    by,
    steps: runbook.steps.map(({ name, title, action, mayRepeat, undo }) => ({
      name,
      title,
      kind: action.kind,
      mayRepeat,
      hasUndo: undo !== null,
    })),
  }
}

export function runView(run: RunbookRun, caller: Caller, redaction: Redaction, now: number): z.output<typeof RunView> {
  const {
    id,
    runbook,
    version,
    state,
    question,
    isDryRun,
    fingerprint,
    actor,
    reason,
    approvedBy,
    createdAt,
    endedAt,
  } = run
  return {
    id,
    runbook: runbook.name,
    title: runbook.title,
    version,
    state,
    question: question === null ? null : { ...question, text: redaction.text(question.text) },
    isDryRun,
    inputs: redaction.value(run.inputs) as Record<string, unknown>,
    fingerprint,
    actor,
    isOwn: isStartedBy(run, caller.actor, behind(caller)),
    reason,
    approvedBy,
    isMoved: (state === 'running' || state === 'aborting') && Math.max(run.leaseUntil, run.nextAt) > now,
    createdAt,
    endedAt,
    steps: run.steps.map((step, at) => ({
      ...step,
      title: runbook.steps[at]?.title ?? step.name,
      output: redaction.value(step.output),
      error: step.error === null ? null : redaction.text(step.error),
    })),
  }
}
