// reprise dlq: the dead letters: list them, look at one, give them up, and take that back.

import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { DRY_RUN, LIMIT, REASON, reasonOf, SCOPE, verbOf, WATCH, YES } from '../command/shared-options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { askedQuery } from '../tasks/query.ts'
import { taskColumns } from '../views/task-rows.ts'
import { taskLook } from './status.ts'

export const dlq: CommandDefinition = {
  path: ['dlq'],
  group: 'Operate',
  summary: 'List dead letters; show, discard and restore them',
  details:
    'Lists dead letters, newest first; list takes a query. show <id> tells the story of one. discard gives them up, and restore makes discarded tasks dead letters again: for 7 days, or as long as the server is set to.',
  arguments: [{ name: '[words...]', about: 'list, show, discard or restore, then a query or tasks' }],
  options: [
    { flags: '--query <query>', about: 'For discard and restore: those that this query finds' },
    ...SCOPE,
    { flags: '--fingerprint <group>', about: 'For discard: only of this failure group' },
    { flags: '--all', about: 'All of them' },
    REASON,
    LIMIT,
    WATCH,
    DRY_RUN,
    YES,
  ],
  examples: [
    ['reprise dlq', 'What is dead?'],
    ["reprise dlq list 'died<1h' label.region:eu", 'Since an hour, and there'],
    ['reprise dlq discard --query "code:EINVAL age>30d" --reason "sent by hand"', 'Give them up'],
    ['reprise dlq restore 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'That was one too many'],
  ],
  async run(invocation) {
    const [verb = 'list', ...words] = invocation.arguments
    return verbOf<Act>('dlq', verb, { list, show, discard, restore })(invocation, words)
  },
}

type Act = (invocation: Invocation, words: readonly string[]) => Promise<ExitCode | undefined>

const list: Act = (invocation, words) => {
  const { action, tenant, pool } = invocation.options.given('action', 'tenant', 'pool')
  const terms = Object.entries({ action, tenant, pool }).flatMap(([field, value]) =>
    value === undefined ? [] : [`${field}:${value}`],
  )
  const q = ['status:dead', ...terms, askedQuery(invocation, words)].join(' ').trim()
  return showList(invocation, {
    read: (page) => invocation.api.listTasks({ q, ...page }),
    key: ({ id }) => id,
    columns: taskColumns,
    none: 'There are no dead letters.',
  })
}

const show: Act = async (invocation, [id, ...more]) => {
  if (id === undefined || more.length > 0) throw usageError('Which dead letter? Name one.', 'reprise dlq show <id>')
  const look = await taskLook(invocation, id)
  look.show()
  return EXIT.ok
}

const discard: Act = async (invocation, words) => {
  const { changeTasks } = await import('../tasks/changes.ts')
  return changeTasks(invocation, { verb: 'discard', done: 'given up', from: ['dead'] }, words)
}

const restore: Act = async (invocation, ids) => {
  const { api, output, options } = invocation
  const given = options.text('query')
  if ((given === undefined) === (ids.length === 0)) {
    throw usageError("Which discarded tasks? Give ids, or --query '…'.", 'reprise dlq restore <id>')
  }
  const target = given === undefined ? { ids: [...new Set(ids)] } : { q: askedQuery(invocation, [given]) }
  const dryRun = options.flag('dry-run')
  if (given !== undefined && !dryRun && !(await invocation.confirm('Restore all that it finds?'))) return EXIT.error
  const { pages } = await import('@reprise/client')
  const restored: string[] = []
  let matched = 0
  for await (const step of pages(api.restoreTasks, { ...target, ...reasonOf(options), dryRun })) {
    restored.push(...step.changed)
    matched += step.matched ?? step.changed.length
  }
  output.one({ changed: restored, next: null, matched, dryRun }, ({ line }) => {
    const are = restored.length === 1 ? 'task is a dead letter' : 'tasks are dead letters'
    line(dryRun ? `Would restore ${matched} ${matched === 1 ? 'task' : 'tasks'}.` : `${restored.length} ${are} again.`)
    for (const id of restored.slice(0, 20)) line(`  ${plain(id)}`)
  })
  return ids.length > 0 && matched < ids.length ? EXIT.conflict : EXIT.ok
}
