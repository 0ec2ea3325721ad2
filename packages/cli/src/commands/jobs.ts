// reprise job list, show, watch, resume, retry and cancel: jobs made of chunks, how far they have come, and what operators do.

import type { OperationOutput } from '@reprise/client'
import { formatDuration, JOB_STATUSES, present, sleep } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { showList } from '../command/rows.ts'
import { LIMIT, REASON, reasonOf, WATCH } from '../command/shared-options.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { plain } from '../output/plain-text.ts'
import { relativeTime } from '../output/times.ts'

type Job = OperationOutput<'getJob'>

const JOB = { name: '<job>', about: 'Its id' } as const
const LOOK_EVERY_MS = 500
const AT_REST: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'stopped'])

const percent = ({ fraction }: Job): string => (fraction === null ? '' : `${Math.floor(fraction * 100)}%`)
const leftOf = ({ leftMs }: Job): string => (leftMs === null ? '' : formatDuration(Math.ceil(leftMs / 1_000) * 1_000))

export const jobList: CommandDefinition = {
  path: ['job', 'list'],
  group: 'Tasks',
  summary: 'List jobs made of chunks',
  details: 'Lists durable jobs, oldest first: their status, how many chunks have ended, and how long they will take.',
  options: [
    {
      flags: '--status <status>',
      about: 'Only those with this status; live are those that have not ended',
      choices: ['live', ...JOB_STATUSES],
    },
    { flags: '--tenant <tenant>', about: 'Only of this tenant' },
    LIMIT,
    WATCH,
  ],
  examples: [
    ['reprise job list --status live', 'What is under way?'],
    ['reprise job list --status stopped', 'Which wait for an operator?'],
  ],
  endsWhenAsked: true,
  run: (invocation) =>
    showList(invocation, {
      read: (page) =>
        invocation.api.listJobs({
          ...page,
          ...invocation.options.given('tenant'),
          ...present({ status: invocation.options.text('status') as Job['status'] | 'live' | undefined }),
        }),
      key: ({ id }) => id,
      columns: (now) => [
        { title: 'JOB', value: ({ id }) => id },
        { title: 'NAME', value: ({ name }) => name, flexible: true },
        { title: 'STATUS', value: ({ status }) => status },
        { title: 'DONE', value: percent, right: true },
        { title: 'SUCCEEDED', value: ({ succeeded }) => succeeded, right: true },
        { title: 'FAILED', value: ({ failed }) => failed, right: true },
        { title: 'CHUNKS', value: ({ total }) => total ?? '?', right: true },
        { title: 'LEFT', value: leftOf, right: true },
        { title: 'STARTED', value: ({ startedAt }) => relativeTime(startedAt, now) },
      ],
      none: invocation.options.isGiven('status') ? 'There are no such jobs.' : 'There are no jobs.',
    }),
}

export const jobShow: CommandDefinition = {
  path: ['job', 'show'],
  group: 'Tasks',
  summary: 'Show a job, or its chunks',
  details:
    'Shows how far a job has come and what was done to it. With --failed it lists the chunks that failed, with --results all chunks in their order with their results.',
  arguments: [JOB],
  options: [
    { flags: '--failed', about: 'List the chunks that failed' },
    { flags: '--results', about: 'List all chunks with their results' },
    LIMIT,
  ],
  examples: [
    ['reprise job show render-17', 'How far is it?'],
    ['reprise job show render-17 --failed', 'Which chunks failed, and why?'],
    ['reprise job show render-17 --results -n 100000 -o jsonl > results.ndjson', 'The results in order'],
  ],
  async run(invocation) {
    const { api, options, output } = invocation
    const [id = ''] = invocation.arguments
    if (options.flag('failed') || options.flag('results')) return chunks(invocation, id)
    const job = await api.getJob({ id })
    output.one(job, ({ line }) => {
      line(
        `${plain(job.id)}  ${plain(job.name)}  ${job.status}${job.because === null ? '' : `: ${plain(job.because)}`}`,
      )
      line(summaryOf(job))
      if (job.final !== null) line(`final step: ${plain(job.final)}, task ${plain(job.finalTask ?? '')}`)
      for (const { at, actor, what, reason } of job.changes) {
        line(`  ${relativeTime(at, output.now())}  ${plain(what)} by ${plain(actor)}: ${plain(reason)}`)
      }
    })
    return undefined
  },
}

function summaryOf(job: Job): string {
  const { status, succeeded, failed, open, total, perSecond } = job
  const otherwise = status === 'cancelled' || status === 'cancelling' ? 'cancelled or failed' : 'failed'
  const left = leftOf(job)
  const speed = perSecond > 0 ? `, ${perSecond.toFixed(1)} per second${left === '' ? '' : `, ${left} left`}` : ''
  return `${succeeded} succeeded, ${failed} ${otherwise}, ${open} open, of ${total ?? 'more than are known'} chunks${speed}`
}

async function chunks(invocation: Invocation, id: string): Promise<undefined> {
  const { api, options } = invocation
  const status = options.flag('failed') ? ({ status: 'failed' } as const) : {}
  return showList(invocation, {
    read: (page) => api.listJobChunks({ id, ...page, ...status }),
    key: ({ taskId }) => taskId,
    columns: () => [
      { title: 'CHUNK', value: ({ place }) => place, right: true },
      { title: 'STATUS', value: (chunk) => chunk.status },
      { title: 'TASK', value: ({ taskId }) => taskId },
      {
        title: 'RESULT',
        value: ({ failure, result }) => failure?.message ?? (result === undefined ? '' : JSON.stringify(result)),
        flexible: true,
      },
    ],
    none: options.flag('failed') ? 'No chunk has failed.' : 'It has no chunks yet.',
  })
}

export const jobWatch: CommandDefinition = {
  path: ['job', 'watch'],
  group: 'Tasks',
  summary: 'Follow a job to its end',
  details:
    'Follows a job until it has ended or stopped: with a bar on a terminal, with one line of JSON for each change with -o jsonl. The exit code says how it ended: 0 succeeded, 6 did not.',
  arguments: [JOB],
  examples: [
    ['reprise job watch render-17', 'Until it is done'],
    ['reprise job watch render-17 -o jsonl', 'For a program'],
  ],
  endsWhenAsked: true,
  run: (invocation) => watched(invocation, invocation.arguments[0] ?? ''),
}

/** Until the job has ended or stopped, or somebody asks the command to end. */
export async function watched(invocation: Invocation, id: string): Promise<ExitCode> {
  const { api, host, output } = invocation
  const progress = output.progress('chunks')
  let before = ''
  try {
    while (!host.asked.aborted) {
      const job = await api.getJob({ id })
      progress.update(job.succeeded + job.failed, job.total, noteOf(job))
      const text = JSON.stringify(job)
      if (output.format === 'jsonl' && text !== before) output.event(job, () => undefined)
      before = text
      if (AT_REST.has(job.status)) {
        progress.end()
        return ended(invocation, job)
      }
      await sleep(host.clock, LOOK_EVERY_MS, host.asked, { hold: true })
    }
  } finally {
    progress.end()
  }
  output.note(`The job goes on. To follow it again: reprise job watch ${plain(id)}`)
  return EXIT.interrupted
}

function noteOf(job: Job): string {
  const left = leftOf(job)
  return [job.failed === 0 ? '' : `${job.failed} failed`, left === '' ? '' : `${left} left`]
    .filter((text) => text !== '')
    .join(', ')
}

function ended({ output }: Invocation, job: Job): ExitCode {
  if (output.format !== 'jsonl') {
    output.one(job, ({ line }) => {
      const because = job.because === null ? '' : ` ${plain(job.because)}`
      line(`The job ${plain(job.id)} ${job.status === 'stopped' ? 'has stopped' : `has ${outcomeOf(job)}`}.${because}`)
      line(summaryOf(job))
    })
  }
  if (job.status === 'succeeded') return EXIT.ok
  if (job.failed > 0) output.note(`reprise job show ${plain(job.id)} --failed lists the failed chunks.`)
  return EXIT.taskFailed
}

const outcomeOf = ({ status }: Job): string => (status === 'cancelled' ? 'been cancelled' : status)

/** A command that changes one job. */
function act(
  verb: 'resume' | 'retry' | 'cancel',
  summary: string,
  details: string,
  example: string,
): CommandDefinition {
  return {
    path: ['job', verb],
    group: 'Tasks',
    summary,
    details,
    arguments: [JOB],
    options: [REASON],
    examples: [[`reprise job ${verb} render-17`, example]],
    async run({ api, options, output, arguments: [id = ''] }) {
      const call = { resume: api.resumeJob, retry: api.retryJob, cancel: api.cancelJob }[verb]
      const job = await call({ id, ...reasonOf(options) })
      output.one(job, ({ line }) => line(`The job ${plain(job.id)} is ${job.status}.`))
      return undefined
    },
  }
}

export const jobResume = act(
  'resume',
  'Let a job go on that stopped or failed',
  'The job goes on with the chunks that are left. The failures so far are accepted: they stop it no more.',
  'Without the chunks that failed',
)
export const jobRetry = act(
  'retry',
  'Run the failed chunks of a job again',
  'Redrives the failed chunks of the job, and only these; then the job goes on.',
  'After the cause is mended',
)
export const jobCancel = act(
  'cancel',
  'Cancel a job and its open chunks',
  'Hands in no more chunks and cancels those that have not ended. Chunks that have ended stay as they are.',
  'It is not needed any more',
)
