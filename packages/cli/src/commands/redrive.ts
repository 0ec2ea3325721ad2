// reprise redrive: sends dead letters back to work, at once, or as a redrive that goes in stages and halts by itself.

import type { CommandDefinition } from '../command/definition.ts'
import { DRY_RUN, LIMIT, REASON, SCOPE, WATCH, YES } from '../command/shared-options.ts'

const VERBS = ['plan', 'start', 'list', 'show', 'watch', 'pause', 'resume', 'abort', 'undo'] as const

export const redrive: CommandDefinition = {
  path: ['redrive'],
  group: 'Operate',
  summary: 'Send dead letters back to work, safely',
  details:
    'plan writes down the dead letters and says what to expect. start runs the plan in an orchestrator: 1 task, then 10, then 100, then the rest. It halts by itself if too many fail, or if one fails for the same cause again. list, show and watch show how far redrives are; pause, resume, abort and undo change one. Without a verb, the tasks that you name or find are sent back at once. docs/recovery.md has more.',
  arguments: [{ name: '[words...]', about: `A verb (${VERBS.join(', ')}), then the redrive or tasks; or tasks alone` }],
  options: [
    { flags: '--query <query>', about: 'Dead letters that this query finds, as for list' },
    ...SCOPE,
    { flags: '--fingerprint <group>', about: 'Only of this failure group' },
    { flags: '--all', about: 'All of them' },
    REASON,
    { flags: '--canary <sizes>', about: 'Sizes of the first stages; 1,10,100 if not given, none for all at once' },
    { flags: '--min-success <percent>', about: 'What share of a stage must succeed; 95 if not given' },
    { flags: '--rate <count>', about: 'At most this many per second' },
    { flags: '--concurrency <count>', about: 'At most this many under way at once' },
    { flags: '--pace <pace>', about: 'breaker: as fast as the breakers let through', choices: ['free', 'breaker'] },
    { flags: '--patch <json>', about: 'Change payloads: RFC 6902 or RFC 7396, as JSON, @file, or - for stdin' },
    { flags: '--fixed-in <version>', about: 'Only on workers of this version or newer, once they are there' },
    { flags: '--items', about: 'For show: each item, with what became of it, and what a patch changes' },
    { flags: '--status <status>', about: 'For show: only items of this status, such as failed' },
    LIMIT,
    WATCH,
    DRY_RUN,
    YES,
  ],
  examples: [
    ['reprise redrive plan --fingerprint 5f3a0c1e9b7d2468 --reason "fixed in 2.4"', 'What would happen?'],
    ['reprise redrive start --query "version:2 code:ECONNREFUSED" --reason "rolled back" --watch', 'In stages'],
    ['reprise redrive show 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55 --status failed', 'What failed again?'],
    ['reprise redrive 0190b8b2-8c1e-7a9e-b7b1-2f0d3c1a9e55', 'One task, at once'],
    ['reprise redrive --fingerprint 5f3a0c1e9b7d2468 --yes', 'A whole failure group, at once'],
  ],
  async run(invocation) {
    const [verb = '', ...words] = invocation.arguments
    const { REDRIVE_VERBS } = await import('../tasks/redrives.ts')
    const act = Object.hasOwn(REDRIVE_VERBS, verb) ? REDRIVE_VERBS[verb] : undefined
    if (act !== undefined) return act(invocation, words)
    const { changeTasks } = await import('../tasks/changes.ts')
    return changeTasks(invocation, { verb: 'redrive', done: 'sent back to work', from: ['dead'] })
  },
}
