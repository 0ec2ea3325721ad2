// The operation that shows what handlers wrote down while a task's attempts ran.

import { z } from 'zod'
import { visibleTask } from './access/own-tasks.ts'
import { inTurns } from './in-turns.ts'
import { operation } from './operation.ts'
import { listOf, Moment, pageOf, TaskParams, wholePage } from './schemas/names.ts'
import { sightOf } from './sight.ts'

const LogLineView = z
  .object({ at: Moment, level: z.enum(['info', 'warn', 'error']), text: z.string() })
  .meta({ id: 'LogLine' })

const AttemptLogView = z
  .object({
    attempt: z.int(),
    lines: listOf(LogLineView),
    dropped: z.int().meta({ description: 'Earlier lines that there was no room for.' }),
  })
  .meta({ id: 'AttemptLog' })

export const logOperations = {
  taskLogs: operation({
    route: 'GET /api/v1/tasks/{id}/logs',
    summary: 'Get what the handlers of a task logged',
    description: 'The latest lines of the last attempts: up to 100 lines and 16 KiB of each of 10 attempts.',
    tag: 'tasks',
    right: 'read',
    tenants: 'own',
    input: TaskParams,
    output: pageOf(AttemptLogView, 'TaskLogs'),
    answer: 'By attempt, oldest first; attempts that logged nothing are left out.',
    problems: [404],
    run: async (context, caller, { id }) => {
      const { engine, clock } = context
      const { id: stored } = await visibleTask(engine, caller, id, { light: true })
      const sight = sightOf(context, caller)
      const logs = await engine.logs(stored)
      const items = await inTurns(clock, logs, async ({ attempt, lines, dropped }) => ({
        attempt,
        lines: await inTurns(clock, lines, (line) => ({ ...line, text: sight.text(line.text) })),
        dropped,
      }))
      return wholePage(items)
    },
  }),
}
