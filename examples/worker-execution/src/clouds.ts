// Where the example runs: against fakes of SQS and ECS on this machine, whose containers are processes of Node, or against AWS,
// if the environment names a queue and a cluster.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Launcher, OutsideQueue } from '@reprise/core'
import { createEcsLauncher } from '@reprise/launchers'
import { openSqsQueue } from '@reprise/sqs'
import { type FakeWorker, startFakeEcs } from '@reprise/test-servers'
import { startFauxqs } from 'fauxqs'

export interface Clouds {
  readonly queue: OutsideQueue
  /** `callbackUrl` is where containers report. */
  readonly launcher: (callbackUrl: string) => Launcher
  /** Whether containers can be made to fail on purpose. */
  readonly isFake: boolean
  close(): Promise<void>
}

const CONTAINER = fileURLToPath(new URL('./container.ts', import.meta.url))
const REGION = 'eu-west-1'
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }

export function openClouds(env: NodeJS.ProcessEnv): Promise<Clouds> {
  return env.IMPLEMENTATION_SQS_QUEUE_URL === undefined ? fakeClouds(env) : aws(env, env.IMPLEMENTATION_SQS_QUEUE_URL)
}

async function aws(env: NodeJS.ProcessEnv, queueUrl: string): Promise<Clouds> {
  const named = (name: string): string => {
    const value = env[name]
    if (value === undefined) throw new Error(`With IMPLEMENTATION_SQS_QUEUE_URL, ${name} is needed too.`)
    return value
  }
  const [cluster, taskDefinition, container] = [
    named('ECS_CLUSTER'),
    named('ECS_TASK_DEFINITION'),
    named('ECS_CONTAINER'),
  ]
  const listed = (name: string): readonly string[] => (env[name] ?? '').split(',').filter((one) => one !== '')
  const queue = await openSqsQueue({ queueUrl })
  const network = { subnets: listed('ECS_SUBNETS'), securityGroups: listed('ECS_SECURITY_GROUPS') }
  return {
    queue,
    launcher: (callbackUrl) => createEcsLauncher({ cluster, taskDefinition, container, callbackUrl, ...network }),
    isFake: false,
    close: async () => queue.close(),
  }
}

async function fakeClouds(env: NodeJS.ProcessEnv): Promise<Clouds> {
  // The AWS SDK wants some, and the fakes take any.
  env.AWS_ACCESS_KEY_ID ??= CREDENTIALS.accessKeyId
  env.AWS_SECRET_ACCESS_KEY ??= CREDENTIALS.secretAccessKey
  const [sqs, ecs] = await Promise.all([startFauxqs({ port: 0, logger: false, defaultRegion: REGION }), startFakeEcs()])
  const { queueArn } = sqs.createQueue('work-dead')
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queueArn, maxReceiveCount: 10 })
  const { queueUrl } = sqs.createQueue('work', { attributes: { RedrivePolicy } })
  ecs.onStarted = runContainer
  const queue = await openSqsQueue({ queueUrl, endpoint: sqs.address, region: REGION })
  return {
    queue,
    launcher: (callbackUrl) =>
      createEcsLauncher({
        cluster: ecs.cluster,
        taskDefinition: 'worker:1',
        container: 'worker',
        region: REGION,
        endpoint: ecs.url,
        callbackUrl,
        lookEvery: '200ms',
        visibleWithin: 0,
      }),
    isFake: true,
    async close() {
      queue.close()
      await Promise.all([sqs.stop(), ecs.close()])
    },
  }
}

function runContainer(worker: FakeWorker): void {
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', CONTAINER], {
    env: { PATH: process.env.PATH, ...worker.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  child.once('exit', (code, signal) => {
    if (signal === 'SIGKILL') worker.finish({ by: 'out of memory' })
    else worker.exit(code ?? 1)
  })
}
