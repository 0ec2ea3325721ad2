// Operations about runbooks: which there are and which helps with a cause, publish one, run one, and act on a run. A service of the
// orchestrator moves runs; their states and who leaves them: orchestrator's runbooks/run.ts. Callers limited to tenants have none:
// steps act on the whole store.

import { randomUUID } from 'node:crypto'
import { type By, ConflictError, InvalidError, NotFoundError, PAGE_LIMIT_DEFAULT, RequestError } from '@reprise/core'
import {
  type Answer,
  abortedRun,
  answered,
  checkRunbookSize,
  newRun,
  type Runbook,
  type RunbookRun,
  resumedRun,
  runsIn,
  stepRun,
} from '@reprise/orchestrator'
import { z } from 'zod'
import { behind, byOf, type Caller } from './access/caller.ts'
import { boundedPage } from './bounded-page.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { type Operation, operation, Written } from './operation.ts'
import { checkedInputs } from './runbooks/inputs.ts'
import { publishRunbook, runbookNamed, runbooksFor, runFigures } from './runbooks/known.ts'
import { readRunbook } from './runbooks/runbook-file.ts'
import { DetailView, detailView, RunbookView, RunView, runbookView, runView } from './runbooks/views.ts'
import { NameInput, PageQuery, ReasonInput } from './schemas/names.ts'

const TEXT_LENGTH_MAX = 100_000
/** Runs that have not ended. */
const OPEN_MAX = 200

const RunParams = z.object({ id: NameInput })
const RunPage = z.object({ items: z.array(RunView), next: z.string().nullable() }).meta({ id: 'RunbookRunPage' })
const common = { tag: 'runbooks', tenants: 'all' } as const
const act = {
  ...common,
  right: 'operate',
  output: RunView,
  answer: 'The run.',
  problems: [404, 409],
  audit: stateOf,
} as const

/** `operations` is the whole table, these included: steps are operations. It is asked for when an operation runs. */
export const runbookOperationsOn = (operations: () => Readonly<Record<string, Operation>>) => ({
  listRunbooks: operation({
    ...common,
    route: 'GET /api/v1/runbooks',
    summary: 'List runbooks, and which of them helps with a cause',
    right: 'read',
    input: z.object({
      fingerprint: NameInput.optional().meta({ description: 'Of a failure group: those suggested for it first.' }),
    }),
    output: z.object({ items: z.array(RunbookView), next: z.null() }).meta({ id: 'RunbookPage' }),
    answer: 'All of them.',
    run: async ({ engine, clock }, _caller, { fingerprint }) => {
      const ranked = await runbooksFor(engine, operations(), clock, fingerprint ?? null)
      const items = ranked.map(({ known, suggested, figures }) => ({ ...runbookView(known), suggested, figures }))
      return { items, next: null }
    },
  }),
  getRunbook: operation({
    ...common,
    route: 'GET /api/v1/runbooks/{name}',
    summary: 'One runbook, as it is written',
    right: 'read',
    input: z.object({ name: NameInput }),
    output: DetailView,
    answer: 'The runbook.',
    problems: [404],
    run: async ({ engine, redaction, clock }, { scopes }, { name }) => {
      const detail = detailView(await runbookNamed(engine, operations(), name), await runFigures(engine, null, clock))
      // Requests may carry credentials: who could not have written them does not see them.
      return scopes.has('configure') ? detail : { ...detail, text: redaction.text(detail.text) }
    },
  }),
  publishRunbook: operation({
    ...common,
    route: 'PUT /api/v1/runbooks/{name}',
    summary: 'Publish a runbook, or a new version of one',
    right: 'configure',
    input: z.object({
      name: NameInput,
      text: z.string().max(TEXT_LENGTH_MAX).meta({ description: 'YAML, or JSON.' }),
      dryRun: z.boolean().optional().meta({ description: 'Only check it.' }),
      reason: ReasonInput.optional(),
    }),
    output: DetailView,
    answer: 'The runbook as it is now.',
    problems: [409],
    run: async ({ engine, clock }, caller, { name, text, dryRun = false, reason }) => {
      const runbook = readRunbook(text, `${name}.yaml`, operations())
      if (runbook.name !== name) throw new InvalidError(`The text is a runbook '${runbook.name}', not '${name}'.`)
      checkRunbookSize(runbook)
      const figures = await runFigures(engine, null, clock)
      if (dryRun) return detailView({ runbook, version: 0, text, by: caller.actor }, figures)
      return detailView(await publishRunbook(engine, runbook, text, byOf(caller, reason)), figures)
    },
  }),
  startRunbook: operation({
    ...common,
    route: 'POST /api/v1/runbooks/{name}/runs',
    summary: 'Run a runbook',
    description: 'An orchestrator does its steps. With `dryRun` it looks, and says what it would do.',
    right: 'operate',
    input: z.object({
      name: NameInput,
      inputs: z.record(z.string().max(40), z.unknown()).optional(),
      fingerprint: NameInput.optional().meta({
        description: 'The failure group that it is for; the input of that name if missing.',
      }),
      dryRun: z.boolean().optional(),
      reason: ReasonInput,
    }),
    output: RunView,
    answer: 'The run.',
    status: 201,
    problems: [404, 409],
    run: async ({ engine, redaction }, caller, { name, inputs = {}, fingerprint, dryRun = false, reason }) => {
      const { runbook, version } = await runbookNamed(engine, operations(), name)
      refuseWithoutRight(caller, runbook)
      const values = checkedInputs(runbook, inputs)
      const { items } = await runsIn(engine).find({ index: 'open', value: 'yes', limit: OPEN_MAX })
      if (items.length >= OPEN_MAX)
        throw new ConflictError(`${OPEN_MAX} runs have not ended yet. Answer or abort some of them.`)
      const cause = fingerprint ?? (typeof values.fingerprint === 'string' ? values.fingerprint : null)
      const begun = {
        id: `run-${randomUUID()}`,
        runbook,
        version,
        inputs: values,
        fingerprint: cause,
        isDryRun: dryRun,
        person: behind(caller),
      }
      const run = newRun(begun, byOf(caller, reason), await engine.now())
      // Told first: an orchestrator that takes it at once would tell the beginning as well.
      await engine.journal.append(run.untold)
      const { document } = await runsIn(engine).insert({ ...run, untold: [] })
      return runView(document, caller, redaction, await engine.now())
    },
  }),
  listRunbookRuns: operation({
    ...common,
    route: 'GET /api/v1/runbook-runs',
    summary: 'List runs of runbooks',
    right: 'read',
    input: PageQuery.extend({
      open: z.enum(['true', 'false']).optional().meta({ description: 'Only those that have not ended.' }),
      runbook: NameInput.optional(),
      fingerprint: NameInput.optional(),
    }),
    output: RunPage,
    answer: 'By creation, oldest first. A page may be short, and have a next one.',
    run: async (
      { engine, redaction, clock },
      caller,
      { open, runbook, fingerprint, cursor, limit = PAGE_LIMIT_DEFAULT },
    ) => {
      const runs = runsIn(engine)
      const index =
        open === 'true'
          ? { index: 'open', value: 'yes' }
          : fingerprint !== undefined
            ? { index: 'cause', value: fingerprint }
            : runbook !== undefined
              ? { index: 'runbook', value: runbook }
              : null
      const isWanted = ({ document }: { readonly document: RunbookRun }): boolean =>
        (runbook === undefined || document.runbook.name === runbook) &&
        (fingerprint === undefined || document.fingerprint === fingerprint)
      const now = await engine.now()
      const { items, next } = await boundedPage({
        limit,
        cursor,
        clock,
        read: async (count, place) => {
          const page = { limit: count, ...given({ cursor: place }) }
          const found = index === null ? await runs.list(page) : await runs.find({ ...index, ...page })
          return { items: found.items.filter(isWanted), next: found.next }
        },
        textOf: ({ document }) => JSON.stringify(runView(document, caller, redaction, now)),
      })
      return new Written<z.output<typeof RunPage>>(`{"items":${items},"next":${JSON.stringify(next)}}`)
    },
  }),
  getRunbookRun: operation({
    ...common,
    route: 'GET /api/v1/runbook-runs/{id}',
    summary: 'One run of a runbook, step by step',
    right: 'read',
    input: RunParams,
    output: RunView,
    answer: 'The run.',
    problems: [404],
    run: async ({ engine, redaction }, caller, { id }) =>
      runView(await runOf(engine, id), caller, redaction, await engine.now()),
  }),
  answerRunbookRun: operation({
    ...act,
    route: 'POST /api/v1/runbook-runs/{id}/answer',
    summary: 'Answer what a run asks',
    description: 'yes or no to whether it may begin or go on; happened or again to a step that nobody knows about.',
    input: RunParams.extend({ answer: z.enum(['yes', 'no', 'happened', 'again']), reason: ReasonInput.optional() }),
    run: (context, caller, { id, answer, reason }) =>
      acted(context, caller, id, reason, (run, by, now) => {
        if (answer !== 'no') refuseWithoutRight(caller, run.runbook)
        return answered(run, by, answer satisfies Answer, now, behind(caller))
      }),
  }),
  resumeRunbookRun: operation({
    ...act,
    route: 'POST /api/v1/runbook-runs/{id}/resume',
    summary: 'Go on with a run that has halted: its failed step is tried again',
    input: RunParams.extend({ reason: ReasonInput.optional() }),
    run: (context, caller, { id, reason }) =>
      acted(context, caller, id, reason, (run, by, now) => {
        refuseWithoutRight(caller, run.runbook)
        return resumedRun(run, by, now)
      }),
  }),
  abortRunbookRun: operation({
    ...act,
    route: 'POST /api/v1/runbook-runs/{id}/abort',
    summary: 'Abort a run: what can be taken back is',
    input: RunParams.extend({ reason: ReasonInput.optional() }),
    repeatable: true,
    run: (context, caller, { id, reason }) => acted(context, caller, id, reason, abortedRun),
  }),
})

/** Who starts a run, or has it go on, needs what its runbook asks for. Anybody may stop it. */
function refuseWithoutRight({ scopes, actor }: Caller, { name, right }: Runbook): void {
  if (scopes.has(right)) return
  throw new RequestError('REPRISE_FORBIDDEN', `${name} needs the scope '${right}', which ${actor} does not have.`)
}

async function runOf(engine: Context['engine'], id: string): Promise<RunbookRun> {
  const run = (await runsIn(engine).get(id))?.document
  if (run === undefined) throw new NotFoundError('run', id)
  return run
}

async function stateOf({ engine }: Context, _caller: Caller, { id }: { readonly id: string }): Promise<unknown> {
  const { state, question } = await runOf(engine, id)
  return { state, question: question?.kind ?? null }
}

async function acted(
  { engine, redaction }: Context,
  caller: Caller,
  id: string,
  reason: string | undefined,
  step: (run: RunbookRun, by: By, now: number) => RunbookRun | null,
): Promise<z.output<typeof RunView>> {
  const now = await engine.now()
  const by = byOf(caller, reason)
  await stepRun(engine, id, (run) => step(run, by, now))
  return runView(await runOf(engine, id), caller, redaction, now)
}
