// Everything in one process: the API, the services that move tasks, and a worker if there are actions to run. For a start, and
// for those who need no more than one machine. Leaves word of itself for the command line, while it runs.

import { join } from 'node:path'
import { type Clock, type Engine, isRepriseError } from '@reprise/core'
import type { Server } from '@reprise/server'
import type { Resolved } from '../configuration/resolve.ts'
import { shownAddress, storeAddress } from '../configuration/store-address.ts'
import { lockFolder } from '../folder-lock.ts'
import type { Host } from '../host.ts'
import { removeLocalServer, runningServer, writeLocalServer } from '../local-server.ts'
import { CommandError } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import { unlessAskedToEnd } from './asked-to-end.ts'
import { type RunningCore, startCore, wayIn } from './core.ts'
import { makeLocalToken, RENEW_AFTER_MS } from './local-token.ts'
import { startOrchestrator } from './orchestrator.ts'
import { openRoleContext, type RoleContext, refuseDamage } from './role-context.ts'
import { startWorker } from './worker.ts'
import { loadActions } from './worker-module.ts'

/** Comes back when it has stopped. */
export async function runUp(
  { modules, isDemo }: UpOptions,
  given: Resolved,
  host: Host,
  output: Output,
): Promise<void> {
  const resolved = isDemo ? forDemo(given, host) : given
  await refuseSecond(resolved.values.data)
  const lock = await lockFolder(resolved.values.data)
  try {
    await runLocked({ modules, isDemo }, resolved, host, output)
  } finally {
    lock.release()
  }
}

async function runLocked(
  { modules, isDemo }: UpOptions,
  resolved: Resolved,
  host: Host,
  output: Output,
): Promise<void> {
  const demo = isDemo ? await import('../demo/demo.ts') : null
  const actions = [...(await loadActions(modules, host)), ...(demo?.demoActions(host.clock) ?? [])]
  const context = await openRoleContext(resolved, host, 'up')
  const { log } = context
  try {
    const core = await unlessAskedToEnd(host, startCore(context), (late) => late.stop())
    const orchestrator = await startOrchestrator(context, core.server.url())
    const worker =
      actions.length === 0 ? null : await startWorker(context, actions, { endpoint: null, sweep: false, modules })
    const stream = demo === null ? null : await demo.startDemoStream(context)
    const word = await leaveWord(context, core)
    tell(output, {
      url: core.server.url(),
      link: await core.server.access.firstLink(),
      resolved,
      isDemo,
      toTry: word === null ? [] : commandsToTry(resolved, isDemo, actions[0]?.name ?? null),
    })
    await context.untilEnd()
    log.info('Everything stops.', host.asked.aborted ? { signal: String(host.asked.reason) } : {})
    await leave(context, word?.takeBack())
    await leave(context, stream?.stop())
    await worker?.stop({ signal: host.urged })
    await leave(context, core.stop())
    await leave(context, orchestrator.stop())
  } finally {
    await context.close()
  }
  refuseDamage(context)
  log.info('Everything has stopped.')
}

/** A store that takes nothing more keeps no part from stopping. */
async function leave(context: RoleContext, stopping: Promise<void> | undefined): Promise<void> {
  await stopping?.catch((error: unknown) => {
    if (context.damage() === null) throw error
  })
}

export interface UpOptions {
  /** Files that export actions to run here as well. */
  readonly modules: readonly string[]
  /** With sample actions, and a small stream of tasks for them. */
  readonly isDemo: boolean
}

/** It would take the place of the one that runs: its word for the command line, and the token in it. */
async function refuseSecond(data: string): Promise<void> {
  const running = await runningServer(data)
  if (running === null) return
  throw new CommandError(`Another server runs on this data already, at ${running.url}.`, {
    hint: 'Use that one, stop it first, or give this one a folder of its own with --data.',
  })
}

/**
 * A store of its own, unless one is named; and what it leaves there is not kept for ever, unless somebody says what is. At a
 * terminal its failures are not logged: they would push the first lines, with the commands to try, out of sight.
 */
function forDemo(resolved: Resolved, { stderr }: Host): Resolved {
  const { values, origins } = resolved
  const engine = values.engine ?? `sqlite:${join(values.data, 'demo.db')}`
  const retention = origins.retention.kind === 'default' ? { succeeded: '1h', journal: '6h' } : values.retention
  const isQuiet = stderr.isTTY === true && origins.logLevel.kind === 'default'
  return { ...resolved, values: { ...values, engine, retention, logLevel: isQuiet ? 'error' : values.logLevel } }
}

/** Such as work here, in this folder. */
function commandsToTry({ values, origins }: Resolved, isDemo: boolean, action: string | null): readonly string[] {
  const data = origins.data.kind === 'default' ? '' : ` --data ${values.data}`
  if (isDemo)
    return ['status', 'list status:dead', 'submit hello \'{"name":"Ann"}\' --wait'].map((words) => words + data)
  const submit = action === null ? 'submit --help' : `submit ${action} '{}' --wait${data}`
  return [submit, `list${data}`, `doctor${data}`]
}

const RETENTION_ADVICE =
  'Tasks that have ended are kept for ever. To delete old ones, put into reprise.yaml: retention: { succeeded: 7d, journal: 30d }'

interface Told {
  readonly url: string
  readonly link: string | null
  readonly resolved: Resolved
  readonly isDemo: boolean
  /** None if commands in this folder would not find it. */
  readonly toTry: readonly string[]
}

function tell(output: Output, { url, link, resolved, isDemo, toTry }: Told): void {
  const store = shownAddress(storeAddress(resolved))
  const from = resolved.values.engine === null || isDemo ? null : resolved.origins.engine.text
  output.one({ url, link, store, storeFrom: from }, ({ line, paint }) => {
    line(`Reprise runs at ${paint('bold', url)}.`)
    line(`Tasks are kept in ${store}${from === null ? '' : ` (by ${from})`}.`)
    line(wayIn(link, resolved))
    if (!isDemo && resolved.origins.retention.kind === 'default') line(RETENTION_ADVICE)
    if (toTry.length === 0) return
    line()
    line('Try, in this folder:')
    for (const words of toTry) line(`  npx reprise ${words}`)
    if (isDemo) {
      line()
      line(
        'A few sample tasks come in each second. Some fail: they are retried, parked by a breaker, or end as dead letters.',
      )
      if (resolved.values.logLevel === 'error')
        line('To see each failure: npx reprise watch, or --log-level info here.')
      line('Ctrl-C ends it in order. Without the demo: --no-demo.')
    }
  })
}

/** Does something again and again, one after the other, until it is stopped. */
function every(clock: Clock, ms: number, step: () => Promise<void>): { stop(): Promise<void> } {
  let under: Promise<void> = Promise.resolve()
  let timer = clock.after(ms, tick)
  let isOver = false
  function tick(): void {
    under = step().then(() => {
      if (!isOver) timer = clock.after(ms, tick)
    })
  }
  return {
    stop: async () => {
      isOver = true
      timer.cancel()
      await under
    },
  }
}

/** The word of a running server, as it stands in the data folder. */
interface Word {
  takeBack(): Promise<void>
}

/** The address as this machine reaches it, and a token for the command line; null if it is not on this machine's loopback. */
async function leaveWord(context: RoleContext, { server }: RunningCore): Promise<Word | null> {
  const { values } = context.resolved
  const reachable = ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'].includes(values.host)
  const port = values.publicUrl === null ? new URL(server.url()).port : String(values.port)
  if (!reachable || port === '0') return null
  const host = values.host === '::1' ? '[::1]' : '127.0.0.1'
  const made = await makeLocalToken(context.engine, values.data)
  const url = `http://${host}:${port}`
  const mended = await writeLocalServer(values.data, { url, token: made.token })
  if (mended !== null) context.log.warn(mended)
  const { clock } = context.host
  let renewedAt = clock.monotonic()
  const look = every(clock, TOKEN_LOOK_MS, async () => {
    try {
      const isDue = clock.monotonic() - renewedAt >= RENEW_AFTER_MS
      if (!isDue && !(await isLostWithStore(context.engine, server, made.token))) return
      await writeLocalServer(values.data, { url, token: await made.renew() })
      renewedAt = clock.monotonic()
    } catch (error) {
      const because = error instanceof Error ? error.message : String(error)
      context.log.warn('The token for the command line could not be renewed.', { error: because })
    }
  })
  return {
    async takeBack() {
      await look.stop()
      await removeLocalServer(values.data, { url, token: made.token })
      // Whatever became of its copies, it ends with its server.
      await made.revoke()
    },
  }
}

/** How often the token for the command line is looked after. */
const TOKEN_LOOK_MS = 5_000

/** A store that lost writes may have lost the token too, and then no command could tell of that. One that somebody revoked stays so. */
async function isLostWithStore(engine: Engine, { access }: Server, token: string): Promise<boolean> {
  const isRefused = await access.tokens.verify(token).then(
    () => false,
    (error: unknown) => isRepriseError(error, 'REPRISE_UNAUTHENTICATED'),
  )
  return isRefused && (await engine.setbacks()).length > 0
}
