// Launch pools on cloud platforms, turned into launchers. The SDK of a platform is loaded by its launcher, when it is used.

import { type Clock, type Launcher, type Logger, present } from '@reprise/core'
import type { CloudPool } from '../configuration/cloud-pools.ts'

export async function cloudLauncher(
  settings: CloudPool & { readonly pool: string },
  clock: Clock,
  callbackUrl: string | null,
  log: Logger | undefined,
): Promise<Launcher> {
  const launchers = await import('@reprise/launchers')
  const { pool } = settings
  const onError = (error: unknown): void =>
    log?.warn(`The platform of launch pool '${pool}' can't be asked about its workers; they count as running.`, {
      error,
    })
  const around = { name: `${settings.kind}:${pool}`, clock, ...present({ callbackUrl }) }
  switch (settings.kind) {
    case 'ecs':
      return launchers.createEcsLauncher({ ...settings.options, ...around, onError })
    case 'lambda':
      return launchers.createLambdaLauncher({ ...settings.options, ...around })
    case 'cloud_run':
      return launchers.createCloudRunLauncher({ ...settings.options, ...around, onError })
    case 'kubernetes':
      return launchers.createKubernetesLauncher({ ...settings.options, ...around, onError })
  }
}
