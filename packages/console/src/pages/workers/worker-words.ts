// How a worker is, in words: the state that its mark shows, and the evidence.

import type { OperationOutput } from '../../api/client.ts'
import { count, many } from '../../format.ts'

export type Worker = OperationOutput<'listWorkers'>['items'][number]

/** A worker that drains says so: it is well, and takes nothing. */
export type Standing = 'healthy' | 'degraded' | 'unhealthy' | 'draining' | 'gone'

export function standingOf({ alive, draining, health }: Worker): Standing {
  if (!alive) return 'gone'
  return draining && health.status === 'healthy' ? 'draining' : health.status
}

/** The look of each, in the shapes of the console. */
export const STANDING_LOOK = {
  healthy: 'succeeded',
  degraded: 'waiting',
  unhealthy: 'dead',
  draining: 'held',
  gone: 'lost',
} as const satisfies Record<Standing, string>

const ORDER: readonly Standing[] = ['gone', 'unhealthy', 'degraded', 'draining', 'healthy']

/** Those that need somebody first; then by name. */
export const byNeed = (one: Worker, other: Worker): number =>
  ORDER.indexOf(standingOf(one)) - ORDER.indexOf(standingOf(other)) || one.worker.localeCompare(other.worker)

/** Why it stands so; what it does if all is well. */
export function evidenceOf(worker: Worker): string {
  const { draining, health, inFlight, concurrency } = worker
  const reasons = [...(draining ? ['finishes what it runs and takes nothing new'] : []), ...health.reasons.map(String)]
  if (reasons.length > 0) return reasons.join('; ')
  if (inFlight === 0) return 'waits for work'
  return concurrency !== undefined && inFlight >= concurrency ? 'runs as much as it can' : 'runs and takes more'
}

export const runsOf = ({ inFlight, concurrency }: Worker): string =>
  concurrency === undefined ? count(inFlight) : `${count(inFlight)} of ${count(concurrency)}`

/** The answer of the page. */
export function fleetSentence(workers: readonly Worker[]): string {
  const versions = new Set(workers.map(({ version }) => version)).size
  const hosts = new Set(workers.map(({ host }) => host)).size
  const fleet = `${many(workers.length, 'worker')} of ${many(versions, 'version')} on ${many(hosts, 'host')}`
  const unwell = workers.filter((worker) => !['healthy', 'draining'].includes(standingOf(worker)))
  const [first] = unwell
  if (first === undefined) {
    const draining = workers.filter((worker) => standingOf(worker) === 'draining').length
    if (draining === 0) return `${fleet}: all healthy.`
    return draining === workers.length
      ? `${fleet}: ${draining === 1 ? 'it takes' : 'all take'} no new work.`
      : `${fleet}: all healthy, ${count(draining)} draining.`
  }
  if (unwell.length === 1) return `${fleet}: ${first.worker} is ${standingWord(first)}, ${evidenceOf(first)}.`
  return `${fleet}: ${count(unwell.length)} are not healthy.`
}

const standingWord = (worker: Worker): string => {
  const standing = standingOf(worker)
  return standing === 'gone' ? 'silent' : standing
}

/** The pools that nobody else takes work from. */
export function onlyServedBy({ worker: id, pools }: Worker, all: readonly Worker[]): readonly string[] {
  const takes = all.filter((other) => other.worker !== id && ['healthy', 'degraded'].includes(standingOf(other)))
  const served = new Set<string>(takes.filter(({ draining }) => !draining).flatMap((other) => other.pools))
  return pools.filter((pool) => !served.has(pool))
}
