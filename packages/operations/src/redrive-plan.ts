// A redrive on paper: which dead letters are meant, how they are to be sent, and whether its maker may have one more. It is stored
// here; the dead letters are written down afterwards.

import { randomUUID } from 'node:crypto'
import {
  type By,
  type Collection,
  ConflictError,
  checkedPatch,
  InvalidError,
  RequestError,
  type TaskFilter,
} from '@reprise/core'
import {
  deadOnly,
  holderOf,
  makeRoom,
  NO_ITEMS,
  NOTHING_FOUND,
  type RedriveDocument,
  type RedrivePlan,
  type RedriveState,
  redrivesIn,
} from '@reprise/orchestrator'
import type { z } from 'zod'
import { byOf, type Caller, tenantScope } from './access/caller.ts'
import { ownFilter } from './access/own-tasks.ts'
import type { Context } from './context.ts'
import { askedFilter } from './found.ts'
import { familyOf } from './group-views.ts'
import { refuseHidden } from './patch-sight.ts'
import type { RedriveInput } from './schemas/redrive.ts'
import { mayReveal } from './sight.ts'

const CANARY: readonly number[] = [1, 10, 100]
const MIN_SUCCESS = 0.95
/** How many there may be that are not over: of callers who may see everything, and of those with the same tenants. */
const OPEN_MAX = 200
const OPEN_OF_TENANTS_MAX = 20
/** A list of ids is kept in the document while it is collected. */
const IDS_BYTES_MAX = 100_000

type Input = z.output<typeof RedriveInput>

export async function plannedRedrive(context: Context, caller: Caller, input: Input): Promise<RedriveDocument> {
  if (input.fixedIn !== undefined) refuseVersion(caller)
  const { engine } = context
  const { filter, selector } = selectionOf(input, caller, await familyOf(engine, caller, input.fingerprint))
  const plan = planOf(input)
  if (plan.patch !== null && !mayReveal(caller)) refuseHidden(plan.patch, context.redaction)
  const redrives = redrivesIn(engine)
  const max = caller.tenants === null ? OPEN_MAX : OPEN_OF_TENANTS_MAX
  if ((await makeRoom(engine, caller)) >= max) throw tooMany()
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
  await sayRedrive(context, redrive.id, 'collecting', byOf(caller, input.reason))
  await redrives.insert(redrive)
  await refuseBeyond(redrives, redrive, max)
  return redrive
}

/** Which versions workers have is told to nobody who is limited to tenants, and waiting for one would tell it. */
function refuseVersion({ tenants }: Caller): void {
  if (tenants === null) return
  throw new RequestError(
    'REPRISE_FORBIDDEN',
    "'fixedIn' is for callers for the whole store: versions of workers are not told to a tenant's. Start the redrive when the version is out.",
  )
}

/** Once it is stored: of those that are made at the same moment only as many stay as there is room for. */
async function refuseBeyond(redrives: Collection<RedriveDocument>, made: RedriveDocument, max: number): Promise<void> {
  const { items } = await redrives.find({ index: 'open', value: holderOf(made), limit: max + 1 })
  if (items.length <= max || items.slice(0, max).some(({ document }) => document.id === made.id)) return
  await redrives.remove(made.id)
  throw tooMany()
}

const tooMany = (): ConflictError =>
  new ConflictError('There are too many redrives that are not over. Abort those that nobody needs.')

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

export async function sayRedrive(
  { engine }: Context,
  id: string,
  state: RedriveState,
  { actor, reason }: By,
): Promise<void> {
  const data = { redrive: id, state }
  await engine.journal.append([{ type: 'redrive.changed', taskId: null, attempt: null, actor, reason, data }])
}
