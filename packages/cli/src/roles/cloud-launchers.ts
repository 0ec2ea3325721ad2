// Launch pools on cloud platforms, turned into launchers. The SDK of a platform is loaded by its launcher, when it is used.

import { type Clock, type Launcher, present } from '@reprise/core'
import type { CloudPool } from '../configuration/cloud-pools.ts'

export async function cloudLauncher(
  settings: CloudPool & { readonly pool: string },
  clock: Clock,
  callbackUrl: string | null,
): Promise<Launcher> {
  const launchers = await import('@reprise/launchers')
  const around = { name: `${settings.kind}:${settings.pool}`, clock, ...present({ callbackUrl }) }
  switch (settings.kind) {
    case 'ecs':
      return launchers.createEcsLauncher({ ...settings.options, ...around })
    case 'lambda':
      return launchers.createLambdaLauncher({ ...settings.options, ...around })
    case 'cloud_run':
      return launchers.createCloudRunLauncher({ ...settings.options, ...around })
    case 'kubernetes':
      return launchers.createKubernetesLauncher({ ...settings.options, ...around })
  }
}
