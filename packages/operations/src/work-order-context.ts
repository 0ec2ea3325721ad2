// What the person who takes a work order needs to know about the failure: the newest of its tasks with the chain of attempts and the
// payload, how the workers are that would run it, what the breakers say, what is different about these failures, and which runbooks
// helped. Read when somebody asks, and when a ticket is made in an outside system. Each part is bounded.

import {
  allPages,
  type Clock,
  decodeJson,
  type Engine,
  type Fingerprint,
  isAlive,
  LEFT_OUT,
  type Task,
  turnsOf,
  type WorkOrder,
} from '@reprise/core'
import { z } from 'zod'
import { localCaller } from './access/caller.ts'
import { AttemptInChain, chainOf } from './attempt-chain.ts'
import { oneLine } from './channels/messages.ts'
import { comparisonOf } from './comparison.ts'
import { familiesIn } from './group-views.ts'
import { type Operation, operation } from './operation.ts'
import { runbooksFor } from './runbooks/known.ts'
import { JsonValue } from './schemas/names.ts'
import type { Redaction } from './views.ts'
import { WorkOrderId, workOrderOf } from './work-order-id.ts'

const PAYLOAD_LENGTH_MAX = 4_000
const LONG = '(long)'
const CONTRASTS_MAX = 5
const WORKERS_MAX = 1_000
const WORKERS_SHOWN_MAX = 5
const BREAKERS_MAX = 1_000
const BREAKERS_SHOWN_MAX = 10
const RUNBOOKS_MAX = 3

const HEALTH = ['unhealthy', 'degraded', 'healthy'] as const

const ContextView = z
  .object({
    task: z
      .object({ id: z.string(), tenant: z.string(), pool: z.string(), status: z.string() })
      .nullable()
      .meta({ description: 'The newest of its tasks, which chain and payload are of; null if it was removed.' }),
    payload: JsonValue.nullable().meta({ description: 'Redacted; `(long)` above 4,000 characters.' }),
    chain: z.array(AttemptInChain).meta({ description: 'The last attempts of the task, oldest first.' }),
    workers: z.object({
      healthy: z.int(),
      degraded: z.int(),
      unhealthy: z.int(),
      shown: z
        .array(
          z.object({
            worker: z.string(),
            version: z.string(),
            status: z.enum(HEALTH),
            reasons: z.array(z.string()),
            ranLast: z.boolean().meta({ description: 'Whether it ran the last attempt.' }),
          }),
        )
        .meta({ description: 'The one that ran the last attempt, then those that are worst. A few.' }),
    }),
    breakers: z
      .array(z.object({ name: z.string(), tenant: z.string().nullable(), status: z.string() }))
      .meta({ description: 'Those that cover the action and are not closed, or saw failures.' }),
    summary: z.string().nullable().meta({ description: 'What is different, in a sentence; null if nothing is left.' }),
    contrasts: z.array(z.string()).meta({ description: 'What is different about the failures, the strongest first.' }),
    runbooks: z
      .array(z.object({ name: z.string(), suggested: z.string(), runs: z.int(), succeeded: z.int() }))
      .meta({ description: 'Those that are suggested for the cause, and how often each helped with it.' }),
  })
  .meta({ id: 'WorkOrderContext' })

type WorkOrderContext = z.output<typeof ContextView>
type Runbooks = WorkOrderContext['runbooks']

/** `operations` is the whole table: runbooks are made of them. */
export const workOrderContextOperationsOn = (operations: () => Readonly<Record<string, Operation>>) => ({
  getWorkOrderContext: operation({
    tag: 'work orders',
    tenants: 'all',
    route: 'GET /api/v1/work-orders/{id}/context',
    summary: 'What is known about the failure that a work order is about',
    right: 'read',
    input: WorkOrderId,
    output: ContextView,
    answer: 'The chain of attempts, the payload, workers, breakers, contrasts and runbooks, as they are now.',
    problems: [404],
    run: async (context, caller, { id }) => {
      const order = await workOrderOf(context, id)
      return context.searches.run(caller, async () => ({
        ...(await contextOf(context, order)),
        runbooks: await suggestedFor(context, operations, order),
      }))
    },
  }),
})

interface ContextPorts {
  readonly engine: Engine
  readonly redaction: Redaction
  readonly clock: Clock
}

/** Without runbooks. */
export async function contextOf(ports: ContextPorts, order: WorkOrder): Promise<Omit<WorkOrderContext, 'runbooks'>> {
  const { engine, redaction, clock } = ports
  const { fingerprint } = order.subject
  const families = await familiesIn(engine)
  const root = families.rootOf(fingerprint)
  const names = [root, ...families.membersOf(root)]
  const task = await newestOf(engine, order, names)
  const [chain, workers, breakers, compared] = await Promise.all([
    task === null ? [] : chainOf(ports, task).then(({ attempts }) => attempts),
    workersOf(engine, order, task),
    breakersOf(engine, order.action),
    comparisonOf(ports, localCaller('work-orders'), names),
  ])
  return {
    task: task === null ? null : { id: task.id, tenant: task.tenant, pool: task.pool, status: task.state.status },
    payload: task === null ? null : await payloadOf(task, redaction, clock),
    chain,
    workers,
    breakers,
    summary: compared?.summary ?? null,
    contrasts: compared?.contrasts.slice(0, CONTRASTS_MAX).map(({ sentence }) => sentence) ?? [],
  }
}

async function suggestedFor(
  { engine, clock }: Pick<ContextPorts, 'engine' | 'clock'>,
  operations: () => Readonly<Record<string, Operation>>,
  { subject }: WorkOrder,
): Promise<Runbooks> {
  const ranked = await runbooksFor(engine, operations(), clock, subject.fingerprint)
  return ranked.slice(0, RUNBOOKS_MAX).flatMap(({ known, suggested, figures }) => {
    const { runs, succeeded } = figures
    return suggested === null ? [] : [{ name: known.runbook.name, suggested, runs, succeeded }]
  })
}

/** The task that it is about; of a group its newest dead letter, or else the one that died last. */
async function newestOf(engine: Engine, { subject, tasks }: WorkOrder, names: readonly string[]): Promise<Task | null> {
  if (subject.kind === 'task') return engine.task(subject.taskId, { light: true })
  for (const name of names) {
    const [newest] = (await engine.tasks({ fingerprint: name as Fingerprint, limit: 1, light: true })).items
    if (newest !== undefined) return newest
  }
  const [last] = tasks
  return last === undefined ? null : engine.task(last, { light: true })
}

async function payloadOf({ payload }: Task, redaction: Redaction, clock: Clock): Promise<unknown> {
  if (payload === LEFT_OUT || payload.length > PAYLOAD_LENGTH_MAX) return LONG
  return redaction.paced(decodeJson(payload), turnsOf(clock))
}

async function workersOf(
  engine: Engine,
  { action }: WorkOrder,
  task: Task | null,
): Promise<WorkOrderContext['workers']> {
  const now = await engine.now()
  const { items } = await allPages((page) => engine.workers(page), WORKERS_MAX)
  const able = items.filter(
    (one) =>
      isAlive(one, now, engine.healthThresholds.heartbeatStaleMs) &&
      (task === null || one.pools.includes(task.pool)) &&
      (one.actions === null || one.actions.includes(action as never)),
  )
  const last = task?.lastWorker?.worker ?? null
  const placeOf = (one: (typeof able)[number]): number => (one.worker === last ? -1 : HEALTH.indexOf(one.health.status))
  const count = (status: string): number => able.filter(({ health }) => health.status === status).length
  return {
    healthy: count('healthy'),
    degraded: count('degraded'),
    unhealthy: count('unhealthy'),
    shown: able
      .toSorted((one, other) => placeOf(one) - placeOf(other))
      .slice(0, WORKERS_SHOWN_MAX)
      .map(({ worker, version, health }) => ({
        worker,
        version,
        status: health.status,
        reasons: [...health.reasons],
        ranLast: worker === last,
      })),
  }
}

async function breakersOf(engine: Engine, action: string): Promise<WorkOrderContext['breakers']> {
  const { items } = await engine.breakers({ limit: BREAKERS_MAX })
  return items
    .filter(({ actions }) => actions.includes(action as never))
    .toSorted((one, other) => Number(one.state.status === 'closed') - Number(other.state.status === 'closed'))
    .slice(0, BREAKERS_SHOWN_MAX)
    .map(({ name, tenant, state }) => ({ name, tenant, status: state.status }))
}

/** In lines, for a ticket that has one text. */
export function contextText({
  task,
  payload,
  chain,
  workers,
  breakers,
  contrasts,
}: Omit<WorkOrderContext, 'runbooks'>): string {
  const { healthy, degraded, unhealthy } = workers
  return [
    ...(task === null
      ? []
      : [`Task ${task.id} (tenant ${task.tenant}, pool ${task.pool}): ${JSON.stringify(payload)}`]),
    ...chain.map(({ attempt, status, code, message, worker, version }) =>
      oneLine(
        `Attempt ${attempt} ${status} on ${worker ?? 'no worker'} (version ${version ?? 'unknown'}): ${code ?? ''} ${message ?? ''}`,
      ),
    ),
    `Workers: ${healthy} healthy, ${degraded} degraded, ${unhealthy} unhealthy`,
    ...breakers.map(({ name, status }) => `Breaker ${name} is ${status.replace('_', ' ')}`),
    ...contrasts.map((sentence) => `Different: ${sentence}`),
  ].join('\n')
}
