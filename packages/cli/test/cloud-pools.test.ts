// Launch pools on cloud platforms that the configuration file declares: read, shown without secrets, and run.

import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { startFakeEcs } from '@reprise/test-servers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { resolveConfiguration } from '../src/configuration/resolve.ts'
import { shell } from './shell.ts'

const POOLS = `
public_url: https://reprise.example
pools:
  launch:
    - pool: on-ecs
      slots: 50
      ecs:
        cluster: workers
        task_definition: render:7
        container: worker
        subnets: [subnet-1]
        capacity_providers: [{ name: FARGATE_SPOT, weight: 1 }]
        look_every: 10s
        env: { API_KEY: hunter2 }
        actions: { render.big: { memory: 4096, env: { OTHER_KEY: hunter3 } } }
    - pool: on-lambda
      slots: 5
      lambda: { function_name: render, invocation: request, region: eu-west-1 }
    - pool: on-cloud-run
      slots: 5
      cloud_run: { job: projects/acme/locations/europe-west1/jobs/render }
    - pool: on-kubernetes
      slots: 5
      kubernetes:
        image: registry.example/render:7
        namespace: workers
        pod_template: { spec: { nodeSelector: { pool: spot } } }
`

test('A7: launch pools of every platform are read from the file, and shown without what stands in environments', async () => {
  const { folder, reprise } = shell({ files: { 'reprise.yaml': POOLS } })
  const { values } = await resolveConfiguration({ flags: {}, env: {}, cwd: folder })
  expect(values.launchPools).toMatchObject([
    { pool: 'on-ecs', kind: 'ecs', options: { taskDefinition: 'render:7', lookEvery: 10_000 } },
    { pool: 'on-lambda', kind: 'lambda', options: { functionName: 'render', invocation: 'request' } },
    { pool: 'on-cloud-run', kind: 'cloud_run' },
    {
      pool: 'on-kubernetes',
      kind: 'kubernetes',
      options: { podTemplate: { spec: { nodeSelector: { pool: 'spot' } } } },
    },
  ])
  const { stdout, exitCode } = await reprise('config', 'print', '-o', 'json')
  expect(exitCode).toBe(0)
  expect(stdout).toContain('API_KEY')
  expect(stdout).toContain('OTHER_KEY')
  expect(stdout).not.toContain('hunter')
})

test('a launch pool has exactly one launcher', async () => {
  const pools = { launch: [{ pool: 'x', slots: 1, ecs: { cluster: 'c' }, lambda: { function_name: 'f' } }] }
  const { reprise } = shell({ files: { 'reprise.yaml': JSON.stringify({ pools }) } })
  const { exitCode, stderr } = await reprise('orchestrator', '--engine', 'sqlite::memory:')
  expect(exitCode).toBe(2)
  expect(stderr).toContain("'process', 'http', 'ecs', 'lambda', 'cloud_run' or 'kubernetes'")
})

test('A11: a task of an ECS pool of the file becomes an ECS task, which knows where to call back', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  const ecs = await startFakeEcs()
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await ecs.close()
  })
  const options = {
    cluster: 'workers',
    task_definition: 'render:7',
    container: 'worker',
    region: 'eu-west-1',
    endpoint: ecs.url,
  }
  const pools = { launch: [{ pool: 'renders', slots: 2, ecs: options }] }
  const { folder, ask, heard, reprise } = shell({
    files: { 'reprise.yaml': JSON.stringify({ public_url: 'https://reprise.example', pools }) },
  })
  const engine = `sqlite:${join(folder, 'store.db')}`
  const running = reprise('orchestrator', '--engine', engine)
  await heard(/The orchestrator runs/, running)
  const started = Promise.withResolvers<void>()
  ecs.onStarted = () => started.resolve()
  const client = await createClient({ engine })
  const task = await client.submit('render.page', {}, { pool: 'renders' })
  await started.promise
  expect(ecs.workers[0]?.env).toMatchObject({
    REPRISE_TASK_ID: task.id,
    REPRISE_CALLBACK_URL: 'https://reprise.example/task-complete',
  })
  ask()
  expect(await running).toMatchObject({ exitCode: 0 })
  await client.close()
})
