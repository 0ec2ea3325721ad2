// Launch pools as the configuration has them, turned into launchers. Process launchers keep their runs in the data folder.

import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Clock, InvalidError } from '@reprise/core'
import type { LaunchPool } from '@reprise/orchestrator'
import type { Resolved } from '../configuration/resolve.ts'
import type { HttpPool, LaunchCommand, ProcessPool } from '../configuration/structures.ts'

export async function launchPools(resolved: Resolved, clock: Clock): Promise<readonly LaunchPool[]> {
  const pools = resolved.values.launchPools
  if (pools.length === 0) return []
  return Promise.all(
    pools.map(async (settings) => ({
      pool: settings.pool,
      slots: settings.slots,
      launcher:
        settings.kind === 'process'
          ? await byProcess(settings, resolved, clock)
          : await byHttp(settings, resolved, clock),
    })),
  )
}

async function byProcess(settings: ProcessPool, { values, folder }: Resolved, clock: Clock) {
  const { createProcessLauncher } = await import('@reprise/launchers')
  const { pool, input, inheritEnv, killGraceMs } = settings
  const commands = Object.entries(settings.commands).map(
    ([action, command]) => [action, inFolder(command, folder)] as const,
  )
  return createProcessLauncher({
    name: `process:${pool}`,
    directory: join(values.data, 'runs', encodeURIComponent(pool)),
    commands: Object.fromEntries(commands),
    input,
    killGrace: killGraceMs,
    clock,
    ...(inheritEnv === null ? {} : { inheritEnv }),
  })
}

/** A folder in the file is meant from where the file stands. */
const inFolder = (command: LaunchCommand, folder: string): LaunchCommand => ({
  ...command,
  cwd: resolve(folder, command.cwd ?? '.'),
})

async function byHttp(settings: HttpPool, { values, folder }: Resolved, clock: Clock) {
  const { createHttpLauncher } = await import('@reprise/launchers')
  const { pool, baseUrl, actions, allow } = settings
  const callbackUrl = settings.callbackUrl ?? (values.publicUrl === null ? null : `${values.publicUrl}/task-complete`)
  return createHttpLauncher({
    name: `http:${pool}`,
    secret: await secretOf(settings, folder),
    actions,
    allow,
    clock,
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(callbackUrl === null ? {} : { callbackUrl }),
  })
}

/** Several secrets, one on each line, while receivers change over. */
async function secretOf({ pool, secretFile }: HttpPool, folder: string): Promise<readonly string[]> {
  const path = resolve(folder, secretFile)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : 'for an unknown reason'
    throw new InvalidError(`The secret of the launch pool '${pool}' can't be read: ${why}.`, { cause: error })
  }
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
