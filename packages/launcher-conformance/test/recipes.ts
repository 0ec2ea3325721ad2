// How the launcher of a stage is made, as data: so that a process of its own can make the same one.

import { join } from 'node:path'
import type { Clock, Launcher } from '@reprise/core'
import {
  createCloudRunLauncher,
  createEcsLauncher,
  createHttpLauncher,
  createKubernetesLauncher,
  createLambdaLauncher,
  createProcessLauncher,
} from '@reprise/launchers'

export type Recipe =
  | { readonly kind: 'ecs'; readonly endpoint: string; readonly cluster: string }
  | { readonly kind: 'cloud-run'; readonly endpoint: string; readonly accessToken: string }
  | { readonly kind: 'kubernetes'; readonly kubeconfig: string }
  | { readonly kind: 'lambda'; readonly endpoint: string; readonly invocation: 'event' | 'request' }
  | { readonly kind: 'http'; readonly origin: string }
  | { readonly kind: 'process'; readonly folder: string }

/** Shown at once, and asked about at every look: the fakes need no patience. */
const QUICK = { lookEvery: 0, visibleWithin: 30 } as const
const SECRET = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`

export function launcherBy(recipe: Recipe, clock?: Clock): Launcher {
  switch (recipe.kind) {
    case 'ecs': {
      const { endpoint, cluster } = recipe
      const run = { taskDefinition: 'render:7', container: 'worker' }
      return createEcsLauncher({ cluster, ...run, region: 'eu-west-1', endpoint, ...QUICK })
    }
    case 'cloud-run': {
      const { endpoint, accessToken } = recipe
      const job = 'projects/p/locations/europe-west1/jobs/render'
      return createCloudRunLauncher({ job, endpoint, accessToken: async () => accessToken, ...QUICK })
    }
    case 'kubernetes':
      return createKubernetesLauncher({ image: 'registry.example/render:7', kubeconfig: recipe.kubeconfig, ...QUICK })
    case 'lambda': {
      const { endpoint, invocation } = recipe
      const around = { region: 'eu-west-1', endpoint, answerWithin: 100, ...(clock === undefined ? {} : { clock }) }
      return createLambdaLauncher({ functionName: 'render', invocation, ...around })
    }
    case 'http': {
      const { origin } = recipe
      return createHttpLauncher({
        baseUrl: origin,
        secret: SECRET,
        allow: ['127.0.0.0/8'],
        answerWithin: '200ms',
        statusUrl: (key) => `${origin}/status/${encodeURIComponent(key)}`,
      })
    }
    case 'process': {
      const { folder } = recipe
      const env = { WORKERS: join(folder, 'workers') }
      const commands = { render: { argv: [join(folder, 'worker.sh')], cwd: folder, env } }
      return createProcessLauncher({ directory: join(folder, 'runs'), commands, poll: '50ms', killGrace: '1s' })
    }
  }
}
