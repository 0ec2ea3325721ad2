// Operations about redrives: plan one, look at it, and say what it is to do. A service of the orchestrator moves it. The dead
// letters are written down here, in bounded steps, because here is known what the caller may see: a query finds nothing else.

import {
  type Collection,
  ConflictError,
  NotFoundError,
  PAGE_LIMIT_DEFAULT,
  type PageRequest,
  stepDocument,
  turnsOf,
} from '@reprise/core'
import {
  collectStep,
  holderOf,
  newStage,
  type RedriveDocument,
  type RedriveState,
  redrivesIn,
} from '@reprise/orchestrator'
import { byOf, type Caller } from './access/caller.ts'
import { boundedPage } from './bounded-page.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { given } from './given.ts'
import { operation, Written } from './operation.ts'
import { redriveItems } from './redrive-items.ts'
import { plannedRedrive, sayRedrive } from './redrive-plan.ts'
import { redriveView } from './redrive-view.ts'
import { PageQuery, pageOf } from './schemas/names.ts'
import { RedriveActInput, RedriveInput, RedriveItemView, RedriveParams, RedriveView } from './schemas/redrive.ts'
import { seenBy } from './sight.ts'
import { visiblePage } from './visible-page.ts'

/** How long one call goes on writing dead letters down; then the caller asks it to go on. */
const COLLECT_MS = 4_000
const common = { tag: 'redrives', tenants: 'own' } as const

/** What an operator can say, from which states, and what becomes of it. */
const ACTS = {
  start: { from: ['ready'], to: 'running', summary: 'Start a redrive that was planned' },
  pause: { from: ['running'], to: 'paused', summary: 'Pause a redrive: nothing more is sent' },
  resume: {
    from: ['paused', 'halted'],
    to: 'running',
    summary: 'Go on with a redrive that was paused, or that halted: then with its next stage',
  },
  abort: {
    from: ['collecting', 'ready', 'running', 'paused', 'halted'],
    to: 'aborting',
    summary: 'Abort a redrive: nothing more is sent, and what was sent goes on',
  },
  undo: {
    from: ['running', 'paused', 'halted', 'aborting', 'done', 'aborted'],
    to: 'undoing',
    summary: 'Undo a redrive: what has not started is dead again',
  },
} as const satisfies Record<
  string,
  { readonly from: readonly RedriveState[]; readonly to: RedriveState; readonly summary: string }
>
type Act = keyof typeof ACTS

const act = (verb: Act) =>
  operation({
    ...common,
    route: `POST /api/v1/redrives/{id}/${verb}`,
    summary: ACTS[verb].summary,
    right: 'operate',
    audit: async ({ engine }, _caller, { id }) => ({
      state: (await redrivesIn(engine).get(id))?.document.state ?? null,
    }),
    input: RedriveActInput,
    output: RedriveView,
    answer: 'The redrive.',
    problems: [404, 409],
    run: async (context, caller, { id, reason }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      const { engine } = context
      const redrives = redrivesIn(engine)
      refuseWrongState(await visibleRedrive(redrives, caller, id), verb)
      await sayRedrive(context, id, ACTS[verb].to, byOf(caller, reason))
      const now = await engine.now()
      const changed = await stepDocument(redrives, id, (redrive) => {
        refuseWrongState(redrive, verb)
        return acted(redrive, verb, now)
      })
      if (changed === null) throw new NotFoundError('redrive', id)
      return redriveView(changed, context.redaction, now)
    },
  })

export const redriveOperations = {
  createRedrive: operation({
    ...common,
    route: 'POST /api/v1/redrives',
    summary: 'Plan a redrive of dead letters, or start it',
    description:
      'The dead letters are those of this moment: what dies later is not among them. While its state is `collecting` they are being written down: call `collect` until it is not. Then `preflight` and `found` say what to expect.',
    right: 'operate',
    input: RedriveInput,
    output: RedriveView,
    answer: 'The redrive.',
    status: 201,
    problems: [409],
    run: async (context, caller, input) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      const redrive = await context.largePages.run(caller, () => plannedRedrive(context, caller, input))
      return redriveView(await collected(context, caller, redrive), context.redaction, redrive.createdAt)
    },
  }),
  collectRedrive: operation({
    audit: false,
    ...common,
    route: 'POST /api/v1/redrives/{id}/collect',
    summary: 'Go on writing down the dead letters of a redrive',
    right: 'operate',
    input: RedriveParams,
    output: RedriveView,
    answer: 'The redrive; call again while its state is `collecting`.',
    repeatable: true,
    problems: [404],
    run: async (context, caller, { id }) => {
      const redrive = await visibleRedrive(redrivesIn(context.engine), caller, id)
      return redriveView(await collected(context, caller, redrive), context.redaction, await context.engine.now())
    },
  }),
  listRedrives: operation({
    ...common,
    route: 'GET /api/v1/redrives',
    summary: 'List redrives',
    right: 'read',
    input: PageQuery,
    output: pageOf(RedriveView, 'RedrivePage'),
    answer: 'Oldest first.',
    run: async ({ engine, redaction, clock }, caller, { limit = PAGE_LIMIT_DEFAULT, cursor }) => {
      const now = await engine.now()
      const redrives = redrivesIn(engine)
      const { items, next } = await boundedPage({
        limit,
        cursor,
        clock,
        read: (some, from) =>
          visiblePage(
            { limit: some, ...given({ cursor: from }) },
            (page) => readable(redrives, caller, page),
            ({ document }) => maySee(caller, document),
            turnsOf(clock),
          ),
        textOf: ({ document }) => JSON.stringify(redriveView(document, redaction, now)),
      })
      return new Written(`{"items":${items},"next":${JSON.stringify(next)}}`)
    },
  }),
  getRedrive: operation({
    ...common,
    route: 'GET /api/v1/redrives/{id}',
    summary: 'Get a redrive: its plan, progress, and report',
    right: 'read',
    input: RedriveParams,
    output: RedriveView,
    answer: 'The redrive.',
    problems: [404],
    run: async ({ engine, redaction }, caller, { id }) =>
      redriveView(await visibleRedrive(redrivesIn(engine), caller, id), redaction, await engine.now()),
  }),
  listRedriveItems: operation({
    ...common,
    route: 'GET /api/v1/redrives/{id}/items',
    summary: 'List the items of a redrive, each with what became of it',
    description: 'In the order in which they are sent. With a patch, each shows what the patch changes.',
    right: 'read',
    input: RedriveParams.extend({
      ...PageQuery.shape,
      status: RedriveItemView.shape.status.optional().meta({ description: 'Only items of this status.' }),
    }),
    output: pageOf(RedriveItemView, 'RedriveItemPage'),
    answer: 'The items. A page may be short though more follow.',
    problems: [404],
    run: async (context, caller, { id, ...page }) => {
      const redrive = await visibleRedrive(redrivesIn(context.engine), caller, id)
      // A patch is tried on whole payloads.
      const read = () => redriveItems(context, caller, redrive, page)
      return redrive.plan.patch === null ? read() : context.largePages.run(caller, read)
    },
  }),
  startRedrive: act('start'),
  pauseRedrive: act('pause'),
  resumeRedrive: act('resume'),
  abortRedrive: act('abort'),
  undoRedrive: act('undo'),
}

/** Theirs, or everybody's for those who may see everything. */
const maySee = ({ tenants: own }: Caller, { tenants }: Pick<RedriveDocument, 'tenants'>): boolean =>
  own === null || tenants?.every((tenant) => own.includes(tenant)) === true

/** A caller of one tenant sees the own ones alone, which are found without a look at others'. */
const readable = (redrives: Collection<RedriveDocument>, caller: Caller, page: PageRequest) =>
  caller.tenants?.length === 1
    ? redrives.find({ index: 'holder', value: holderOf(caller), ...page })
    : redrives.list(page)

async function visibleRedrive(
  redrives: Collection<RedriveDocument>,
  caller: Caller,
  id: string,
): Promise<RedriveDocument> {
  const redrive = (await redrives.get(id))?.document
  if (redrive === undefined || !maySee(caller, redrive)) throw new NotFoundError('redrive', id)
  return redrive
}

function refuseWrongState({ id, state }: RedriveDocument, verb: Act): void {
  const { from } = ACTS[verb]
  if ((from as readonly RedriveState[]).includes(state)) return
  throw new ConflictError(`Redrive '${id}' is ${state}: ${verb} is for one that is ${from.join(', ')}.`)
}

function acted(redrive: RedriveDocument, verb: Act, now: number): RedriveDocument {
  const { state, plan, stages } = redrive
  switch (verb) {
    case 'start':
      return { ...redrive, state: 'running', startedAt: now }
    case 'abort':
      if (state === 'collecting' || state === 'ready')
        return { ...redrive, state: 'aborted', endedAt: now, filter: null }
      return { ...redrive, state: 'aborting' }
    case 'resume': {
      if (state !== 'halted') return { ...redrive, state: 'running' }
      // What failed is known: it goes on with the next stage.
      const ended = stages.map((stage) => ({ ...stage, endedAt: stage.endedAt ?? now }))
      return { ...redrive, state: 'running', halt: null, stages: [...ended, newStage(plan, stages.length, now)] }
    }
    case 'pause':
    case 'undo':
      return { ...redrive, state: ACTS[verb].to, endedAt: null }
  }
}

/** Writes dead letters down, for as long as one call may take. */
async function collected(context: Context, caller: Caller, redrive: RedriveDocument): Promise<RedriveDocument> {
  const { engine, clock } = context
  const until = clock.monotonic() + COLLECT_MS
  const look = { seen: seenBy(context, caller), turns: turnsOf(clock) }
  let current = redrive
  await context.searches.run(caller, async () => {
    while (current.state === 'collecting' && clock.monotonic() < until) {
      const next = await collectStep(engine, redrive.id, look)
      if (next === null) throw new NotFoundError('redrive', redrive.id)
      current = next
    }
  })
  return current
}
