// The Kubernetes launcher: each execution is a job of batch/v1. The worker fetches its payload and calls back by itself
// (@reprise/worker/ephemeral); what Kubernetes says of a pod that ended without that is why it was lost.

import type { Launcher } from '@reprise/core'
import { PlatformLauncher } from '../platform/launcher.ts'
import { type KubernetesLauncherOptions, kubernetesSettings } from './options.ts'
import { KubernetesPlatform } from './platform.ts'

export function createKubernetesLauncher(options: KubernetesLauncherOptions): Launcher {
  const settings = kubernetesSettings(options)
  return new PlatformLauncher(new KubernetesPlatform(settings), settings, (order) => settings.jobOf(order).env ?? {})
}
