// reprise status: how everything is, at a glance; or one task with its attempts.

import type { Client } from '@reprise/client'
import type { CommandDefinition } from '../command/definition.ts'
import { follow } from '../command/rows.ts'
import { WATCH } from '../command/shared-options.ts'
import type { Output } from '../output/output.ts'
import { tellStory } from '../views/story.ts'

const ATTEMPTS_MAX = 1_000

export const status: CommandDefinition = {
  path: ['status'],
  group: 'Tasks',
  summary: 'Show how everything is, or one task',
  details:
    'Without an id: how many tasks there are by status, how the workers are, which breakers are open and which lanes are held, what fails most, and a level: ok, warning or critical. With the id of a task: its request, every attempt with its decision, and where it stands.',
  arguments: [{ name: '[id]', about: 'A task' }],
  options: [{ flags: '--json', about: 'The same as -o json' }, WATCH],
  examples: [
    { command: 'reprise status', says: 'Is all well?' },
    { command: 'reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', says: 'What became of it?' },
    { command: 'reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --json | jq .task.state', says: 'For a program' },
  ],
  async run(invocation) {
    const [id] = invocation.arguments
    const { options, output } = invocation
    const client = await invocation.connect()
    const look = (): Promise<Look> => (id === undefined ? overview(client, output) : oneTask(client, output, id))
    const draw = async (): Promise<void> => (await look()).show()
    if (options.flag('watch')) await follow(invocation, { draw, read: async () => [['status', (await look()).value]] })
    else await draw()
  },
}

interface Look {
  readonly value: unknown
  readonly show: () => void
}

async function overview(client: Client, output: Output): Promise<Look> {
  const { tellOverview } = await import('../views/overview.ts')
  const { overviewOf } = await import('../views/overview-figures.ts')
  const { overview: value, staff } = await overviewOf(client)
  return { value, show: () => output.one(value, (people) => tellOverview(value, staff, output.now(), people)) }
}

async function oneTask(client: Client, output: Output, id: string): Promise<Look> {
  const task = await client.getTask({ id })
  const { items: executions, next } = await client.listExecutions({ id, limit: ATTEMPTS_MAX })
  if (next !== null) output.note(`Only the first ${executions.length} attempts are shown.`)
  const value = { task, executions }
  return { value, show: () => output.one(value, (people) => tellStory(task, executions, output.now(), people)) }
}
