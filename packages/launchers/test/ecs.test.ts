// What ECS is asked for, and what its answers and stop reasons mean.

import { type FakeEcs, type FakeEnd, startFakeEcs } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { ecsState } from '../src/ecs/stops.ts'
import { createEcsLauncher, type EcsLauncherOptions } from '../src/index.ts'
import { anOrder, never, refOf, sighting } from './fixture.ts'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'test'

async function anEcs(options: Partial<EcsLauncherOptions> = {}) {
  const ecs: FakeEcs = await startFakeEcs()
  onTestFinished(() => ecs.close())
  const launcher = createEcsLauncher({
    cluster: 'workers',
    taskDefinition: 'render:7',
    container: 'worker',
    region: 'eu-west-1',
    endpoint: ecs.url,
    lookEvery: 0,
    visibleWithin: 0,
    ...options,
  })
  onTestFinished(() => launcher.close())
  return { ecs, launcher }
}

test('A11: RunTask gets task definition, network, mark, client token and the environment of the attempt', async () => {
  const { ecs, launcher } = await anEcs({
    callbackUrl: 'https://reprise.example/task-complete',
    subnets: ['subnet-1'],
    securityGroups: ['sg-1'],
    capacityProviders: [{ name: 'FARGATE_SPOT', weight: 1 }],
    tags: { team: 'blue' },
    env: { MODE: 'fast' },
    actions: { render: { command: ['node', 'render.js'], cpu: 512, memory: 1_024, env: { QUALITY: 'high' } } },
  })
  const order = anOrder({ id: 'task ü' })
  const { handle } = await launcher.launch(order, never)
  const [call] = ecs.callsOf('RunTask')
  expect(call?.body).toMatchObject({
    cluster: 'workers',
    taskDefinition: 'render:7',
    count: 1,
    capacityProviderStrategy: [{ capacityProvider: 'FARGATE_SPOT', weight: 1 }],
    networkConfiguration: {
      awsvpcConfiguration: { subnets: ['subnet-1'], securityGroups: ['sg-1'], assignPublicIp: 'DISABLED' },
    },
    tags: [{ key: 'team', value: 'blue' }],
    overrides: { containerOverrides: [{ name: 'worker', command: ['node', 'render.js'], cpu: 512, memory: 1_024 }] },
  })
  expect(String(call?.body.startedBy)).toMatch(/^reprise\/[0-9a-f]{28}$/)
  expect(String(call?.body.clientToken).length).toBeLessThanOrEqual(64)
  expect(ecs.workers[0]).toMatchObject({
    id: handle,
    env: {
      MODE: 'fast',
      QUALITY: 'high',
      REPRISE_TASK_ID: 'task ü',
      REPRISE_ATTEMPT: '1',
      REPRISE_LEASE_TOKEN: order.token,
      REPRISE_CALLBACK_URL: 'https://reprise.example/task-complete',
    },
  })
  // The payload is fetched with the token: overrides take 8 KiB at the most.
  expect(JSON.stringify(call?.body)).not.toContain('page')
})

test.each<[FakeEnd, string]>([
  [{ by: 'out of memory' }, 'WORKER_OUT_OF_MEMORY'],
  [{ by: 'image' }, 'WORKER_IMAGE_UNAVAILABLE'],
  [{ by: 'interruption' }, 'WORKER_INTERRUPTED'],
  [{ by: 'start' }, 'WORKER_NOT_STARTED'],
  [{ by: 'stop' }, 'WORKER_STOPPED'],
  [{ by: 'exit', exitCode: 0 }, 'WORKER_SILENT'],
  [{ by: 'exit', exitCode: 3 }, 'EXIT_3'],
])('A11: a task that stopped by %j is lost, and its cause is %s', async (end, code) => {
  const { ecs, launcher } = await anEcs()
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  ecs.workers[0]?.finish(end)
  expect(await sighting(launcher, refOf(order, handle))).toMatchObject({ status: 'vanished', cause: { code } })
})

test.each([
  ['SpotInterruption', 'Your Spot Task was interrupted.', 'WORKER_INTERRUPTED'],
  ['TerminationNotice', '', 'WORKER_INTERRUPTED'],
  ['UserInitiated', 'Task stopped by user', 'WORKER_STOPPED'],
  ['EssentialContainerExited', 'Essential container in task exited', 'WORKER_SILENT'],
])('A11: a worker that ended well after %s (%s) is lost, and its cause is %s', (stopCode, stoppedReason, code) => {
  const task = { lastStatus: 'STOPPED', stopCode, stoppedReason, containers: [{ name: 'worker', exitCode: 0 }] }
  expect(ecsState(task, 'worker')).toMatchObject({ is: 'ended', cause: { code } })
})

test('a hundred and fifty tasks are described in two calls', async () => {
  const { ecs, launcher } = await anEcs()
  const orders = Array.from({ length: 150 }, (_, index) => anOrder({ id: `task-${index}` }))
  const handles = await Promise.all(orders.map((order) => launcher.launch(order, never)))
  const seen = await launcher.look(orders.map((order, index) => refOf(order, handles[index]?.handle ?? null)))
  expect(new Set(seen.map(({ status }) => status))).toEqual(new Set(['running']))
  expect(ecs.callsOf('DescribeTasks')).toHaveLength(2)
})

test('one worker is asked about once in lookEvery', async () => {
  const { ecs, launcher } = await anEcs({ lookEvery: '1h' })
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  for (let look = 0; look < 5; look += 1) await sighting(launcher, refOf(order, handle))
  expect(ecs.callsOf('DescribeTasks')).toHaveLength(1)
})

test('an action without a task definition is refused for good', async () => {
  const ecs = await startFakeEcs()
  onTestFinished(() => ecs.close())
  const actions = { other: { taskDefinition: 'other:1', container: 'worker' } }
  const launcher = createEcsLauncher({ cluster: 'workers', region: 'eu-west-1', endpoint: ecs.url, actions })
  await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({ name: 'PermanentError' })
  expect(ecs.calls).toEqual([])
})

test('a platform that may not be asked about workers is told of, once, and the workers count as running', async () => {
  const errors: unknown[] = []
  const { ecs, launcher } = await anEcs({ onError: (error) => void errors.push(error) })
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  ecs.trouble('DescribeTasks', 'denied', 10)
  for (let look = 0; look < 3; look += 1) {
    expect(await sighting(launcher, refOf(order, handle))).toEqual({ status: 'unknown' })
  }
  expect(errors).toMatchObject([{ name: 'AccessDeniedException' }])
})
