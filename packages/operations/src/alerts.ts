// Alerts: what the store wants people to know. A service of the orchestrator opens and resolves them by the rules; here they are
// listed, shown and acknowledged, and silenced for a time. The states and who leaves them: core's alerts/alert.ts.

import { randomUUID } from 'node:crypto'
import {
  ALERT_STATUSES,
  type Alert,
  acknowledgedAlert,
  alertsIn,
  ConflictError,
  checkedText,
  checkSilence,
  durationMs,
  labelsOf,
  NotFoundError,
  SILENCES_MAX,
  type Silence,
  silences,
  silencesIn,
  stepAlert,
  stepDocument,
} from '@reprise/core'
import { alertsWatchedAt } from '@reprise/orchestrator'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { inTurns } from './in-turns.ts'
import { operation } from './operation.ts'
import {
  checkedBy,
  DurationInput,
  listOf,
  Moment,
  NameInput,
  PageQuery,
  pageOf,
  ReasonInput,
  WatchedAt,
  wholePage,
} from './schemas/names.ts'

export const SeverityView = z.enum(['low', 'normal', 'high', 'critical'])

const AlertView = z
  .object({
    id: z.string(),
    rule: z.string(),
    group: z
      .record(z.string(), z.string())
      .meta({ description: 'What it is about: an action, a breaker, a work order.' }),
    state: z
      .discriminatedUnion('status', [
        z.object({ status: z.literal('pending'), since: Moment }),
        z.object({ status: z.literal('firing'), since: Moment }),
        z.object({ status: z.literal('acknowledged'), since: Moment, by: z.string(), reason: z.string() }),
        z.object({ status: z.literal('resolved'), since: Moment, because: z.enum(['recovered', 'rule_gone']) }),
      ])
      .meta({ id: 'AlertState' }),
    severity: SeverityView,
    says: z.string(),
    value: z.number().meta({ description: 'The figure when it began, or became worse.' }),
    runbook: z.string().nullable(),
    firedAt: Moment.nullable(),
    silenced: z.boolean().meta({ description: 'Nobody is told of it now.' }),
  })
  .meta({ id: 'Alert', description: 'Something that the store wants people to know.' })

const AlertDetail = AlertView.extend({
  tasks: listOf(z.string()).meta({ description: 'Tasks that it stands on, as far as it knows them.' }),
  told: listOf(
    z.object({
      channel: z.string(),
      what: z.enum(['firing', 'acknowledged', 'resolved']),
      at: Moment,
      count: z.int(),
    }),
  ).meta({ description: 'What each channel was last told in this episode.' }),
  past: listOf(z.object({ firedAt: Moment, resolvedAt: Moment })).meta({ description: 'Before, oldest first.' }),
}).meta({ id: 'AlertDetail' })

const SilenceView = z
  .object({
    id: z.string(),
    matches: z.record(z.string(), z.string()),
    from: Moment,
    until: Moment,
    by: z.string(),
    reason: z.string(),
    active: z.boolean(),
  })
  .meta({ id: 'Silence', description: 'Alerts that match are not told until it ends.' })

const AlertId = z.object({ id: NameInput })
const SilenceId = AlertId

const common = { tag: 'alerts', tenants: 'all' } as const

export const alertOperations = {
  listAlerts: operation({
    ...common,
    route: 'GET /api/v1/alerts',
    summary: 'List alerts',
    description: 'By creation, oldest first. Those that are not resolved, unless a status is asked for.',
    right: 'read',
    input: PageQuery.extend({ status: z.enum([...ALERT_STATUSES, 'all']).optional(), rule: NameInput.optional() }),
    output: z
      .object({ items: listOf(AlertView), next: z.string().nullable(), watchedAt: WatchedAt })
      .meta({ id: 'AlertPage' }),
    answer: 'A page of alerts.',
    run: async (context, _caller, { status, rule, ...page }) => {
      const alerts = alertsIn(context.engine)
      const found =
        status === 'all'
          ? await alerts.list(given(page))
          : await alerts.find({
              ...(status === undefined ? { index: 'live', value: 'yes' } : { index: 'status', value: status }),
              ...given(page),
            })
      const view = await viewing(context)
      const items = found.items.filter(({ document }) => rule === undefined || document.rule === rule)
      const shown = await inTurns(context.clock, items, ({ document }) => view(document))
      return { items: shown, next: found.next, watchedAt: await alertsWatchedAt(context.engine) }
    },
  }),
  getAlert: operation({
    ...common,
    route: 'GET /api/v1/alerts/{id}',
    summary: 'One alert, with who was told of it',
    right: 'read',
    input: AlertId,
    output: AlertDetail,
    answer: 'The alert.',
    problems: [404],
    run: async (context, _caller, { id }) => {
      const one = await alertOf(context, id)
      const told = Object.entries(one.told).map(([channel, last]) => ({ channel, ...last }))
      return { ...(await viewing(context))(one), tasks: one.tasks, told, past: one.past }
    },
  }),
  acknowledgeAlert: operation({
    ...common,
    route: 'POST /api/v1/alerts/{id}/acknowledge',
    summary: 'Say that somebody is at an alert',
    description: 'It is told to nobody again, and not escalated. It resolves by itself when what it is about is over.',
    right: 'operate',
    input: AlertId.extend({ reason: ReasonInput.optional() }),
    output: AlertView,
    answer: 'The alert as it is now.',
    repeatable: true,
    problems: [404, 409],
    run: async (context, caller, { id, reason }) => {
      const { engine } = context
      const now = await engine.now()
      await stepAlert(engine, id, (one) => acknowledgedAlert(one, byOf(caller, reason), now))
      return (await viewing(context))(await alertOf(context, id))
    },
  }),
  listSilences: operation({
    ...common,
    route: 'GET /api/v1/silences',
    summary: 'List silences',
    description: 'By creation, oldest first; those that are over for 30 days, too.',
    right: 'read',
    input: z.object({}),
    output: pageOf(SilenceView, 'SilencePage'),
    answer: 'All silences.',
    run: async ({ engine }) => {
      const now = await engine.now()
      const { items } = await silencesIn(engine).list({ limit: SILENCES_MAX * 2 })
      return wholePage(items.map(({ document }) => silenceView(document, now)))
    },
  }),
  createSilence: operation({
    ...common,
    route: 'POST /api/v1/silences',
    summary: 'Keep alerts quiet for a time',
    description: 'Alerts that match go on, and nobody is told. What is still there at the end is told then.',
    right: 'operate',
    input: z.object({
      matches: z
        .record(z.string().min(1).max(100), z.string().min(1).max(500))
        .meta({ description: 'By rule, severity or a name of the group; * stands for any run of characters.' }),
      for: DurationInput.meta({ description: 'How long; at most 30 days.' }),
      reason: checkedBy((value) => checkedText('reason', value, 1_000), 'Why, for those who look.', 1_000),
    }),
    output: SilenceView,
    answer: 'The silence.',
    status: 201,
    problems: [409],
    run: async ({ engine }, caller, { matches, for: span, reason }) => {
      const now = await engine.now()
      const collection = silencesIn(engine)
      const { items } = await collection.list({ limit: SILENCES_MAX })
      if (items.length >= SILENCES_MAX)
        throw new ConflictError(`There are ${SILENCES_MAX} silences, the most there may be.`)
      const { actor } = caller
      const silence: Silence = {
        id: `si-${randomUUID()}`,
        matches,
        from: now,
        until: now + durationMs(span, 'for'),
        by: actor,
        reason,
      }
      checkSilence(silence)
      await collection.insert(silence)
      await noteSilence(engine, silence, actor, reason)
      return silenceView(silence, now)
    },
  }),
  endSilence: operation({
    ...common,
    route: 'POST /api/v1/silences/{id}/end',
    summary: 'End a silence now',
    right: 'operate',
    input: SilenceId,
    output: SilenceView,
    answer: 'The silence as it is now.',
    repeatable: true,
    problems: [404],
    run: async ({ engine }, { actor }, { id }) => {
      const now = await engine.now()
      const collection = silencesIn(engine)
      const ended = await stepDocument(collection, id, (one) => (one.until <= now ? null : { ...one, until: now }))
      if (ended !== null) await noteSilence(engine, ended, actor, 'The silence was ended.')
      const silence = ended ?? (await collection.get(id))?.document
      if (silence === undefined) throw new NotFoundError('silence', id)
      return silenceView(silence, now)
    },
  }),
}

async function alertOf({ engine }: Pick<Context, 'engine'>, id: string): Promise<Alert> {
  const stored = await alertsIn(engine).get(id)
  if (stored === null) throw new NotFoundError('alert', id)
  return stored.document
}

/** How alerts are shown now: with what silences them, and without secrets. */
async function viewing({ engine, redaction }: Context): Promise<(one: Alert) => z.output<typeof AlertView>> {
  const now = await engine.now()
  const { items } = await silencesIn(engine).list({ limit: SILENCES_MAX * 2 })
  return (one) => {
    const { id, rule, group, state, severity, says, value, runbook, firedAt } = one
    const silenced = items.some(({ document }) => silences(document, labelsOf(one), now))
    const told = state.status === 'acknowledged' ? { ...state, reason: redaction.text(state.reason) } : state
    return { id, rule, group, state: told, severity, says: redaction.text(says), value, runbook, firedAt, silenced }
  }
}

const silenceView = ({ id, matches, from, until, by, reason }: Silence, now: number): z.output<typeof SilenceView> => ({
  id,
  matches,
  from,
  until,
  by,
  reason,
  active: from <= now && now < until,
})

async function noteSilence(
  { journal }: Context['engine'],
  { id, matches, until }: Silence,
  actor: string,
  reason: string,
): Promise<void> {
  const words = Object.entries(matches)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
  const data = { silence: id, matches: words.slice(0, 1_000), until }
  await journal.append([{ type: 'alert.silenced', taskId: null, attempt: null, actor, reason, data }])
}
