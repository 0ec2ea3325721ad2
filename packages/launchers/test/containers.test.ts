// Cloud Run and Kubernetes: what they are asked for, and why their workers ended.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeEnd, startFakeCloudRun, startFakeKubernetes } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import {
  type CloudRunLauncherOptions,
  createCloudRunLauncher,
  createKubernetesLauncher,
  type KubernetesLauncherOptions,
} from '../src/index.ts'
import { anOrder, never, refOf, sighting } from './fixture.ts'

const QUICK = { lookEvery: 0, visibleWithin: 0 } as const
const JOB = 'projects/p/locations/europe-west1/jobs/render'

async function aCloudRun(options: Partial<CloudRunLauncherOptions> = {}) {
  const service = await startFakeCloudRun()
  const accessToken = async (): Promise<string> => service.accessToken
  const launcher = createCloudRunLauncher({ job: JOB, endpoint: service.url, accessToken, ...QUICK, ...options })
  onTestFinished(async () => {
    await launcher.close()
    await service.close()
  })
  return { service, launcher }
}

async function aKubernetes(options: Partial<KubernetesLauncherOptions> = {}) {
  const service = await startFakeKubernetes()
  const folder = mkdtempSync(join(tmpdir(), 'reprise-kubernetes-'))
  const kubeconfig = join(folder, 'config')
  writeFileSync(kubeconfig, service.kubeconfig)
  const launcher = createKubernetesLauncher({ image: 'registry.example/render:7', kubeconfig, ...QUICK, ...options })
  onTestFinished(async () => {
    await launcher.close()
    await service.close()
    rmSync(folder, { recursive: true })
  })
  return { service, launcher }
}

test('A11: Cloud Run runs the job once, with the environment and the time-out of the attempt', async () => {
  const { service, launcher } = await aCloudRun({ container: 'worker', args: ['--fast'], env: { MODE: 'fast' } })
  const order = anOrder({ timeoutMs: 90_500 })
  await launcher.launch(order, never)
  const [call] = service.callsOf('run')
  expect(call?.body).toMatchObject({
    overrides: { taskCount: 1, timeout: '91s', containerOverrides: [{ name: 'worker', args: ['--fast'] }] },
  })
  expect(service.workers[0]?.env).toMatchObject({ MODE: 'fast', REPRISE_LEASE_TOKEN: order.token })
})

test('A11: a Kubernetes job starts one pod once, with a deadline, and is removed when it is forgotten', async () => {
  const { service, launcher } = await aKubernetes({
    cpu: '500m',
    memory: '1Gi',
    serviceAccount: 'renderer',
    podTemplate: { spec: { nodeSelector: { pool: 'spot' }, containers: [{ name: 'main', workingDir: '/srv' }] } },
    keepFor: '10m',
  })
  const order = anOrder({ timeoutMs: 60_000 })
  const { handle } = await launcher.launch(order, never)
  const [call] = service.callsOf('createJob')
  expect(call?.url.pathname).toBe('/apis/batch/v1/namespaces/workers/jobs')
  const limits = { cpu: '500m', memory: '1Gi' }
  expect(call?.body).toMatchObject({
    spec: {
      backoffLimit: 0,
      completions: 1,
      activeDeadlineSeconds: 120,
      ttlSecondsAfterFinished: 600,
      template: {
        spec: {
          restartPolicy: 'Never',
          serviceAccountName: 'renderer',
          nodeSelector: { pool: 'spot' },
          containers: [{ name: 'main', image: 'registry.example/render:7', workingDir: '/srv', resources: { limits } }],
        },
      },
    },
  })
  service.workers[0]?.exit()
  await launcher.forget(refOf(order, handle))
  expect(service.callsOf('deleteJob')).toHaveLength(1)
})

const ENDS: readonly [FakeEnd, string][] = [
  [{ by: 'out of memory' }, 'WORKER_OUT_OF_MEMORY'],
  [{ by: 'image' }, 'WORKER_IMAGE_UNAVAILABLE'],
  [{ by: 'interruption' }, 'WORKER_INTERRUPTED'],
  [{ by: 'start' }, 'WORKER_NOT_STARTED'],
  [{ by: 'deadline' }, 'WORKER_PAST_DEADLINE'],
  [{ by: 'exit', exitCode: 0 }, 'WORKER_SILENT'],
  [{ by: 'exit', exitCode: 3 }, 'EXIT_3'],
]

test.each(ENDS)('A11: a Cloud Run execution that ended by %j is lost, and its cause is %s', async (end, code) => {
  const { service, launcher } = await aCloudRun()
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  service.workers[0]?.finish(end)
  expect(await sighting(launcher, refOf(order, handle))).toMatchObject({ status: 'vanished', cause: { code } })
})

test.each(ENDS)('A11: a Kubernetes job that ended by %j is lost, and its cause is %s', async (end, code) => {
  const { service, launcher } = await aKubernetes()
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  service.workers[0]?.finish(end)
  const lost = { status: 'vanished', cause: { code } }
  expect(await sighting(launcher, refOf(order, handle))).toMatchObject(lost)
  // Also when Kubernetes, or we ourselves, removed the job before the loss was settled.
  expect(await sighting(launcher, refOf(order, handle))).toMatchObject(lost)
})

test('a worker that the platform does not show yet is neither gone nor never started', async () => {
  const { service, launcher } = await aCloudRun({ visibleWithin: '1h' })
  service.onStarted = (worker) => {
    worker.isHidden = true
  }
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  expect(await sighting(launcher, refOf(order, handle))).toEqual({ status: 'unknown' })
  expect(await sighting(launcher, { ...refOf(order), token: order.token })).toEqual({ status: 'unknown' })
})

test('a platform that lies about what it started is found out', async () => {
  const { service, launcher } = await aKubernetes()
  service.trouble('createJob', 'lying')
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  expect(handle).toMatch(/^mark:/)
  expect(await sighting(launcher, { ...refOf(order, handle), token: order.token })).toMatchObject({ status: 'running' })
})
