// Routes for workers in any language: register, claim, renew, settle, and what ephemeral workers call. docs/protocol.md
// tells their story.

import { z } from 'zod'
import { routeTable } from '../route.ts'
import {
  ActionNameInput,
  digitsInput,
  JsonValue,
  Milliseconds,
  Moment,
  NameInput,
  NewWorkerId,
  PoolNameInput,
  TaskIdInput,
  WorkerIdInput,
} from '../schemas/names.ts'
import { PublishedAction } from '../schemas/published-action.ts'
import {
  ClaimedView,
  CompleteInput,
  HeartbeatInput,
  LeaseInput,
  NewsInput,
  SettledView,
  SettlementInput,
  SettlementView,
} from './work-bodies.ts'

const BATCH_MAX = 1_000
/** Each is looked up, and written if it changed. */
const PUBLISHED_MAX = 100

export const workRoutes = routeTable({
  registerWorker: {
    method: 'POST',
    path: '/api/v1/workers',
    summary: 'Register a worker',
    description: 'Starts a new epoch: an older worker with the same id is fenced off, and its leases end.',
    tag: 'work',
    access: 'work',
    body: z.strictObject({
      worker: NewWorkerId,
      pools: z.array(PoolNameInput).min(1).max(100),
      actions: z.array(ActionNameInput).max(1_000).nullable().optional(),
      host: NameInput.optional(),
      version: NameInput.optional(),
      runtimes: z.array(NameInput).max(20).optional(),
      concurrency: z.int().min(1).max(100_000).optional(),
      probe: z
        .strictObject({
          port: z.int().min(1).max(65_535),
          path: z
            .string()
            .max(200)
            .regex(/^\/[\w./~-]*$/),
        })
        .optional()
        .meta({
          description:
            'Where probes may ask whether it is well: a port and a path, by http, at the address that this request comes from.',
        }),
    }),
    answers: {
      201: {
        kind: 'json',
        schema: z
          .object({ worker: z.string(), epoch: z.int(), beatEveryMs: Milliseconds, leaseMs: Milliseconds })
          .meta({ id: 'Registered' }),
        description: 'Beat this often, ask for leases this long unless you know better.',
      },
    },
  },
  publishActions: {
    method: 'POST',
    path: '/api/v1/actions',
    summary: 'Tell the settings of the actions that a worker runs',
    description: 'Tasks that are submitted by name alone get them. Of two versions the later one counts.',
    tag: 'work',
    access: 'work',
    body: z.strictObject({ actions: z.array(PublishedAction).min(1).max(PUBLISHED_MAX) }),
    answers: { 204: { kind: 'empty', description: 'They are known now.' } },
  },
  beat: {
    method: 'POST',
    path: '/api/v1/workers/{id}/beat',
    summary: 'Send a heartbeat',
    tag: 'work',
    access: 'work',
    params: z.object({ id: WorkerIdInput }),
    body: z.strictObject({
      epoch: z.int().min(1),
      inFlight: z.int().min(0).optional(),
      queueDepth: z.int().min(0).optional(),
      loopLagMs: z.number().min(0).optional(),
      memoryBytes: z.number().min(0).optional(),
      draining: z.boolean().optional(),
      maxQuietMs: z.number().min(0).optional().meta({
        description: 'How long after its last progress the first of what it runs is past its time-out; 0 for nothing.',
      }),
      outlook: z.string().max(200).nullable().optional().meta({
        description: 'What it sees coming, in words, or null. If it is missing, the server makes a forecast.',
      }),
    }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            outcome: z.enum(['current', 'replaced', 'unknown']).meta({
              description: '`replaced`: stop, another has this id. `unknown`: register again.',
            }),
            drain: z.boolean().meta({ description: 'An operator wants it to finish and stop.' }),
          })
          .meta({ id: 'Beat' }),
        description: 'How the worker stands.',
      },
    },
  },
  vouch: {
    method: 'POST',
    path: '/api/v1/workers/{id}/vouch',
    summary: 'Renew all leases of a worker that can not do it itself',
    description:
      'For a thread of a worker that lives while its event loop is blocked. Nothing is renewed past its time-out. It is no heartbeat.',
    tag: 'work',
    access: 'work',
    params: z.object({ id: WorkerIdInput }),
    body: z.strictObject({
      epoch: z.int().min(1),
      leaseMs: z.int().min(1_000).max(86_400_000).optional(),
      outlook: z.string().max(200).nullable().optional().meta({ description: 'Why, in words.' }),
    }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({ renewed: z.int().meta({ description: '0 also if another worker has this id, or none has.' }) })
          .meta({ id: 'Vouched' }),
        description: 'How many leases were renewed.',
      },
    },
  },
  deregisterWorker: {
    method: 'DELETE',
    path: '/api/v1/workers/{id}',
    summary: 'Take a worker off the registry',
    description: 'Leases that it still has end at once.',
    tag: 'work',
    access: 'work',
    params: z.object({ id: WorkerIdInput }),
    query: z.object({ epoch: digitsInput(1) }),
    answers: { 204: { kind: 'empty', description: 'Gone.' } },
  },
  claim: {
    method: 'POST',
    path: '/api/v1/claims',
    summary: 'Claim tasks, waiting for them if need be',
    tag: 'work',
    access: 'work',
    body: z.strictObject({
      worker: WorkerIdInput,
      epoch: z.int().min(1),
      pools: z
        .array(PoolNameInput)
        .max(100)
        .meta({ description: 'With none of them, only what a dispatcher assigned to this worker.' }),
      actions: z.array(ActionNameInput).max(1_000).nullable().optional(),
      limit: z.int().min(1).max(BATCH_MAX).optional(),
      leaseMs: z.int().min(1_000).max(86_400_000).optional(),
      waitMs: z
        .int()
        .min(0)
        .max(60_000)
        .optional()
        .meta({ description: 'Answer empty-handed only after this long; 20 s if missing.' }),
    }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            claimed: z.array(ClaimedView),
            heldBack: z.enum(['unhealthy', 'degraded']).nullable(),
            drain: z.boolean(),
            now: Moment,
          })
          .meta({ id: 'Claims' }),
        description: 'None if there was no work for this worker.',
      },
    },
    problems: [409],
  },
  renew: {
    method: 'POST',
    path: '/api/v1/leases/renew',
    summary: 'Renew leases',
    tag: 'work',
    access: 'work',
    body: z.strictObject({
      leases: z.array(LeaseInput.extend(NewsInput)).min(1).max(BATCH_MAX),
      leaseMs: z.int().min(1_000).max(86_400_000).optional(),
    }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            results: z.array(
              z.discriminatedUnion('outcome', [
                z.object({ outcome: z.literal('extended'), leaseUntil: Moment }),
                z.object({ outcome: z.literal('superseded'), because: z.string() }),
              ]),
            ),
          })
          .meta({ id: 'Renewed' }),
        description: 'In the order asked. `superseded`: stop working on it.',
      },
    },
  },
  settle: {
    method: 'POST',
    path: '/api/v1/settlements',
    summary: 'Say how attempts ended',
    description: 'What a failure comes to is decided here, by the policies in force. Repeating a call does no harm.',
    tag: 'work',
    access: 'work',
    body: z.strictObject({ settlements: z.array(SettlementInput).min(1).max(BATCH_MAX) }),
    answers: {
      200: {
        kind: 'json',
        schema: z.object({ results: z.array(SettlementView) }).meta({ id: 'Settlements' }),
        description: 'In the order asked. What is wrong with one of them does not concern the others.',
      },
    },
  },
  taskComplete: {
    method: 'POST',
    path: '/task-complete',
    summary: 'An ephemeral worker calls back',
    description:
      'The token of its attempt is the only credential: in the body, or, for a body of more than 64 KiB, as a bearer token with `task` and `attempt` in the query. 403 if it is not that of this attempt, whether or not there is one; 409 if the attempt has ended otherwise; repeated, the same answer again.',
    tag: 'work',
    access: 'public',
    query: z.object({ task: TaskIdInput.optional(), attempt: digitsInput(1).optional() }),
    body: CompleteInput,
    answers: { 200: { kind: 'json', schema: SettledView, description: 'It is settled.' } },
    problems: [403, 409, 413],
  },
  taskHeartbeat: {
    method: 'POST',
    path: '/task-heartbeat',
    summary: 'An ephemeral worker says that it lives',
    description:
      'Renews the lease of its attempt, and brings progress and log lines. The token is the only credential, as for `/task-complete`. 403 if it is not that of this attempt; 409 if the attempt has ended otherwise: stop working on it.',
    tag: 'work',
    access: 'public',
    query: z.object({ task: TaskIdInput.optional(), attempt: digitsInput(1).optional() }),
    body: HeartbeatInput,
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            outcome: z.literal('extended'),
            leaseUntil: Moment,
            leaseMs: Milliseconds,
            beatEveryMs: Milliseconds,
          })
          .meta({ id: 'Heard' }),
        description: 'The attempt is still its own. Come again after `beatEveryMs`.',
      },
    },
    problems: [403, 409],
  },
  payload: {
    method: 'GET',
    path: '/task-payload/{id}/{attempt}',
    summary: 'Fetch the payload of an attempt that is running',
    description:
      'With `Authorization: Bearer <token of the attempt>`. Up to 2 h after its dispatch, and until the worker has called back. 410 after 2 h, 404 after the call-back. 403 if it is not the token of this attempt, whether or not there is one.',
    tag: 'work',
    access: 'public',
    params: z.object({ id: TaskIdInput, attempt: digitsInput(1) }),
    answers: {
      200: {
        kind: 'json',
        schema: z
          .object({
            taskId: z.string(),
            attempt: z.int(),
            action: z.string(),
            tenant: z.string(),
            payload: JsonValue,
            labels: z.record(z.string(), z.string()),
            retryToken: z.string(),
            timeoutAt: Moment,
            leaseUntil: Moment,
            now: Moment,
          })
          .meta({ id: 'Payload' }),
        description: 'What it needs to run.',
      },
    },
    problems: [403, 404, 410],
  },
})
