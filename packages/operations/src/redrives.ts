// Operations about redrives: plan one, look at it, and say what it is to do. A service of the orchestrator moves it. The dead
// letters are written down here, in bounded steps, because here is known what the caller may see: a query finds nothing else.

import { randomUUID } from 'node:crypto'
import {
  type By,
  type Collection,
  ConflictError,
  checkedPatch,
  InvalidError,
  NotFoundError,
  PAGE_LIMIT_DEFAULT,
  type PageRequest,
  stepDocument,
  type TaskFilter,
  turnsOf,
} from '@reprise/core'
import {
  collectStep,
  deadOnly,
  holderOf,
  makeRoom,
  NO_ITEMS,
  NOTHING_FOUND,
  newStage,
  type RedriveDocument,
  type RedrivePlan,
  type RedriveState,
  redrivesIn,
} from '@reprise/orchestrator'
import type { z } from 'zod'
import { byOf, type Caller, tenantScope } from './access/caller.ts'
import { ownFilter } from './access/own-tasks.ts'
import { boundedPage } from './bounded-page.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { askedFilter } from './found.ts'
import { given } from './given.ts'
import { familyOf } from './group-views.ts'
import { operation, Written } from './operation.ts'
import { refuseHidden } from './patch-sight.ts'
import { redriveItems } from './redrive-items.ts'
import { redriveView } from './redrive-view.ts'
import { PageQuery, pageOf } from './schemas/names.ts'
import { RedriveActInput, RedriveInput, RedriveItemView, RedriveParams, RedriveView } from './schemas/redrive.ts'
import { mayReveal, seenBy } from './sight.ts'
import { visiblePage } from './visible-page.ts'

const CANARY: readonly number[] = [1, 10, 100]
const MIN_SUCCESS = 0.95
/** How long one call goes on writing dead letters down; then the caller asks it to go on. */
const COLLECT_MS = 4_000
/** How many there may be that are not over: of callers who may see everything, and of those with the same tenants. */
const OPEN_MAX = 200
const OPEN_OF_TENANTS_MAX = 20
/** A list of ids is kept in the document while it is collected. */
const IDS_BYTES_MAX = 100_000

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
      await say(context, id, ACTS[verb].to, byOf(caller, reason))
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
      const { engine } = context
      const { filter, selector } = selectionOf(input, caller, await familyOf(engine, input.fingerprint))
      const plan = planOf(input)
      if (plan.patch !== null && !mayReveal(caller)) refuseHidden(plan.patch, context.redaction)
      const redrives = redrivesIn(engine)
      await refuseTooMany(redrives, caller)
      await makeRoom(engine, caller)
      const createdAt = await engine.now()
      const redrive: RedriveDocument = {
        id: randomUUID(),
        state: 'collecting',
        actor: caller.actor,
        reason: input.reason,
        tenants: caller.tenants,
        selector,
        filter: deadOnly(filter),
        cursor: null,
        startsItself: input.start === true,
        plan,
        createdAt,
        startedAt: null,
        endedAt: null,
        chunks: 0,
        total: 0,
        found: NOTHING_FOUND,
        preflight: null,
        counts: NO_ITEMS,
        stages: [],
        again: [],
        halt: null,
        held: null,
        owner: null,
        leaseUntil: 0,
      }
      await say(context, redrive.id, 'collecting', byOf(caller, input.reason))
      await redrives.insert(redrive)
      await refuseTooMany(redrives, caller, redrive)
      return redriveView(await collected(context, caller, redrive), context.redaction, createdAt)
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

/** Before it is made, and again with it: of those who make one at the same moment only as many stay as there is room for. */
async function refuseTooMany(
  redrives: Collection<RedriveDocument>,
  caller: Caller,
  made?: RedriveDocument,
): Promise<void> {
  const max = caller.tenants === null ? OPEN_MAX : OPEN_OF_TENANTS_MAX
  const { items } = await redrives.find({ index: 'open', value: holderOf(caller), limit: max + 1 })
  const isIn = items.slice(0, max).some(({ document }) => document.id === made?.id)
  if (made === undefined ? items.length < max : isIn || items.length <= max) return
  if (made !== undefined) await redrives.remove(made.id)
  throw new ConflictError('There are too many redrives that are not over. Abort those that nobody needs.')
}

type Input = z.output<typeof RedriveInput>

function planOf(input: Input): RedrivePlan {
  const { canary = CANARY, minSuccess = MIN_SUCCESS, ratePerS = null, concurrency = null, pace = 'free' } = input
  const patch = input.patch === undefined ? null : checkedPatch(input.patch)
  return { canary, minSuccess, ratePerS, concurrency, pace, patch, fixedIn: input.fixedIn ?? null }
}

type NameField = 'id' | 'fingerprint' | 'pool' | 'action' | 'tenant'

/** Which dead letters are meant. A forgotten field must never mean everything. */
function selectionOf(
  { ids, fingerprint, q, all, pool, action, tenant }: Input,
  caller: Caller,
  family: readonly string[] | undefined,
): { readonly filter: TaskFilter; readonly selector: string } {
  if (ids !== undefined && Buffer.byteLength(JSON.stringify(ids)) > IDS_BYTES_MAX) {
    throw new InvalidError(`The ids take more than ${IDS_BYTES_MAX} bytes: plan several redrives, or use a query.`)
  }
  if (tenant !== undefined) tenantScope(caller, tenant)
  const named: readonly (readonly [NameField, readonly string[] | undefined])[] = [
    ['id', ids],
    ['fingerprint', family],
    ['pool', pool === undefined ? undefined : [pool]],
    ['action', action === undefined ? undefined : [action]],
    ['tenant', tenant === undefined ? undefined : [tenant]],
  ]
  const terms = named.flatMap(([field, globs]): TaskFilter['terms'][number][] =>
    globs === undefined ? [] : [{ negated: false, condition: { kind: 'name', field, globs } }],
  )
  const asked = q === undefined ? [] : askedFilter(q, caller).filter.terms
  if (terms.length + asked.length === 0 && all !== true) {
    throw new InvalidError("Say which dead letters: by ids, fingerprint, q, pool, action or tenant; or 'all': true.")
  }
  const words = named.flatMap(([field, globs]) => {
    if (globs === undefined) return []
    if (field === 'fingerprint') return [`fingerprint:${fingerprint}`]
    return field === 'id' && globs.length > 1 ? [`${globs.length} ids`] : [`${field}:${globs[0]}`]
  })
  const selector = [...words, ...(q === undefined ? [] : [q])].join(' ') || 'all dead letters'
  return { filter: { terms: [...ownFilter({ terms }, caller).terms, ...asked] }, selector }
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

async function say({ engine }: Context, id: string, state: RedriveState, { actor, reason }: By): Promise<void> {
  const data = { redrive: id, state }
  await engine.journal.append([{ type: 'redrive.changed', taskId: null, attempt: null, actor, reason, data }])
}
