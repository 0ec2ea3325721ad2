// reprise workers: who works, how they are, and why; and how to have one finish.

import { type DepartedWorker, formatDuration, type WorkerView } from '@reprise/core'
import type { OperationOutput } from '@reprise/operations'
import type { CommandDefinition } from '../command/definition.ts'
import type { Invocation } from '../command/invocation.ts'
import { lookedThrough, showList, unlessRefused } from '../command/rows.ts'
import { LIMIT, REASON, reasonOf, refuseOfList, verbOf, WATCH } from '../command/shared-options.ts'
import { statusStyle } from '../output/colours.ts'
import { usageError } from '../output/errors.ts'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { relativeTime } from '../output/times.ts'

export const workers: CommandDefinition = {
  path: ['workers'],
  group: 'Operate',
  summary: 'List workers with their health and its reasons',
  details:
    'Lists workers with their health and the reasons for it. An unhealthy worker gets no new work, a degraded one gets little. With the id of a worker: all about it. drain <id> lets the worker finish what it runs; it takes nothing new until it is started again. --left lists the workers that left in the last day and did not come back.',
  arguments: [
    { name: '[worker]', about: 'One of them; or drain' },
    { name: '[id]', about: 'For drain: the worker' },
  ],
  options: [{ flags: '--left', about: 'Those that left in the last day instead' }, REASON, LIMIT, WATCH],
  examples: [
    ['reprise workers', 'Who works?'],
    ['reprise workers --watch', 'While something is going on'],
    ['reprise workers --left', 'Who worked here earlier today, and with which version?'],
    ['reprise workers w1', 'All about one'],
    ['reprise workers drain w1', 'Before its machine is taken away'],
    ["reprise workers -o json | jq '.[].health.status'", 'For a program'],
  ],
  async run(invocation) {
    const [first, second] = invocation.arguments
    if (first === undefined) return invocation.options.flag('left') ? listDeparted(invocation) : listWorkers(invocation)
    refuseOfList(invocation, first)
    if (first === 'drain' && second === undefined) {
      throw usageError(
        'Which worker? Nothing says so.',
        "'reprise workers' lists them; then 'reprise workers drain <id>'.",
      )
    }
    if (second === undefined) return showWorker(invocation, first)
    return verbOf('workers', first, { drain })(invocation, second)
  },
}

async function listWorkers(invocation: Invocation): Promise<undefined> {
  return showList(invocation, {
    read: invocation.api.listWorkers,
    key: ({ worker }) => worker,
    columns,
    none: "There is no worker. Start one with 'reprise worker <module>'; 'reprise workers --left' lists those that left.",
  })
}

async function listDeparted(invocation: Invocation): Promise<undefined> {
  return showList(invocation, {
    read: invocation.api.listDepartedWorkers,
    key: ({ worker, epoch }) => `${worker} ${epoch}`,
    columns: departedColumns,
    none: 'No worker left in the last day.',
  })
}

const departedColumns = (now: number): readonly Column<DepartedWorker>[] => [
  { title: 'WORKER', value: ({ worker }) => worker },
  { title: 'LEFT', value: ({ leftAt }) => relativeTime(leftAt, now) },
  { title: 'JOINED', value: ({ registeredAt }) => relativeTime(registeredAt, now) },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'HOST', value: ({ host }) => host, flexible: true },
  { title: 'POOLS', value: ({ pools }) => pools.join(', '), flexible: true },
]

const columns = (now: number): readonly Column<WorkerView>[] => [
  { title: 'WORKER', value: ({ worker }) => worker },
  { title: 'HEALTH', value: ({ health }) => health.status, style: statusStyle },
  { title: 'RUNS', value: ({ inFlight, concurrency }) => runsText(inFlight, concurrency), right: true },
  { title: 'QUEUE', value: ({ queueDepth }) => String(queueDepth), right: true },
  { title: 'SEEN', value: ({ lastBeatAt }) => relativeTime(lastBeatAt, now) },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'HOST', value: ({ host }) => host, flexible: true },
  { title: 'POOLS', value: ({ pools }) => pools.join(', '), flexible: true },
  { title: 'WHY', value: whyText, flexible: true },
]

const runsText = (inFlight: number, concurrency: number | undefined): string =>
  concurrency === undefined ? String(inFlight) : `${inFlight}/${concurrency}`

const whyText = ({ draining, health }: WorkerView): string =>
  [...(draining ? ['draining'] : []), ...health.reasons].join('; ')

async function showWorker({ api, output }: Invocation, id: string): Promise<undefined> {
  const worker = await api.getWorker({ id })
  output.one(worker, (people) => tellOf(worker, output.now(), people))
}

function tellOf(worker: OperationOutput<'getWorker'>, now: number, { line, fields, paint }: People): void {
  const { health } = worker
  line(`${paint('bold', plain(worker.worker))}  ${paint(statusStyle(health.status) ?? 'dim', health.status)}`)
  fields([
    ['why', whyText(worker)],
    ['runs', runsText(worker.inFlight, worker.concurrency)],
    ['queue', worker.queueDepth],
    ['alive', worker.alive ? 'yes' : 'no'],
    ['last heartbeat', relativeTime(worker.lastBeatAt, now)],
    ['last health check', relativeTime(worker.lastHealthCheckAt, now)],
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
    ['policies', policiesText(worker.policyVersion)],
    ['loop lag', formatDuration(worker.loopLagMs)],
    ['memory', `${Math.round(worker.memoryBytes / 1_048_576)} MiB`],
  ])
}

function policiesText(version: number | null): string {
  if (version === null) return "the server's"
  return version === 0 ? 'none' : `version ${version}`
}

async function drain({ api, options, output }: Invocation, id: string): Promise<undefined> {
  const answer = await api.drainWorker({ id, ...reasonOf(options) })
  output.one(answer, ({ line }) =>
    line(
      answer.changed
        ? `Worker ${plain(id)} finishes what it runs and takes nothing new.`
        : `Worker ${plain(id)} was told so before.`,
    ),
  )
  // Those who may drain and not look are told nothing more: it is done in any case.
  const unserved = unservedWithout(id, (await unlessRefused(lookedThrough(api.listWorkers))) ?? [])
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
