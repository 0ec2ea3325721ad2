// reprise submit: one task, or a file of them; and how it ended, with --wait.

import type { SubmitOptions, SubmittedTask } from '@reprise/client'
import { InvalidError, present } from '@reprise/core'
import type { CommandDefinition, OptionDefinition } from '../command/definition.ts'
import { jsonOf, textOf } from '../command/input.ts'
import type { Invocation } from '../command/invocation.ts'
import type { Options } from '../command/options.ts'
import { usageError } from '../output/errors.ts'
import { plain } from '../output/plain-text.ts'

const PRIORITY_MAX = 9
/** Those that are about one task. */
const OF_ONE: readonly OptionDefinition[] = [
  { flags: '-l, --label <key=value>', about: 'A label; may be given several times', repeatable: true },
  { flags: '--id <id>', about: 'Its id: a second task with the same one is not accepted' },
  { flags: '--tenant <tenant>', about: 'The tenant of the task' },
  { flags: '--pool <pool>', about: "Where it runs; the action's own pool if not given" },
  { flags: '--priority <number>', about: 'From 0 to 9; higher runs sooner' },
  { flags: '--delay <duration>', about: 'Not before this long from now, such as 10m' },
  { flags: '--deadline <when>', about: 'No attempt starts later: 2h, or 2030-01-31T12:00:00Z' },
  { flags: '--dedupe-key <key>', about: 'One task at a time for the tenant, the action and this key' },
  { flags: '--dedupe-for <life>', about: 'How long the key is held: ended (if not given), 24h, or forever' },
  { flags: '--preferred-worker <worker>', about: 'The worker that should run it, in a directed pool' },
  { flags: '--affinity-key <key>', about: 'Tasks with one key go to one worker, in a directed pool' },
  { flags: '--notify', about: 'Make its end an event: task.succeeded or task.dead' },
]

export const submit: CommandDefinition = {
  path: ['submit'],
  group: 'Tasks',
  summary: 'Submit a task',
  details:
    'Submits a task and writes its id. The payload is JSON: as it stands, from a file (@payload.json) or from standard input (-). With --wait it waits for the end and writes the result, or nothing if there is none. The exit code says how the task ended: 0 succeeded, 6 did not succeed, 7 took too long. With --bulk it submits one task for each line of a file, each a JSON object such as {"action":"greet","payload":{"name":"Ann"}}; nothing is submitted unless every line is valid.',
  arguments: [
    { name: '[action]', about: 'What to run; with --bulk for lines that name none' },
    { name: '[payload]', about: 'JSON, @file or -; null if missing' },
  ],
  options: [
    ...OF_ONE,
    { flags: '--wait [duration]', about: 'Wait until it has ended, at most this long; without a limit if not given' },
    { flags: '--bulk <file>', about: 'Submit every line of this file; - for standard input' },
  ],
  examples: [
    [`reprise submit greet '{"name":"Ann"}'`, 'One task'],
    ['reprise submit invoice.send @invoice.json --label customer=acme --wait 5m', 'And how it ended'],
    ['reprise submit report.send --dedupe-key monday --dedupe-for 24h', 'Not again within a day'],
    ['reprise submit greet --notify', 'Its end shows in watch and events, and goes to webhooks'],
    ['reprise submit --bulk tasks.ndjson -o jsonl > submitted.ndjson', 'Many'],
  ],
  async run(invocation) {
    const { options } = invocation
    const [action, payload] = invocation.arguments
    const bulk = options.text('bulk')
    if (bulk !== undefined) {
      refuseBesideBulk(options, payload)
      const { submitLines } = await import('../tasks/bulk-submit.ts')
      return submitLines(invocation, bulk, action ?? null)
    }
    if (action === undefined) {
      throw usageError(
        'Which action? Nothing says so.',
        `reprise submit greet '{"name":"Ann"}', or --bulk with a file.`,
      )
    }
    const wait = options.flag('wait') ? null : options.durationMs('wait')
    const submitOptions = optionsOf(options)
    const input = payload === undefined ? null : jsonOf(await textOf(invocation, payload), 'The payload')
    const client = await invocation.connect()
    const task = await client.submit(action, input, submitOptions)
    if (wait === undefined) showSubmitted(invocation, task)
    const { noteIfNobodyTakes, waitForEnd } = await import('../tasks/waiting.ts')
    if (task.accepted) await noteIfNobodyTakes(invocation, task.id)
    return wait === undefined ? undefined : waitForEnd(invocation, task, wait)
  },
}

function refuseBesideBulk(options: Options, payload: string | undefined): void {
  const names = [...OF_ONE.map(({ flags }) => /--([\w-]+)/.exec(flags)?.[1] ?? ''), 'wait']
  const beside = names.filter((name) => options.isGiven(name))
  if (beside.length === 0 && payload === undefined) return
  const what = beside.length === 0 ? 'A payload' : `--${beside.join(', --')}`
  throw usageError(`${what} can not stand beside --bulk: each line says everything about its task.`)
}

function optionsOf(options: Options): SubmitOptions {
  const labels = options.pairs('label')
  const deadline = options.text('deadline')
  return {
    ...options.given('id', 'tenant', 'pool', 'preferred-worker', 'affinity-key'),
    ...dedupeOf(options),
    ...present({
      labels: Object.keys(labels).length === 0 ? undefined : labels,
      priority: options.whole('priority', 0, PRIORITY_MAX),
      delay: options.durationMs('delay'),
      notify: options.flag('notify') || undefined,
      deadline: deadline === undefined ? undefined : deadlineOf(options, deadline),
    }),
  }
}

function dedupeOf(options: Options): Pick<SubmitOptions, 'dedupe' | 'dedupeKey'> {
  const key = options.text('dedupe-key')
  const until = options.text('dedupe-for')
  if (until === undefined) return present({ dedupeKey: key })
  if (key === undefined) throw usageError('--dedupe-for says how long a key is held, and there is no --dedupe-key.')
  return { dedupe: { key, until } }
}

function deadlineOf(options: Options, text: string): Date | number {
  if (!/^\d{4}-/.test(text)) return options.durationMs('deadline') ?? 0
  const moment = new Date(text)
  if (!Number.isNaN(moment.getTime())) return moment
  throw new InvalidError(
    `--deadline must be a duration such as 2h, or a time such as 2030-01-31T12:00:00Z, not '${text.slice(0, 40)}'.`,
  )
}

function showSubmitted({ output }: Invocation, { id, accepted }: SubmittedTask): void {
  output.one({ id, outcome: accepted ? 'accepted' : 'duplicate' }, ({ line }) => line(plain(id)))
  if (!accepted) output.note('It was there already: nothing new was submitted.')
}
