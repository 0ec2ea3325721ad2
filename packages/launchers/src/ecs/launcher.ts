// The ECS launcher: each execution is a task of a cluster, started by RunTask. The worker fetches its payload and calls back by
// itself (@reprise/worker/ephemeral); what ECS says of a task that stopped without that is why it was lost.

import type { Launcher } from '@reprise/core'
import { PlatformLauncher } from '../platform/launcher.ts'
import { type EcsLauncherOptions, ecsSettings } from './options.ts'
import { EcsPlatform } from './platform.ts'

export function createEcsLauncher(options: EcsLauncherOptions): Launcher {
  const settings = ecsSettings(options)
  return new PlatformLauncher(new EcsPlatform(settings), settings, (order) => settings.runOf(order).env)
}
