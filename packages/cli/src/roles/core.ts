// The core as a process: the HTTP API, the only surface to the outside (A13). It moves no tasks; orchestrators do.

import { fileURLToPath } from 'node:url'
import { type FeatureFlags, openFlags, present } from '@reprise/core'
import type { Server, ServerOptions } from '@reprise/server'
import type { Resolved } from '../configuration/resolve.ts'
import { settingDefaults } from '../configuration/setting-defaults.ts'
import type { Configuration } from '../configuration/settings.ts'
import type { Host } from '../host.ts'
import { CommandError } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import { VERSION } from '../version.ts'
import { unlessAskedToEnd } from './asked-to-end.ts'
import { declaredActions } from './declared-actions.ts'
import { redactionOf } from './log.ts'
import { collectSooner } from './memory.ts'
import { openOutsideQueue } from './outside-queue.ts'
import { openRoleContext, type RoleContext, refuseDamage } from './role-context.ts'

/** Comes back when it has stopped. */
export async function runCore(resolved: Resolved, host: Host, output: Output): Promise<void> {
  const context = await openRoleContext(resolved, host, 'core')
  try {
    const core = await unlessAskedToEnd(host, startCore(context), (late) => late.stop())
    const url = core.server.url()
    const link = await core.server.access.firstLink()
    output.one({ url, link }, ({ line }) => {
      line(`The API is at ${url}.`)
      line(wayIn(link, resolved))
    })
    await context.untilEnd()
    context.log.info('The core stops.', host.asked.aborted ? { signal: String(host.asked.reason) } : {})
    await core.stop()
  } finally {
    await context.close()
  }
  refuseDamage(context)
  context.log.info('The core has stopped.')
}

/** How the first admin gets in. */
export function wayIn(link: string | null, { values }: Resolved): string {
  if (link !== null) return `Sign in, once, within 15 minutes: ${link}`
  const isConfigured = values.googleClientIds.length > 0 || values.oidcIssuer !== null
  return isConfigured
    ? 'Sign in as configured (docs/sign-in.md).'
    : "There is no sign-in link, since other hosts can reach this server. Make a token with 'reprise token create me --role admin --engine <store>', or start with --admin-link anywhere."
}

export interface RunningCore {
  readonly server: Server
  readonly flags: FeatureFlags
  stop(): Promise<void>
}

/** The server, listening: what `up` runs as well. */
export async function startCore(context: RoleContext): Promise<RunningCore> {
  const { engine, host, log, metrics, policies, resolved } = context
  const { values } = resolved
  collectSooner()
  const { createServer } = await import('@reprise/server')
  const queue = await openOutsideQueue(resolved, host.clock)
  const flags = await openFlags({
    engine,
    clock: host.clock,
    onError: (error) => log.warn('The flags stay as they are.', { error }),
  })
  const server = await createServer({
    engine,
    policies,
    flags,
    log,
    metrics,
    version: VERSION,
    maxRetries: values.maxRetries,
    discardUndoMs: values.discardUndo,
    host: values.host,
    port: values.port,
    clock: host.clock,
    maxBodyBytes: values.bodyLimit,
    rateLimit: { perSecond: values.requestsPerSecond, burst: values.requestsBurst },
    redaction: redactionOf(values),
    tenantRules: values.tenants,
    webhookAllow: values.webhookAllow,
    access: accessOf(values),
    actions: await declaredActions(values.packs),
    defaults: settingDefaults(values),
    monitoringThresholds: values.monitoringThresholds,
    ...(queue === undefined ? {} : { queue }),
    ...present({ console: consoleFolder() }),
    ...(values.publicUrl === null ? {} : { publicUrl: values.publicUrl }),
  })
  await flags.start()
  await server.start().catch((error: unknown) => refusePort(error, values))
  log.info('The core listens.', { url: server.url() })
  return {
    server,
    flags,
    async stop() {
      await server.stop()
      await flags.stop()
      queue?.close()
    },
  }
}

/** Where the console stands, as built; undefined if it is not installed. */
function consoleFolder(): string | undefined {
  try {
    return fileURLToPath(new URL('dist', import.meta.resolve('@reprise/console/package.json')))
  } catch {
    return undefined
  }
}

function refusePort(error: unknown, { host, port }: Configuration): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error
  const why =
    code === 'EADDRINUSE'
      ? 'somebody else has it'
      : code === 'EACCES'
        ? 'that is not allowed'
        : 'there is none such here'
  throw new CommandError(`The server can't listen on ${host}:${port}: ${why}.`, {
    hint: 'Stop what has it, or choose another with --port (0 for any that is free) or --host.',
    cause: error,
  })
}

function accessOf(values: Configuration): NonNullable<ServerOptions['access']> {
  const { googleClientIds, oidcIssuer, oidcClientId, oidcClientSecret } = values
  const admission = { domains: values.allowedDomains, hostedDomains: values.hostedDomains }
  return {
    env: values.environment,
    adminLink: values.adminLink === 'anywhere',
    admins: values.admins,
    rules: values.access,
    trustedProxies: values.trustedProxies,
    ...(googleClientIds.length === 0 ? {} : { google: { clientIds: googleClientIds, ...admission } }),
    ...(oidcIssuer === null || oidcClientId === null
      ? {}
      : {
          signIn: {
            issuer: oidcIssuer,
            clientId: oidcClientId,
            ...admission,
            ...(oidcClientSecret === null ? {} : { clientSecret: oidcClientSecret }),
          },
        }),
  }
}
