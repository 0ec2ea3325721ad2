// What operators do about failure groups: take one on, resolve it, ignore it for a while, open it again, merge several that have
// one cause, and split what was merged or what one fingerprint mixes. The states and who leaves them: core's cases/group-case.ts.

import {
  acknowledged,
  type By,
  ConflictError,
  casesIn,
  checkedText,
  countedBy,
  durationMs,
  type GroupCase,
  InvalidError,
  ignored,
  merged,
  NotFoundError,
  reopened,
  resolved,
  splitBy,
  stepCase,
  takenOut,
} from '@reprise/core'
import { z } from 'zod'
import { byOf, type Caller } from './access/caller.ts'
import { type Context, refuseUnlessOn } from './context.ts'
import { CaseView, caseView, familiesIn, groupOf } from './group-views.ts'
import { operation } from './operation.ts'
import { checkedBy, DurationInput, NameInput, ReasonInput } from './schemas/names.ts'

const OWNER_LENGTH_MAX = 200
const VERSION_LENGTH_MAX = 200
const MERGED_AT_ONCE = 100
/** Groups of one family. */
const MEMBERS_MAX = 100

const Fingerprint = z.object({ fingerprint: NameInput })
const OneCase = CaseView.extend({ fingerprint: z.string() }).meta({ id: 'OneFailureCase' })

const SHARED = {
  tag: 'tasks',
  right: 'operate',
  tenants: 'all',
  output: OneCase,
  answer: 'The case as it is now.',
  repeatable: true,
  problems: [404, 409],
  audit: async ({ engine }: Context, _caller: Caller, { fingerprint }: { readonly fingerprint: string }) => {
    const one = (await casesIn(engine).get(fingerprint))?.document
    return one === undefined ? null : { status: one.state.status, owner: one.owner, mergedInto: one.mergedInto }
  },
} as const

export const groupCaseOperations = {
  acknowledgeFailureGroup: operation({
    ...SHARED,
    route: 'POST /api/v1/failure-groups/{fingerprint}/acknowledge',
    summary: 'Take a failure group on',
    input: Fingerprint.extend({
      owner: checkedBy((value) => checkedText('owner', value, OWNER_LENGTH_MAX), 'You if missing.').optional(),
      reason: ReasonInput.optional(),
    }),
    run: (context, caller, { fingerprint, owner, reason }) =>
      act(context, caller, fingerprint, reason, (one, by, now) => acknowledged(one, by, now, owner ?? caller.actor)),
  }),
  resolveFailureGroup: operation({
    ...SHARED,
    route: 'POST /api/v1/failure-groups/{fingerprint}/resolve',
    summary: 'Say that the cause is gone',
    description:
      'From now on, or in workers of a version and newer. If such a worker fails for the same cause again, the group is opened by itself, as a regression. Dead letters stay where they are: redrive them.',
    input: Fingerprint.extend({
      version: checkedBy(
        (value) => checkedText('version', value, VERSION_LENGTH_MAX),
        'The version of workers that have the fix.',
      ).optional(),
      reason: ReasonInput.optional(),
    }),
    run: (context, caller, { fingerprint, version, reason }) =>
      act(context, caller, fingerprint, reason, (one, by, now) => resolved(one, by, now, version ?? null)),
  }),
  ignoreFailureGroup: operation({
    ...SHARED,
    route: 'POST /api/v1/failure-groups/{fingerprint}/ignore',
    summary: 'Ignore a failure group for a while',
    description: 'For some time, or until more tasks have died of it, or until the first of both.',
    input: Fingerprint.extend({
      for: DurationInput.optional().meta({ description: 'How long.' }),
      count: z.int().min(1).max(1_000_000_000).optional().meta({ description: 'Until this many more have died.' }),
      reason: ReasonInput.optional(),
    }),
    run: (context, caller, { fingerprint, for: span, count = null, reason }) =>
      act(context, caller, fingerprint, reason, (one, by, now) =>
        ignored(one, by, now, { until: span === undefined ? null : now + durationMs(span, 'for'), count }),
      ),
  }),
  reopenFailureGroup: operation({
    ...SHARED,
    route: 'POST /api/v1/failure-groups/{fingerprint}/reopen',
    summary: 'Open a failure group again',
    input: Fingerprint.extend({ reason: ReasonInput.optional() }),
    run: (context, caller, { fingerprint, reason }) =>
      act(context, caller, fingerprint, reason, (one, by, now) => reopened(one, by, now, 'operator')),
  }),
  mergeFailureGroups: operation({
    ...SHARED,
    route: 'POST /api/v1/failure-groups/{fingerprint}/merge',
    summary: 'Merge failure groups that have one cause',
    description:
      'From then on they are shown, counted and looked into as one. The rule stays in force for new failures, until the group is split.',
    input: Fingerprint.extend({
      from: z
        .array(NameInput)
        .min(1)
        .max(MERGED_AT_ONCE)
        .meta({ description: 'The groups that become part of the one in the path.' }),
      reason: ReasonInput.optional(),
    }),
    run: async (context, caller, { fingerprint, from, reason }) => {
      await refuseUnlessOn(context, 'dlq-inspector')
      const { engine } = context
      const families = await familiesIn(engine)
      const root = families.rootOf(fingerprint)
      const parts = [...new Set(from.flatMap((one) => [one, ...families.membersOf(one)]))]
      if (parts.includes(root)) throw new InvalidError('A failure group can not be merged into itself.')
      if (families.membersOf(root).length + parts.length > MEMBERS_MAX) {
        throw new ConflictError(`A failure group has at most ${MEMBERS_MAX} groups merged into it.`)
      }
      const made = await Promise.all([root, ...parts].map((one) => knownCase(context, one)))
      const by = byOf(caller, reason)
      for (const one of made.slice(1)) {
        await stepCase(engine, one, (known) => (known.mergedInto === root ? null : merged(known, by, root)))
      }
      // The group may be younger than the look that makes its case.
      if (made[0] !== undefined) await stepCase(engine, made[0], (known) => known)
      return current(context, made[0] ?? { id: root, action: '', at: 0 })
    },
  }),
  splitFailureGroup: operation({
    ...SHARED,
    route: 'POST /api/v1/failure-groups/{fingerprint}/split',
    summary: 'Split a failure group',
    description:
      'Takes a group out of the one that it was merged into. With `by` the dead letters of one group are told apart by a field, new ones too: getFailureGroup then shows its parts, each with the query that finds it.',
    input: Fingerprint.extend({
      by: z
        .string()
        .min(1)
        .max(200)
        .nullable()
        .optional()
        .meta({ description: 'tenant, version, host, worker, code or label.<name>; null to tell nothing apart.' }),
      reason: ReasonInput.optional(),
    }),
    run: (context, caller, { fingerprint, by: field, reason }) => {
      if (field !== undefined && field !== null) countedBy(field)
      return act(
        context,
        caller,
        fingerprint,
        reason,
        (one, by) => (field === undefined ? takenOut(one, by) : splitBy(one, by, field)),
        field === undefined ? 'itself' : 'root',
      )
    },
  }),
}

type Known = Parameters<typeof stepCase>[1]

/** What a case is made from, if it is not there yet. `NotFoundError` for what never was a group. */
async function knownCase({ engine }: Pick<Context, 'engine'>, fingerprint: string): Promise<Known> {
  const stored = await casesIn(engine).get(fingerprint)
  if (stored !== null) return { id: fingerprint, action: stored.document.action, at: stored.document.firstAt }
  const group = await groupOf(engine, fingerprint)
  if (group === null) throw new NotFoundError('failure group', fingerprint)
  return { id: group.fingerprint, action: group.action, at: group.firstAt }
}

/** One step. What changes nothing is answered like what does. */
async function act(
  context: Context,
  caller: Caller,
  fingerprint: string,
  reason: string | undefined,
  step: (one: GroupCase, by: By, now: number) => GroupCase | null,
  whose: 'root' | 'itself' = 'root',
): Promise<z.output<typeof OneCase>> {
  await refuseUnlessOn(context, 'dlq-inspector')
  const { engine } = context
  const asked = whose === 'root' ? (await familiesIn(engine)).rootOf(fingerprint) : fingerprint
  const known = await knownCase(context, asked)
  const now = await engine.now()
  const by = byOf(caller, reason)
  await stepCase(engine, known, (one) => step(one, by, now))
  return current(context, known)
}

async function current({ engine }: Pick<Context, 'engine'>, { id }: Known): Promise<z.output<typeof OneCase>> {
  const stored = await casesIn(engine).get(id)
  if (stored === null) throw new NotFoundError('failure group', id)
  return { fingerprint: id, ...caseView(stored.document) }
}
