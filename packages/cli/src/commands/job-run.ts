// reprise job run: starts a durable job from a range of numbers or a file, hands its chunks over, and follows it.

import { randomUUID } from 'node:crypto'
import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Client } from '@reprise/client'
import { InvalidError, messageOf, present, utf8Texts } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import type { Options } from '../command/options.ts'
import { usageError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { watched } from './jobs.ts'

const COUNT_MAX = 1_000_000

export const jobRun: CommandDefinition = {
  path: ['job', 'run'],
  group: 'Tasks',
  summary: 'Run a job made of chunks',
  details:
    'Starts a durable job whose chunks are tasks of one action: a number each (--range), or a line or row each of a file (--file). It hands the chunks over and then follows the job to its end; with --detach it ends when all are handed over. A command that was interrupted goes on with the same --id and the same file. The exit code says how the job ended: 0 succeeded, 6 did not.',
  arguments: [{ name: '<action>', about: 'What each chunk runs' }],
  options: [
    {
      flags: '--range <from..to>',
      about: 'A chunk for each number from the first to below the second, such as 0..240',
    },
    { flags: '--step <count>', about: 'With --range: the distance from one number to the next; 1 if not given' },
    { flags: '--file <file>', about: 'A chunk for each line or row of this file; - for standard input' },
    {
      flags: '--format <format>',
      about: 'The format of the file; by the end of its name if not given',
      choices: ['ndjson', 'csv', 'lines'],
    },
    { flags: '--id <id>', about: 'The same id is the same job' },
    { flags: '--name <name>', about: 'What people call it' },
    { flags: '--tenant <tenant>', about: 'Whose job it is' },
    { flags: '--pool <pool>', about: "Where it runs; the action's own pool if not given" },
    { flags: '-l, --label <key=value>', about: 'A label of each chunk; may be given several times', repeatable: true },
    { flags: '--concurrency <count>', about: 'Chunks that are open at once' },
    { flags: '--rate <count>', about: 'Chunks that are handed in per second' },
    { flags: '--tolerate <failures>', about: 'How many chunks may fail, or which share: 10, or 5%' },
    { flags: '--on-failure <what>', about: 'When more fail: stop, or continue', choices: ['stop', 'continue'] },
    { flags: '--final <action>', about: 'An action that runs once, when all chunks have ended' },
    { flags: '--detach', about: 'Do not follow it' },
  ],
  examples: [
    ['reprise job run render.frame --range 0..240 --concurrency 8', 'A film'],
    [
      'reprise job run import.row --file people.csv --tolerate 1% --on-failure continue',
      'A file, in spite of a few bad rows',
    ],
    ['reprise job run thumb --file urls.ndjson --id thumbs-1 --final thumb.index', 'With a last step'],
  ],
  endsWhenAsked: true,
  async run(invocation) {
    const { host, options, output } = invocation
    const [action = ''] = invocation.arguments
    const { startDurableJob } = await import('@reprise/jobs')
    const settings = { id: randomUUID(), ...settingsOf(options) }
    const chunks = await chunksOf(invocation)
    const client = await invocation.connect()
    const progress = output.progress('handed over')
    const job = await startDurableJob(
      client,
      { ...settings, action, chunks },
      { signal: host.asked, clock: host.clock, onProgress: (state) => progress.update(state.received, null) },
    )
      .finally(() => progress.end())
      .catch(async (error: unknown) => {
        await tellOfRest(invocation, client, settings.id)
        if (!host.asked.aborted) throw error
        return null
      })
    if (job === null) return EXIT.interrupted
    if (options.flag('detach')) {
      output.one(await client.getJob({ id: job.id }), ({ line }) => line(plain(job.id)))
      return undefined
    }
    if (output.isForPeople) output.note(`The job is ${plain(job.id)}.`)
    return watched(invocation, job.id)
  },
}

/** A job that has only some of its chunks waits for the others: its submitter has to know its id. */
async function tellOfRest({ output }: Invocation, client: Client, id: string): Promise<void> {
  const job = await client.getJob({ id }).catch(() => null)
  if (job === null || job.total !== null) return
  const first = job.status === 'stopped' ? `let it go on with reprise job retry ${plain(id)}, or resume, and then ` : ''
  output.note(
    `The job ${plain(id)} has ${job.received} chunks so far, and waits for the others. To go on, ${first}give all of them again with --id ${plain(id)}. To give it up: reprise job cancel ${plain(id)}`,
  )
}

function settingsOf(options: Options) {
  const labels = options.pairs('label')
  const onFailure = options.text('on-failure')
  const tolerate = options.text('tolerate')
  return {
    ...options.given('id', 'name', 'tenant', 'pool', 'final'),
    ...present({
      labels: Object.keys(labels).length === 0 ? undefined : { ...labels },
      concurrency: options.whole('concurrency', 1, COUNT_MAX),
      maxPerSecond: options.whole('rate', 1, COUNT_MAX),
      tolerate: tolerate === undefined ? undefined : /^\d+$/.test(tolerate) ? Number(tolerate) : tolerate,
      onFailure: onFailure as 'stop' | 'continue' | undefined,
    }),
  }
}

async function chunksOf({ host, options }: Invocation) {
  const range = options.text('range')
  const file = options.text('file')
  if ((range === undefined) === (file === undefined)) {
    throw usageError('Which chunks? Give either --range or --file.', 'reprise job run render.frame --range 0..240')
  }
  if (range !== undefined) return { range: rangeOf(range, options.whole('step', 1, Number.MAX_SAFE_INTEGER) ?? 1) }
  const { chunksFrom, chunksFromFile, formatOf } = await import('@reprise/jobs')
  const path = file ?? ''
  const format = (options.text('format') as ReturnType<typeof formatOf> | undefined) ?? formatOf(path)
  if (path !== '-') {
    // Before there is a job: nothing waits for chunks that can't come.
    await access(resolve(host.cwd, path), constants.R_OK).catch((error: unknown) => {
      throw usageError(`The file ${path} can't be read: ${messageOf(error)}`, undefined, error)
    })
    return chunksFromFile(resolve(host.cwd, path), format)
  }
  return chunksFrom(utf8Texts(host.stdin.bytes, 'Standard input'), format, 'standard input')
}

function rangeOf(text: string, step: number) {
  const [, from, to] = /^(-?\d{1,15})\.\.(-?\d{1,15})$/.exec(text) ?? []
  if (from !== undefined && to !== undefined) return { from: Number(from), to: Number(to), step }
  throw new InvalidError(`--range must be written as from..to, such as 0..240, not '${text.slice(0, 40)}'.`)
}
