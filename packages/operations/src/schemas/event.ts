// Events as the API shows them: entries of the journal in the form of CloudEvents.

import { z } from 'zod'
import { JsonValue, TaskIdInput } from './names.ts'

const TypesQuery = z
  .string()
  .max(1_000)
  .optional()
  .meta({ description: 'Types with commas between them, or families such as `reprise.execution.*`; all if missing.' })

export const EventView = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string().meta({ description: 'Unique: the same whenever and wherever this event is seen.' }),
    source: z.string(),
    type: z.string().meta({ description: 'Such as `reprise.execution.failed`.' }),
    time: z.string(),
    subject: z.string().optional().meta({ description: 'The task; missing if it is about none.' }),
    datacontenttype: z.literal('application/json'),
    data: z.object({
      taskId: z.string().nullable(),
      attempt: z.int().nullable(),
      actor: z.string(),
      reason: z.string(),
      details: z.record(z.string(), JsonValue),
    }),
  })
  .meta({ id: 'Event', description: 'An entry of the journal as a CloudEvent.' })

export const EventFilter = z.object({ type: TypesQuery, task: TaskIdInput.optional() })
