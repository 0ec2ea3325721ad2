// Checks of what tasks depend on: the server, if commands go to one, else the store itself; and whether anybody works.

import { existsSync } from 'node:fs'
import { formatDuration, type WorkerView } from '@reprise/core'
import { z } from 'zod'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import { connection } from '../session.ts'
import { VERSION } from '../version.ts'
import { type Check, type Finding, fail, ok, reason, warn } from './finding.ts'

const ANSWER_MS = 5_000
const SKEW_MS_MAX = 5_000

const Info = z.object({
  version: z.string(),
  now: z.number(),
  engine: z.object({ durability: z.string().catch('unknown') }),
})

export const server: Check = async ({ target, host }) => {
  if (target === null) {
    return [
      warn('server', 'No server runs here, and none is configured.', "Start one with 'reprise up', or give --url."),
    ]
  }
  if (target.kind === 'engine') return []
  const { url, token } = target
  const askedAt = host.clock.now()
  let response: Response
  try {
    response = await fetch(`${url}/api/v1/info`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    })
  } catch (error) {
    return [
      fail('server', `${url} does not answer: ${causeOf(error)}.`, 'Is it running, and can it be reached from here?'),
    ]
  }
  if (response.status === 401 || response.status === 403) {
    const advice = 'Give a token that it knows: --token, REPRISE_TOKEN or REPRISE_TOKEN_FILE.'
    return [fail('server', `${url} answers, and does not know who asks (${response.status}).`, advice)]
  }
  const { data: info } = Info.safeParse(await response.json().catch(() => null))
  if (response.status !== 200 || info === undefined) {
    return [fail('server', `${url} answers ${response.status}, not as a Reprise server would.`, 'Check the address.')]
  }
  return [
    ok('server', `${url} answers.`),
    durabilityFinding(info.engine.durability),
    ...versionAndClock(info, askedAt, host.clock.now()),
  ]
}

function versionAndClock(info: z.output<typeof Info>, askedAt: number, answeredAt: number): Finding[] {
  const skewMs = Math.round(info.now - (askedAt + answeredAt) / 2)
  const apart = formatDuration(Math.abs(skewMs))
  return [
    info.version === VERSION
      ? ok('version', `Server and command line are ${VERSION}.`)
      : warn('version', `The server is ${info.version}, this is ${VERSION}.`, 'Use the same version on both sides.'),
    Math.abs(skewMs) <= SKEW_MS_MAX
      ? ok('clock', `The clocks are ${apart} apart.`)
      : warn('clock', `The clock of the server is ${apart} ${skewMs > 0 ? 'ahead' : 'behind'}.`, 'Set both by NTP.'),
  ]
}

/** What fetch throws says only that it failed; why stands in its cause. */
function causeOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return reason(inner) === '' && inner instanceof Error && 'code' in inner ? String(inner.code) : reason(inner)
}

export const store: Check = async ({ target, resolved }) => {
  // The server has looked at its own store.
  if (target?.kind === 'http') return []
  const address = storeAddress(resolved)
  const shown = shownAddress(address)
  const file = /^sqlite:([^?]+)/.exec(address)?.[1]
  if (file !== undefined && file !== ':memory:' && !existsSync(file)) {
    return [ok('store', `${shown} is not there yet; the first to open it makes it.`)]
  }
  const { connectEngine } = await import('@reprise/connect')
  try {
    const opened = await connectEngine(address)
    const { engine } = opened
    try {
      await engine.counts()
      return [ok('store', `${shown} answers.`), durabilityFinding(engine.info.durability)]
    } finally {
      await opened.close()
    }
  } catch (error) {
    return [fail('store', `${shown}: ${reason(error)}`, 'Is it running, and is its address right?')]
  }
}

/** Engines say in words what an acknowledged task survives. */
function durabilityFinding(durability: string): Finding {
  if (!/memory|snapshots only/i.test(durability)) return ok('durability', durability)
  return warn('durability', durability, 'Tasks can be lost. On Redis, switch the append-only file on: appendonly yes.')
}

const WORKERS_SHOWN_MAX = 1_000

export const workers: Check = async ({ target, resolved }) => {
  if (target === null) return []
  let found: readonly WorkerView[]
  try {
    const client = await connection(target, resolved)
    try {
      found = (await client.listWorkers({ limit: WORKERS_SHOWN_MAX })).items
    } finally {
      await client.close()
    }
  } catch (error) {
    return [fail('workers', `Nobody can say how many there are: ${reason(error)}`, 'See the check before this one.')]
  }
  const unwell = found.filter(({ health }) => health.status === 'unhealthy').length
  if (found.length === 0) {
    return [warn('workers', 'There is no worker: tasks wait.', "Start one with 'reprise worker <module>'.")]
  }
  if (unwell > 0) {
    const says = `${unwell} of ${found.length} workers are unhealthy and get nothing.`
    return [warn('workers', says, "'reprise workers' says why.")]
  }
  return [ok('workers', `${found.length} ${found.length === 1 ? 'worker' : 'workers'}.`)]
}
