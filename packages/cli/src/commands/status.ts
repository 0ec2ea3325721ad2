// reprise status: how everything is, at a glance; or one task with its attempts.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { follow } from '../command/rows.ts'
import { WATCH } from '../command/shared-options.ts'
import { tellStory } from '../views/story.ts'

const ATTEMPTS_MAX = 1_000

export const status: CommandDefinition = {
  path: ['status'],
  group: 'Tasks',
  summary: 'Show the state of everything, or of one task',
  details:
    'Without an id: how many tasks there are by status, how the workers are, which breakers are open and which lanes are held, what fails most, and a level (ok, warning or critical) with the reasons in words, the worst first. With the id of a task: its request, every attempt with its decision and the last lines that its handler logged, and where it stands.',
  arguments: [{ name: '[id]', about: 'A task' }],
  options: [{ flags: '--logs', about: 'Of a task: all lines that its handlers logged, not only the last few' }, WATCH],
  examples: [
    ['reprise status', 'Is all well?'],
    ['reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'What became of it?'],
    ['reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --logs', 'What did it log?'],
    ['reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --json | jq .task.state', 'For a program'],
  ],
  async run(invocation) {
    const [id] = invocation.arguments
    const look = (): Promise<Look> => (id === undefined ? overview(invocation) : taskLook(invocation, id))
    const draw = async (): Promise<void> => (await look()).show()
    if (invocation.options.flag('watch'))
      await follow(invocation, { draw, read: async () => [['status', (await look()).value]] })
    else await draw()
  },
}

interface Look {
  readonly value: unknown
  readonly show: () => void
}

async function overview({ api, output }: Invocation): Promise<Look> {
  const { tellOverview } = await import('../views/overview.ts')
  const { overviewOf } = await import('../views/overview-figures.ts')
  const value = await overviewOf(api)
  return { value, show: () => output.one(value, (people) => tellOverview(value, output.now(), people)) }
}

/** One task with its attempts. */
export async function taskLook({ api, options, output }: Invocation, id: string): Promise<Look> {
  const task = await api.getTask({ id })
  const { items: executions, next } = await api.listExecutions({ id, limit: ATTEMPTS_MAX })
  if (next !== null) output.note(`Only the first ${executions.length} attempts are shown.`)
  const { items: logs } = await api.taskLogs({ id })
  const value = { task, executions, logs }
  const all = options.flag('logs')
  return { value, show: () => output.one(value, (people) => tellStory(value, all, output.now(), people)) }
}
