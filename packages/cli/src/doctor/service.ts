// Checks of what tasks depend on: the server, if commands go to one, else the store itself; and whether anybody works.

import { existsSync } from 'node:fs'
import type { Client } from '@reprise/client'
import { formatDuration, isRepriseError, messageOf } from '@reprise/core'
import { z } from 'zod'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import { plain } from '../output/plain-text.ts'
import { connection } from '../session.ts'
import { VERSION } from '../version.ts'
import { type Check, type Finding, fail, ok, warn } from './finding.ts'

const ANSWER_MS = 5_000
const SKEW_MS_MAX = 5_000

const Info = z.object({
  version: z.string(),
  now: z.number(),
  engine: z.object({ durability: z.string().catch('unknown'), risk: z.string().optional().catch(undefined) }),
})

const Problem = z.object({ code: z.string(), detail: z.string() })
const Readiness = z.object({ status: z.string(), because: z.string().optional() })
const STORE_ADVICE = 'Is the store running, and does the host of the server reach it? The log of the server says more.'

/** What the server says to those who ask whether it is ready: anybody may ask, whatever happened to the store. */
export const readiness: Check = async ({ target }) => {
  if (target?.kind !== 'http') return []
  try {
    const response = await fetch(`${target.url}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const { data } = Readiness.safeParse(await response.json())
    if (data?.status === 'ready') return [ok('ready', `${target.url} is ready.`)]
    if (data?.because === undefined) return []
    return [fail('ready', `${target.url} is not ready: ${data.because}`, STORE_ADVICE)]
  } catch {
    // That it does not answer is what the check of the server says.
    return []
  }
}

export const server: Check = async ({ target, nowhereBecause, host }) => {
  if (target === null) {
    return [warn('server', nowhereBecause ?? 'No server runs here.', "Start one with 'reprise up', or give --url.")]
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
  const body: unknown = await response.json().catch(() => null)
  const problem = Problem.safeParse(body).data
  if (problem?.code.startsWith('REPRISE_STORE_') === true) {
    return [fail('server', `${url} answers, and its store does not: ${problem.detail}`, STORE_ADVICE)]
  }
  const { data: info } = Info.safeParse(body)
  if (response.status !== 200 || info === undefined) {
    return [fail('server', `${url} answers ${response.status}, not as a Reprise server would.`, 'Check the address.')]
  }
  return [
    ok('server', `${url} answers.`),
    durabilityFinding(info.engine),
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
  return messageOf(inner) === '' && inner instanceof Error && 'code' in inner ? String(inner.code) : messageOf(inner)
}

export const store: Check = async ({ target, resolved }) => {
  // The server has looked at its own store.
  if (target?.kind === 'http') return []
  const address = storeAddress(resolved)
  const shown = shownAddress(address)
  const file = /^sqlite:([^?]+)/.exec(address)?.[1]
  // Nobody named it: it is where the first server will make it.
  if (resolved.values.engine === null && file !== undefined && !existsSync(file)) {
    return [ok('store', `${shown} is not there yet; 'reprise up' creates it.`)]
  }
  const { connectEngine } = await import('@reprise/connect')
  try {
    const opened = await connectEngine(address, { create: false })
    const { engine } = opened
    try {
      await engine.counts()
      return [ok('store', `${shown} answers.`), durabilityFinding(await engine.durability())]
    } finally {
      await opened.close()
    }
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_STORE_MISSING')) {
      return [fail('store', messageOf(error), 'Correct the address, or start a role that creates the store.')]
    }
    return [fail('store', `${shown}: ${messageOf(error)}`, 'Is it running, and is its address right?')]
  }
}

/** Engines say in words what an acknowledged task survives. */
function durabilityFinding({ durability, risk }: z.output<typeof Info>['engine']): Finding {
  // A server that deletes tasks is refused at start, and may begin to later.
  if (risk !== undefined && /maxmemory-policy/.test(risk)) {
    return fail('durability', risk, 'Set it back now: tasks are deleted as soon as memory gets short.')
  }
  if (!/memory|snapshots only/i.test(durability)) return ok('durability', durability)
  return warn('durability', durability, 'Tasks can be lost. On Redis, switch the append-only file on: appendonly yes.')
}

/** Asks where commands go, once, for a check; what goes wrong there is told by the check before. */
async function asked<T>(
  check: string,
  { target, resolved }: Parameters<Check>[0],
  ask: (client: Client) => Promise<T>,
): Promise<T | readonly Finding[]> {
  if (target === null) return []
  try {
    const client = await connection(target, resolved)
    try {
      return await ask(client)
    } finally {
      await client.close()
    }
  } catch (error) {
    return [fail(check, `Nobody can tell: ${messageOf(error)}`, 'See the checks before this one.')]
  }
}

/** What `reprise status` says about the level, sentence by sentence; and who works. */
export const level: Check = async (circumstances) => {
  const found = await asked('level', circumstances, (client) => client.monitoring())
  if (!('level' in found)) return found
  const { workers: present, takingWork, gone, aware, unawareBy } = found.health
  const words = found.because.map(({ level: one, says }) =>
    (one === 'critical' ? fail : warn)('level', says, "'reprise status' shows more."),
  )
  const past = gone === 0 ? '' : ` ${gone} more ${gone === 1 ? 'is' : 'are'} gone.`
  const all = `${present} ${present === 1 ? 'worker' : 'workers'}`
  const who = takingWork === present ? `${all}.${past}` : `Of ${all}, ${takingWork} get work.${past}`
  return [
    ...(words.length === 0 ? [ok('level', 'Nothing needs attention.')] : words),
    present === 0
      ? warn('workers', `There is no worker: nothing runs.${past}`, "Start one with 'reprise worker <module>'.")
      : takingWork === 0
        ? warn('workers', who, "'reprise workers' says why.")
        : ok('workers', who),
    ...(aware
      ? []
      : [
          warn(
            'health',
            'Health-aware selection is off: workers get work whatever their health.',
            "Remove 'enabled: false' from health.thresholds, or from REPRISE_HEALTH_THRESHOLDS.",
          ),
        ]),
    ...(unawareBy.length === 0
      ? []
      : [
          ok(
            'health',
            `Policies switch health-aware selection off: ${unawareBy
              .slice(0, 10)
              .map((name) => plain(name))
              .join(', ')}.`,
          ),
        ]),
  ]
}
