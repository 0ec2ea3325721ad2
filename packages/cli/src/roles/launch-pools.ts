// Launch pools as the configuration and the packs have them, turned into launchers. Process launchers keep their runs in the
// data folder.

import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Clock, InvalidError, type Launcher, type Logger, messageOf, present } from '@reprise/core'
import type { HttpTarget } from '@reprise/launchers'
import type { LaunchPool } from '@reprise/orchestrator'
import type { Resolved } from '../configuration/resolve.ts'
import type { HttpPool, LaunchCommand, LaunchPoolSettings, ProcessPool } from '../configuration/structures.ts'
import { cloudLauncher } from './cloud-launchers.ts'

/** `serverUrl` is where the API of this very process listens; null in a process without one. */
export async function launchPools(
  resolved: Resolved,
  clock: Clock,
  serverUrl: string | null = null,
  log?: Logger,
): Promise<readonly LaunchPool[]> {
  const pools = resolved.values.launchPools
  if (pools.length === 0) return []
  return Promise.all(
    pools.map(async (settings) => {
      const { pool, slots } = settings
      const callbackUrl = callbackUrlOf(settings, resolved, serverUrl)
      return { pool, slots, launcher: await launcherOf(settings, resolved, clock, callbackUrl, log) }
    }),
  )
}

function launcherOf(
  settings: LaunchPoolSettings,
  resolved: Resolved,
  clock: Clock,
  callbackUrl: string | null,
  log: Logger | undefined,
): Promise<Launcher> {
  if (settings.kind === 'process') return byProcess(settings, resolved, clock, callbackUrl)
  if (settings.kind === 'http') return byHttp(settings, resolved, clock, callbackUrl)
  return cloudLauncher(settings, clock, callbackUrl, log)
}

/** Where workers of a pool call back: as it is configured, else at the public address, else at the server of this process. */
function callbackUrlOf(
  { callbackUrl }: LaunchPoolSettings,
  { values: { publicUrl } }: Resolved,
  serverUrl: string | null,
): string | null {
  const server = publicUrl ?? serverUrl
  return callbackUrl ?? (server === null ? null : server + CALLBACK)
}

/** The servers that launched workers call back to, as far as the configuration names them. */
export function callbackServers(resolved: Resolved): readonly string[] {
  const addresses = resolved.values.launchPools.map((settings) => callbackUrlOf(settings, resolved, null))
  const servers = addresses.flatMap((address) =>
    address?.endsWith(CALLBACK) === true ? [address.slice(0, -CALLBACK.length)] : [],
  )
  return [...new Set(servers)]
}

const CALLBACK = '/task-complete'

/** The launch pools whose workers are told no address to call back to: there is neither one for the pool nor a public one. */
export function poolsWithoutCallback(resolved: Resolved): readonly string[] {
  const silent = resolved.values.launchPools.filter((settings) => callbackUrlOf(settings, resolved, null) === null)
  return silent.map(({ pool }) => pool)
}

async function byProcess(
  settings: ProcessPool,
  { values, folder }: Resolved,
  clock: Clock,
  callbackUrl: string | null,
) {
  const { createProcessLauncher } = await import('@reprise/launchers')
  const { pool, input, inheritEnv, killGraceMs } = settings
  const named = Object.entries(settings.commands).map(
    ([action, command]) => [action, inFolder(command, folder)] as const,
  )
  const commands = [...(await packCommands(settings, values.packs)), ...named]
  return createProcessLauncher({
    name: `process:${pool}`,
    directory: join(values.data, 'runs', encodeURIComponent(pool)),
    commands: Object.fromEntries(commands),
    input,
    killGrace: killGraceMs,
    clock,
    ...present({ inheritEnv, callbackUrl }),
  })
}

/** What the packs declare for this pool (C2): the entrypoint is the command, from the folder that it stands in. */
async function packCommands(
  { pool, runtimes }: ProcessPool,
  paths: readonly string[],
): Promise<readonly (readonly [string, LaunchCommand])[]> {
  if (paths.length === 0) return []
  const { loadPacks } = await import('@reprise/policies')
  const packs = (await Promise.all(paths.map(loadPacks))).flat()
  return packs
    .flatMap(({ actions }) => actions)
    .flatMap(({ action, runtime, entrypoint, folder }) => {
      if (action.pool !== pool || entrypoint.runtime === 'http') return []
      const [program, ...rest] = entrypoint.runtime === 'node' ? ['node', entrypoint.module] : entrypoint.argv
      const by = runtime === 'process' ? undefined : runtimes[runtime]
      return [[action.name, { argv: [...(by ?? [program ?? '']), ...rest], cwd: resolve(folder) }] as const]
    })
}

/** A folder in the file is meant from where the file stands. */
const inFolder = (command: LaunchCommand, folder: string): LaunchCommand => ({
  ...command,
  cwd: resolve(folder, command.cwd ?? '.'),
})

async function byHttp(settings: HttpPool, { folder }: Resolved, clock: Clock, callbackUrl: string | null) {
  const { createHttpLauncher } = await import('@reprise/launchers')
  const { pool, baseUrl, allow, secretFile, signatures } = settings
  const secret = secretFile === null ? null : await secretIn(secretFile, pool, folder)
  return createHttpLauncher({
    name: `http:${pool}`,
    actions: await withSecrets(settings, folder),
    allow,
    clock,
    ...present({ secret, signatures, baseUrl, callbackUrl }),
  })
}

async function withSecrets({ pool, actions }: HttpPool, folder: string): Promise<Record<string, HttpTarget>> {
  const targets = Object.entries(actions).map(async ([action, { secretFile, ...target }]) => {
    const secret = secretFile === undefined ? {} : { secret: await secretIn(secretFile, pool, folder) }
    return [action, { ...target, ...secret }] as const
  })
  return Object.fromEntries(await Promise.all(targets))
}

/** Several secrets, one on each line, while receivers change over. */
async function secretIn(secretFile: string, pool: string, folder: string): Promise<readonly string[]> {
  const path = resolve(folder, secretFile)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const words = `The secret of the launch pool '${pool}' can't be read: ${messageOf(error)}.`
    throw new InvalidError(words, { cause: error })
  }
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
