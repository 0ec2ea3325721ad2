// Active probes (C9): asks each worker that offers an endpoint whether it is well, and tells the store what it found. A
// worker that does not answer counts as degraded, then unhealthy, though its heartbeats may go on. Endpoints come from
// registrations; only plain http and https addresses are asked, no redirect is followed, and no answer is read.

import {
  check,
  type Engine,
  mapLimited,
  type ProbeReport,
  refuseNoEngine,
  type Service,
  type WorkerView,
} from '@reprise/core'
import { boundedCall } from './bounded-call.ts'
import { registrySnapshot } from './registry-snapshot.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

/** Asks an address. True for an answer of success. Ends when the signal fires. */
export type Ask = (url: string, signal: AbortSignal) => Promise<boolean>

export interface ProbeOptions extends ServiceOptions {
  readonly engine: Engine
  /** 10 s if not given. */
  readonly intervalMs?: number
  /** How long an answer may take; 2 s if not given. */
  readonly timeoutMs?: number
  /** Workers asked at once; 16 if not given. */
  readonly concurrency?: number
  readonly ask?: Ask
}

const INTERVAL_MS = 10_000
const TIMEOUT_MS = 2_000
const CONCURRENCY = 16

/** Those that an orchestrator passes on. */
export const PROBE_CHECKS = {
  intervalMs: check.ms,
  timeoutMs: check.ms,
  concurrency: check.whole(1),
  ask: check.func,
} as const
const CHECKS: check.Table<ProbeOptions> = { ...SERVICE_CHECKS, ...PROBE_CHECKS }

export function createProbe(options: ProbeOptions): Service {
  check.options(options, CHECKS, 'probe option')
  refuseNoEngine(options.engine, 'probed', 'createProbe')
  const around = surroundings('probe', options)
  const { intervalMs = INTERVAL_MS } = options
  return createLoop('probe', around, () => ({
    async round(signal) {
      await probeOnce({ ...options, ...around }, signal)
      return jitteredMs(intervalMs, around.random)
    },
  }))
}

/** Asks every worker that has an endpoint, once. */
export async function probeOnce(options: ProbeOptions, signal: AbortSignal): Promise<readonly ProbeReport[]> {
  const { engine, concurrency = CONCURRENCY } = options
  const { random } = surroundings('probe', options)
  const asked = (await registrySnapshot(engine)).filter(({ endpoint, draining }) => endpoint !== null && !draining)
  shuffle(asked, random.next.bind(random))
  const found = await mapLimited(asked, concurrency, async (view): Promise<readonly ProbeReport[]> => {
    const ok = !signal.aborted && (await answers(view, options, signal))
    // Cut short by a stop: that says nothing about the worker.
    return signal.aborted ? [] : [{ worker: view.worker, epoch: view.epoch, ok }]
  })
  const reports = found.flat()
  if (reports.length > 0) await engine.probed(reports)
  return reports
}

async function answers({ worker, endpoint }: WorkerView, options: ProbeOptions, stop: AbortSignal): Promise<boolean> {
  const { clock, log } = surroundings('probe', options)
  const url = addressOf(endpoint)
  if (url === null) {
    log.warn('The endpoint of a worker is no http or https address; it counts as unanswered.', { worker })
    return false
  }
  const { ask = askByHttp, timeoutMs: withinMs = TIMEOUT_MS } = options
  try {
    const answer = await boundedCall((signal) => ask(url, signal), { clock, withinMs, stop })
    return answer.kind === 'answered' && answer.value
  } catch (error) {
    log.debug('A probe was not answered.', { worker, error })
    return false
  }
}

function addressOf(endpoint: string | null): string | null {
  const url = URL.parse(endpoint ?? '')
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : null
}

const askByHttp: Ask = async (url, signal) => {
  const answer = await fetch(url, { signal, redirect: 'manual', headers: { 'user-agent': 'reprise-probe' } })
  // Whatever it says beside its status is not read.
  await answer.body?.cancel()
  return answer.ok
}

/** So that the same workers are not always the last ones asked. */
function shuffle<T>(items: T[], roll: () => number): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(roll() * (last + 1))
    const [a, b] = [items[last], items[other]]
    if (a === undefined || b === undefined) return
    items[last] = b
    items[other] = a
  }
}
