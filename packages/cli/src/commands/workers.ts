// reprise workers: who works, how they are, and why; and how to have one finish.

import { formatDuration, type WorkerView } from '@reprise/core'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { lookedThrough, showList, unlessRefused } from '../command/rows.ts'
import { LIMIT, REASON, reasonOf, refuseBeside, unknownVerb, WATCH } from '../command/shared-options.ts'
import { statusStyle } from '../output/colours.ts'
import { usageError } from '../output/errors.ts'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { relativeTime } from '../output/times.ts'

export const workers: CommandDefinition = {
  path: ['workers'],
  group: 'Operate',
  summary: 'List workers, how they are and why',
  details:
    'Lists workers with their health and the reasons for it. An unhealthy one gets no new work, a degraded one gets it last. With the id of a worker: all about it. drain <id> has it finish what it runs and take nothing new, until it is started again.',
  arguments: [
    { name: '[worker]', about: 'One of them; or drain' },
    { name: '[id]', about: 'For drain: the worker' },
  ],
  options: [REASON, LIMIT, WATCH],
  examples: [
    { command: 'reprise workers', says: 'Who works?' },
    { command: 'reprise workers --watch', says: 'While something is going on' },
    { command: 'reprise workers w1', says: 'All about one' },
    { command: 'reprise workers drain w1', says: 'Before its machine is taken away' },
    { command: "reprise workers -o json | jq '.[].health.status'", says: 'For a program' },
  ],
  async run(invocation) {
    const [first, second] = invocation.arguments
    if (first === undefined) return listWorkers(invocation)
    refuseBeside(invocation, first, ['limit', 'watch'])
    if (first === 'drain' && second === undefined) {
      throw usageError(
        'Which worker? Nothing says so.',
        "'reprise workers' lists them; then 'reprise workers drain <id>'.",
      )
    }
    if (second === undefined) return showWorker(invocation, first)
    if (first !== 'drain') throw unknownVerb('workers', first, ['drain'])
    return drain(invocation, second)
  },
}

async function listWorkers(invocation: Invocation): Promise<undefined> {
  const client = await invocation.connect()
  await showList(invocation, {
    read: client.listWorkers,
    key: ({ worker }) => worker,
    columns,
    none: "There is no worker. Start one with 'reprise worker <module>'.",
  })
}

const columns = (now: number): readonly Column<WorkerView>[] => [
  { title: 'WORKER', value: ({ worker }) => worker },
  { title: 'HEALTH', value: ({ health }) => health.status, style: statusStyle },
  { title: 'RUNS', value: ({ inFlight, concurrency }) => runsText(inFlight, concurrency), right: true },
  { title: 'SEEN', value: ({ lastBeatAt }) => relativeTime(lastBeatAt, now) },
  { title: 'HOST', value: ({ host }) => host, flexible: true },
  { title: 'POOLS', value: ({ pools }) => pools.join(', '), flexible: true },
  { title: 'WHY', value: whyText, flexible: true },
]

const runsText = (inFlight: number, concurrency: number | undefined): string =>
  concurrency === undefined ? String(inFlight) : `${inFlight}/${concurrency}`

const whyText = ({ draining, health }: WorkerView): string =>
  [...(draining ? ['draining'] : []), ...health.reasons].join('; ')

async function showWorker(invocation: Invocation, id: string): Promise<undefined> {
  const client = await invocation.connect()
  const worker = await client.getWorker({ id })
  const { output } = invocation
  output.one(worker, (people) => tellOf(worker, output.now(), people))
}

function tellOf(worker: WorkerView, now: number, { line, fields, paint }: People): void {
  const { health } = worker
  line(`${paint('bold', plain(worker.worker))}  ${paint(statusStyle(health.status) ?? 'dim', health.status)}`)
  fields([
    ['why', whyText(worker)],
    ['runs', runsText(worker.inFlight, worker.concurrency)],
    ['queue', worker.queueDepth],
    ['last heartbeat', relativeTime(worker.lastBeatAt, now)],
    ['last progress', relativeTime(worker.lastProgressAt, now)],
    ['last failure', relativeTime(worker.lastFailureAt, now)],
    ['recent failures', `${worker.recentFailures} of ${worker.recentOutcomes}, ${worker.consecutiveFailures} in a row`],
    ['registered', relativeTime(worker.registeredAt, now)],
    ['host', worker.host],
    ['version', worker.version],
    ['runtimes', worker.runtimes.join(', ')],
    ['pools', worker.pools.join(', ')],
    ['actions', worker.actions === null ? 'all' : worker.actions.join(', ')],
    ['endpoint', worker.endpoint],
    ['loop lag', formatDuration(worker.loopLagMs)],
    ['memory', `${Math.round(worker.memoryBytes / 1_048_576)} MiB`],
  ])
}

async function drain(invocation: Invocation, id: string): Promise<undefined> {
  const { output } = invocation
  const client = await invocation.connect()
  const answer = await client.drainWorker({ id, ...reasonOf(invocation.options) })
  output.one(answer, ({ line }) =>
    line(
      answer.changed
        ? `Worker ${plain(id)} finishes what it runs and takes nothing new.`
        : `Worker ${plain(id)} was told so before.`,
    ),
  )
  // Those who may drain and not look are told nothing more: it is done in any case.
  const unserved = unservedWithout(id, (await unlessRefused(lookedThrough(client.listWorkers))) ?? [])
  if (unserved.length > 0) {
    const which = `${unserved.length === 1 ? 'pool' : 'pools'} ${unserved.map((pool) => `'${pool}'`).join(', ')}`
    output.note(`Nothing else serves the ${which} now. A drain is not taken back: start the worker again, or another.`)
  }
}

/** The pools of a worker that no other one takes work from. */
function unservedWithout(id: string, all: readonly WorkerView[]): readonly string[] {
  const takes = all.filter(
    ({ worker, draining, health }) => worker !== id && !draining && health.status !== 'unhealthy',
  )
  const served = new Set<string>(takes.flatMap(({ pools }) => pools))
  return (all.find(({ worker }) => worker === id)?.pools ?? []).filter((pool) => !served.has(pool))
}
