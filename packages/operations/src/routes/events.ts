// Routes for events that no operation can be: the live stream, and failures that come in as CloudEvents.

import { z } from 'zod'
import { routeTable } from '../route.ts'
import { EventFilter } from '../schemas/event.ts'
import { JsonValue } from '../schemas/names.ts'

const CloudEventInput = z
  .looseObject({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.string().meta({ description: '`task.execution.failed` is read; others are passed over.' }),
    data: z
      .looseObject({
        errorCode: z.string(),
        errorMessage: z.string().optional(),
        retryable: z.boolean(),
        idempotencyKey: z.string().meta({ description: 'One task for each, of one source.' }),
        taskId: z.string().optional(),
        attempt: z.int().optional(),
        token: z.string().optional().meta({ description: 'Of the running attempt that it ends.' }),
        action: z.string().optional().meta({ description: 'What is to run a task that is not known here.' }),
        payload: JsonValue.optional(),
        tenant: z.string().optional(),
      })
      .optional(),
  })
  .meta({ id: 'CloudEvent' })

const ReceivedView = z
  .object({
    results: z.array(
      z.object({
        outcome: z
          .enum(['settled', 'superseded', 'noted', 'retrying', 'dead', 'ignored', 'refused', 'unavailable'])
          .meta({ description: 'Only `unavailable` is worth sending again.' }),
        taskId: z.string().optional(),
        attempt: z.int().optional(),
        status: z.string().optional(),
        detail: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'ReceivedEvents', description: 'One result for each event, in their order.' })

const receive = {
  method: 'POST',
  summary: 'Report failures',
  description:
    'CloudEvents of type `task.execution.failed`: one (`application/cloudevents+json`), several (`application/cloudevents-batch+json`), or one with its attributes in `ce-` headers (`application/json`). For a task of ours with `attempt` and `token` it ends that attempt; a task of others becomes one of ours. An event that comes again is answered as the first time.',
  tag: 'events',
  access: 'submit',
  consumes: 'application/cloudevents+json',
  body: z.union([CloudEventInput, z.array(z.looseObject({})), z.looseObject({})]),
  answers: {
    200: { kind: 'json', schema: ReceivedView, description: 'What came of each.' },
    503: { kind: 'json', schema: ReceivedView, description: 'Some could not be taken now: send all of them again.' },
  },
  problems: [415],
} as const

export const eventRoutes = routeTable({
  streamEvents: {
    method: 'GET',
    path: '/api/v1/events/stream',
    summary: 'Follow events live',
    description:
      'Server-sent events. `id:` is the cursor: come back with it as `Last-Event-ID` or `cursor`, and nothing is missed. From now on if there is none.',
    tag: 'events',
    access: 'read',
    query: EventFilter.extend({ cursor: z.string().max(2_000).optional() }),
    answers: { 200: { kind: 'sse', description: 'Events as they happen.' } },
    problems: [403, 429],
  },
  receiveEvents: { ...receive, path: '/api/v1/events' },
  receiveEventsAlias: { ...receive, path: '/events', summary: 'Report failures, at a short path' },
})
