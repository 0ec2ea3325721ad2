// The Cloud Run launcher: each execution of a task is an execution of a Cloud Run job. The worker fetches its payload and calls back by
// itself (@reprise/worker/ephemeral); what Cloud Run says of one that ended without that is why it was lost.

import type { Launcher } from '@reprise/core'
import { PlatformLauncher } from '../platform/launcher.ts'
import { type CloudRunLauncherOptions, cloudRunSettings } from './options.ts'
import { CloudRunPlatform } from './platform.ts'

export function createCloudRunLauncher(options: CloudRunLauncherOptions): Launcher {
  const settings = cloudRunSettings(options)
  return new PlatformLauncher(new CloudRunPlatform(settings), settings, (order) => settings.runOf(order).env)
}
