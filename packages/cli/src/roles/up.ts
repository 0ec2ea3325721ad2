// Everything in one process: the API, the services that move tasks, and a worker if there are actions to run. For a start, and
// for those who need no more than one machine. Leaves word of itself for the command line, while it runs.

import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Resolved } from '../configuration/resolve.ts'
import type { Host } from '../host.ts'
import { type LocalServer, removeLocalServer, runningServer, writeLocalServer } from '../local-server.ts'
import { CommandError } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import { unlessAskedToEnd, untilAskedToEnd } from './asked-to-end.ts'
import { type RunningCore, startCore } from './core.ts'
import { startOrchestrator } from './orchestrator.ts'
import { openRoleContext, type RoleContext } from './role-context.ts'
import { startWorker } from './worker.ts'
import { loadActions } from './worker-module.ts'

/** Comes back when it has stopped. */
export async function runUp(
  { modules, isDemo }: UpOptions,
  given: Resolved,
  host: Host,
  output: Output,
): Promise<void> {
  const resolved = isDemo ? forDemo(given) : given
  const demo = isDemo ? await import('../demo/demo.ts') : null
  await refuseSecond(resolved.values.data)
  const actions = [...(await loadActions(modules, host)), ...(demo?.demoActions(host.clock) ?? [])]
  const context = await openRoleContext(resolved, host, 'up')
  const { log } = context
  try {
    const core = await unlessAskedToEnd(host, startCore(context), (late) => late.stop())
    const orchestrator = await startOrchestrator(context)
    const worker = actions.length === 0 ? null : await startWorker(context, actions, { endpoint: null, sweep: false })
    const stream = demo === null ? null : await demo.startDemoStream(context)
    const local = await leaveWord(context, core)
    tell(output, {
      url: core.server.url(),
      link: await core.server.access.firstLink(),
      isDemo,
      toTry: local === null ? [] : commandsToTry(resolved, isDemo, actions[0]?.name ?? null),
    })
    await untilAskedToEnd(host)
    log.info('Everything stops.', { signal: String(host.asked.reason) })
    if (local !== null) await removeLocalServer(resolved.values.data, local)
    await stream?.stop()
    await worker?.stop({ signal: host.urged })
    await core.stop()
    await orchestrator.stop()
  } finally {
    await context.close()
  }
  log.info('Everything has stopped.')
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

/** A store of its own, unless one is named; and what it leaves there is not kept for ever, unless somebody says what is. */
function forDemo(resolved: Resolved): Resolved {
  const { values, origins } = resolved
  const engine = values.engine ?? `sqlite:${join(values.data, 'demo.db')}`
  const retention = origins.retention.kind === 'default' ? { succeeded: '1h', journal: '6h' } : values.retention
  return { ...resolved, values: { ...values, engine, retention } }
}

/** Such as work here, in this folder. */
function commandsToTry({ values, origins }: Resolved, isDemo: boolean, action: string | null): readonly string[] {
  const data = origins.data.kind === 'default' ? '' : ` --data ${values.data}`
  if (isDemo)
    return ['status', 'list status:dead', 'submit hello \'{"name":"Ann"}\' --wait'].map((words) => words + data)
  const submit = action === null ? 'submit --help' : `submit ${action} '{}' --wait${data}`
  return [submit, `list${data}`, `doctor${data}`]
}

interface Told {
  readonly url: string
  readonly link: string | null
  readonly isDemo: boolean
  /** None if commands in this folder would not find it. */
  readonly toTry: readonly string[]
}

function tell(output: Output, { url, link, isDemo, toTry }: Told): void {
  output.one({ url, link }, ({ line, paint }) => {
    line(`Reprise runs at ${paint('bold', url)}.`)
    if (link !== null) line(`Sign in, once, within 15 minutes: ${link}`)
    if (toTry.length === 0) return
    line()
    line('Try, in this folder:')
    for (const words of toTry) line(`  npx reprise ${words}`)
    if (isDemo) {
      line()
      line(
        'A few sample tasks come in each second. Some fail: they are retried, parked by a breaker, or end as dead letters.',
      )
      line('Ctrl-C ends it in order. Without the demo: --no-demo.')
    }
  })
}

/** The address as this machine reaches it, and a token for the command line; null if it is not on this machine's loopback. */
async function leaveWord(context: RoleContext, { server }: RunningCore): Promise<LocalServer | null> {
  const { values } = context.resolved
  const reachable = ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'].includes(values.host)
  const port = values.publicUrl === null ? new URL(server.url()).port : String(values.port)
  if (!reachable || port === '0') return null
  const host = values.host === '::1' ? '[::1]' : '127.0.0.1'
  const local = { url: `http://${host}:${port}`, token: await localToken(context, values.data) }
  await writeLocalServer(values.data, local)
  return local
}

/** One for each data folder: the one before it ends with its server. */
async function localToken({ engine }: RoleContext, data: string): Promise<string> {
  const { createClient, pages } = await import('@reprise/client')
  const client = await createClient({ engine, actor: 'local:admin' })
  // The journal shows it as token:local-…
  const name = `local-${hostname()}-${createHash('sha256').update(data).digest('hex').slice(0, 8)}`.slice(0, 200)
  for await (const { items } of pages(client.listTokens, {})) {
    for (const token of items) if (token.name === name) await client.revokeToken({ id: token.id })
  }
  const { token } = await client.createToken({ name, role: 'admin', tenants: null })
  await client.close()
  return token
}
