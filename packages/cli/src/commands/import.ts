// reprise import: tasks from a file of lines (B12, B13), or the jobs of a BullMQ queue.

import { resolve } from 'node:path'
import { textLines, utf8Texts } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { DRY_RUN, REASON, reasonOf, YES } from '../command/shared-options.ts'
import { JOB_STATES, type JobState } from '../imports/bullmq-job.ts'
import type { Sending, Tally, Told } from '../imports/send.ts'
import { CommandError, usageError } from '../output/errors.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'

/** Those that mean something for jobs of BullMQ only. */
const OF_BULLMQ = ['redis', 'queue', 'prefix', 'states', 'action', 'tenant', 'pool'] as const

export const importCommand: CommandDefinition = {
  path: ['import'],
  group: 'Tasks',
  summary: 'Import tasks with their attempts: from a file, or from BullMQ',
  details:
    'Reads lines as export --raw writes them, or with much left out: {"snapshot":{"id":"a1","action":"mail"},"state":{"status":"dead"},"attempts":[{"failure":{"message":"refused"}}]}. Dead letters stay dead letters with their attempts, errors and stacks; queued and waiting tasks go on. A task that is already there stays as it is, so you can repeat an import that broke off. With bullmq it reads the jobs of a BullMQ queue and changes nothing there. It says what it found, and asks.',
  arguments: [{ name: '[words...]', about: 'A file, - for standard input, or bullmq' }],
  options: [
    { flags: '--redis <url>', about: 'bullmq: the Redis of the queue, such as redis://localhost:6379' },
    { flags: '--queue <name>', about: 'bullmq: the queue' },
    { flags: '--prefix <prefix>', about: "bullmq: what BullMQ's keys begin with; bull if not given" },
    { flags: '--states <list>', about: 'bullmq: failed (if not given), waiting, delayed, separated by commas' },
    { flags: '--action <action>', about: "bullmq: the action of the tasks; the job's name if not given" },
    { flags: '--tenant <tenant>', about: 'bullmq: the tenant of the tasks' },
    { flags: '--pool <pool>', about: "bullmq: their pool; the action's own if not given" },
    REASON,
    DRY_RUN,
    YES,
  ],
  examples: [
    ['reprise import dead.ndjson --dry-run', 'What would become of each line?'],
    ['reprise import dead.ndjson --reason "moved to the new store"', 'Take them in'],
    ['reprise import bullmq --redis redis://localhost:6379 --queue mail', 'Failed jobs as dead letters'],
    ['reprise import bullmq --redis redis://old:6379 --queue mail --states failed,waiting,delayed --yes', 'All of it'],
  ],
  async run(invocation) {
    const [source, ...more] = invocation.arguments
    if (source === undefined || more.length > 0) {
      throw usageError('What is to be imported? Name one file, - or bullmq.', 'reprise import dead.ndjson')
    }
    return source === 'bullmq' ? fromBullmq(invocation) : fromLines(invocation, source)
  },
}

async function fromLines(invocation: Invocation, file: string): Promise<ExitCode> {
  const { options, host } = invocation
  const beside = OF_BULLMQ.find((name) => options.isGiven(name))
  if (beside !== undefined) throw usageError(`--${beside} is for bullmq: a line says everything about its task.`)
  const { lineTasks } = await import('../imports/lines.ts')
  const { fileLines } = await import('../tasks/file-lines.ts')
  const { sendAll } = await import('../imports/send.ts')
  const texts =
    file === '-' ? textLines(utf8Texts(host.stdin.bytes, 'Standard input')) : fileLines(resolve(host.cwd, file), file)
  const client = await invocation.connect()
  const sending: Sending = { dryRun: options.flag('dry-run'), ...reasonOf(options), total: null }
  return shown(invocation, await sendAll(invocation.output, client, lineTasks(texts), sending), sending)
}

async function fromBullmq(invocation: Invocation): Promise<ExitCode> {
  const { options, output } = invocation
  const url = options.text('redis')
  const queue = options.text('queue')
  if (url === undefined || queue === undefined) {
    throw usageError(
      'Which queue? Give --redis and --queue.',
      'reprise import bullmq --redis redis://localhost:6379 --queue mail',
    )
  }
  const states = statesOf(options.text('states'))
  const terms = options.given('action', 'tenant', 'pool')
  const { sendAll } = await import('../imports/send.ts')
  const bullmq = await opened(url, queue, options.text('prefix') ?? 'bull')
  try {
    const client = await invocation.connect()
    const total = await bullmq.count(states)
    const trial: Sending = { dryRun: true, ...reasonOf(options), total }
    const tried = await sendAll(quiet(invocation), client, bullmq.tasks(states, terms), trial)
    if (options.flag('dry-run')) return shown(invocation, tried, trial)
    output.note(`${sentence(tried, true)}`)
    if (tried.accepted === 0) return shown(invocation, tried, { ...trial, dryRun: false })
    if (!(await invocation.confirm(`Import ${tried.accepted} jobs of ${queue}?`))) return EXIT.error
    const sending: Sending = { ...trial, dryRun: false }
    return shown(invocation, await sendAll(output, client, bullmq.tasks(states, terms), sending), sending)
  } finally {
    bullmq.close()
  }
}

async function opened(url: string, queue: string, prefix: string) {
  const { openBullmq } = await import('../imports/bullmq.ts')
  const bullmq = await openBullmq({ url, queue, prefix }).catch((error: unknown) => {
    throw new CommandError(
      `The Redis of the queue does not answer: ${error instanceof Error ? error.message : 'why, it does not say'}`,
    )
  })
  if (bullmq === null) {
    throw usageError(`There is no BullMQ queue '${queue.slice(0, 100)}' with the prefix '${prefix.slice(0, 100)}'.`)
  }
  return bullmq
}

/** The look before an import names no lines: what it found is said in one sentence. */
const quiet = ({ output, options }: Invocation): Told =>
  options.flag('dry-run')
    ? output
    : { format: 'table', progress: (label) => output.progress(label), event: () => undefined }

function statesOf(text = 'failed'): readonly JobState[] {
  const asked = text.split(',').map((state) => state.trim())
  const states = JOB_STATES.filter((state) => asked.includes(state))
  if (states.length === asked.length) return states
  throw usageError(`--states takes ${JOB_STATES.join(', ')}, separated by commas.`)
}

function shown({ output }: Invocation, tally: Tally, { dryRun }: Pick<Sending, 'dryRun'>): ExitCode {
  const { problems, ...counts } = tally
  if (output.format !== 'jsonl') {
    output.one({ ...counts, dryRun, problems }, ({ line }) => {
      line(sentence(tally, dryRun))
      for (const problem of problems) line(`  ${plain(problem)}`)
      const more = tally.refused + tally.conflict - problems.length
      if (more > 0) line(`  and ${more} more; -o jsonl names them all`)
    })
  }
  return tally.refused + tally.conflict === 0 ? EXIT.ok : EXIT.conflict
}

function sentence({ read, accepted, duplicate, conflict, ended, refused }: Tally, dryRun: boolean): string {
  const parts = [
    `${accepted} ${dryRun ? 'would be imported' : 'imported'}`,
    `${duplicate} ${dryRun ? 'are' : 'were'} there already`,
    ...(ended === 0 ? [] : [`${ended} have ended`]),
    ...(conflict === 0 ? [] : [`${conflict} in conflict with other tasks`]),
    ...(refused === 0 ? [] : [`${refused} refused`]),
  ]
  return `Of ${read} ${read === 1 ? 'task' : 'tasks'} ${parts.join(', ')}.`
}
