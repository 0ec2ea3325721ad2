// reprise status: how everything is, at a glance; or one task with its attempts.

import type { Client, LaneView, WorkerView } from '@reprise/client'
import { isRepriseError, NotFoundError } from '@reprise/core'
import type { CommandDefinition } from '../frame/definition.ts'
import type { Invocation } from '../frame/invocation.ts'
import { allPages } from '../operate/pages.ts'
import { follow } from '../operate/rows.ts'
import { Output } from '../output/output.ts'
import type { Staff } from '../views/overview.ts'
import type { ExecutionRecord, TaskRecord } from '../views/records.ts'
import { tellStory } from '../views/story.ts'

const ATTEMPTS_MAX = 1_000

export const status: CommandDefinition = {
  path: ['status'],
  group: 'Tasks',
  summary: 'Show how everything is, or one task',
  details:
    'Without an id: how many tasks there are by status, how the workers are, which breakers are open and which lanes are held, what fails most, and how that is to be judged. With the id of a task: what was asked, every attempt and what was decided about it, and where it stands.',
  arguments: [{ name: '[id]', about: 'A task' }],
  options: [
    { flags: '--json', about: 'The same as -o json' },
    { flags: '-w, --watch', about: 'Keep looking, until interrupted' },
  ],
  examples: [
    { command: 'reprise status', says: 'Is all well?' },
    { command: 'reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', says: 'What became of it?' },
    { command: 'reprise status 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --json | jq .task.state', says: 'For a program' },
  ],
  async run(invocation) {
    const [id] = invocation.arguments
    const output = outputOf(invocation)
    const read = id === undefined ? await overview(invocation, output) : await oneTask(invocation, output, id)
    if (invocation.options.flag('watch')) {
      await follow(invocation, {
        draw: async () => (await read()).show(),
        read: async () => [['status', (await read()).value]],
      })
    } else (await read()).show()
    return undefined
  },
}

interface Look {
  readonly value: unknown
  readonly show: () => void
}

async function overview(invocation: Invocation, output: Output): Promise<() => Promise<Look>> {
  const { tellOverview } = await import('../views/overview.ts')
  const { overviewOf } = await import('../operate/overview.ts')
  return async () => {
    const [value, staff] = await Promise.all([
      overviewOf(invocation),
      output.isForPeople ? staffOf(await invocation.connect()) : null,
    ])
    return { value, show: () => output.one(value, (people) => tellOverview(value, staff, output.now(), people)) }
  }
}

/** Null for who may not see workers. */
async function staffOf(client: Client): Promise<Staff | null> {
  try {
    const [workers, lanes] = await Promise.all([
      allPages<WorkerView>((page) => client.workers(page)),
      allPages<LaneView>((page) => client.lanes(page)),
    ])
    const staying = workers.filter(({ draining }) => !draining)
    const having = (status: WorkerView['health']['status']): number =>
      staying.filter(({ health }) => health.status === status).length
    const taking = staying.filter(({ health }) => health.status !== 'unhealthy')
    const isServed = ({ pool, action }: LaneView): boolean =>
      taking.some(({ pools, actions }) => pools.includes(pool) && (actions === null || actions.includes(action)))
    return {
      healthy: having('healthy'),
      degraded: having('degraded'),
      unhealthy: having('unhealthy'),
      draining: workers.length - staying.length,
      unservedLanes: lanes.filter((lane) => lane.counts.queued > 0 && !isServed(lane)).length,
    }
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_FORBIDDEN')) return null
    throw error
  }
}

async function oneTask(invocation: Invocation, output: Output, id: string): Promise<() => Promise<Look>> {
  const { executionRecord, taskRecord } = await import('../views/records.ts')
  const client = await invocation.connect()
  return async () => {
    const found = await client.get(id)
    if (found === null) throw new NotFoundError('task', id)
    const { items, next } = await client.executions(id, { limit: ATTEMPTS_MAX })
    if (next !== null) output.note(`Only the first ${ATTEMPTS_MAX} attempts are shown.`)
    const task: TaskRecord = taskRecord(found)
    const executions: readonly ExecutionRecord[] = items.map(executionRecord)
    const value = { task, executions }
    return { value, show: () => output.one(value, (people) => tellStory(task, executions, output.now(), people)) }
  }
}

/** D6 has --json for what every command has as -o json. */
function outputOf({ host, options, output }: Invocation): Output {
  if (!options.flag('json') || output.format !== 'table') return output
  const { stdout, stderr, env } = host
  const quiet = options.flag('quiet')
  return new Output({ stdout, stderr, env, quiet, noColour: false, format: 'json', now: output.now })
}
