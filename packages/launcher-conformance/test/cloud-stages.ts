// Stages on fakes of cloud platforms, which speak the documented protocols over HTTP on loopback.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, type Launcher, systemClock } from '@reprise/core'
import {
  type CloudServer,
  type CloudTrouble,
  type FakeWorker,
  startFakeCloudRun,
  startFakeEcs,
  startFakeKubernetes,
  startFakeLambda,
} from '@reprise/test-servers'
import type { StagedTrouble, StagedWorker } from '../src/index.ts'
import { launcherBy, type Recipe } from './recipes.ts'
import type { PlatformStep, SteppedFactory, SteppedStage } from './steps.ts'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'test'

const TIMES = 1_000

const TROUBLES: Readonly<Record<StagedTrouble, CloudTrouble>> = {
  full: 'full',
  throttled: 'throttled',
  denied: 'denied',
  'lost answer': 'broken after',
  hanging: 'hanging',
}

interface CloudStage {
  readonly server: CloudServer
  readonly recipe: Recipe
  /** The calls of the platform that are these steps. */
  readonly calls: Readonly<Partial<Record<PlatformStep, string>>> & { readonly started: string }
  readonly tokenOf?: (worker: FakeWorker) => string
  readonly vanish?: (worker: FakeWorker) => void
  readonly clock?: Clock
  readonly closed?: () => void
}

const byEnvironment = (worker: FakeWorker): string => worker.env.REPRISE_LEASE_TOKEN ?? ''
const byBody = (worker: FakeWorker): string => worker.env.token ?? ''

function stageOn({ server, recipe, calls, clock, closed, ...given }: CloudStage): SteppedStage {
  const { tokenOf = byEnvironment, vanish = (worker: FakeWorker) => worker.exit(1) } = given
  const launchers: Launcher[] = []
  const names = Object.entries(calls) as [PlatformStep, string][]
  const stage: SteppedStage = {
    action: 'render',
    recipe,
    steps: names.map(([step]) => step),
    onStep: null,
    launcher() {
      const launcher = launcherBy(recipe, clock)
      launchers.push(launcher)
      return launcher
    },
    workers: () =>
      server.workers.map(
        (worker): StagedWorker => ({
          token: tokenOf(worker),
          isRunning: () => worker.isRunning,
          vanish: () => vanish(worker),
        }),
      ),
    troubles: ['full', 'throttled', 'denied', 'lost answer', 'hanging'],
    trouble: (kind) => server.trouble(calls.started, TROUBLES[kind], TIMES),
    recover: () => server.recover(),
    async close() {
      await Promise.all(launchers.map((launcher) => launcher.close()))
      await server.close()
      closed?.()
    },
  }
  server.onStarted = () => stage.onStep?.('started')
  server.onDone = ({ name }) => {
    for (const [step, call] of names) if (call === name && step !== 'started') stage.onStep?.(step)
  }
  return stage
}

export const ecs: SteppedFactory = {
  name: 'ECS',
  async open() {
    const server = await startFakeEcs()
    const recipe = { kind: 'ecs', endpoint: server.url, cluster: server.cluster } as const
    return stageOn({ server, recipe, calls: { started: 'RunTask', looked: 'DescribeTasks', stopped: 'StopTask' } })
  },
}

export const cloudRun: SteppedFactory = {
  name: 'Cloud Run',
  async open() {
    const server = await startFakeCloudRun()
    const recipe = { kind: 'cloud-run', endpoint: server.url, accessToken: server.accessToken } as const
    return stageOn({ server, recipe, calls: { started: 'run', looked: 'getExecution', stopped: 'cancel' } })
  },
}

export const kubernetes: SteppedFactory = {
  name: 'Kubernetes',
  async open() {
    const server = await startFakeKubernetes()
    const folder = mkdtempSync(join(tmpdir(), 'reprise-kubernetes-'))
    const kubeconfig = join(folder, 'config')
    writeFileSync(kubeconfig, server.kubeconfig)
    const calls = { started: 'createJob', looked: 'listPods', stopped: 'deleteJob', removed: 'deleteJob' }
    const closed = (): void => rmSync(folder, { recursive: true })
    return stageOn({ server, recipe: { kind: 'kubernetes', kubeconfig }, calls, closed })
  },
}

export const lambdaByRequest: SteppedFactory = {
  name: 'Lambda, by request',
  lacks: ['finding', 'stopping'],
  async open() {
    const server = await startFakeLambda({ timeoutS: 900 })
    const recipe = { kind: 'lambda', endpoint: server.url, invocation: 'request' } as const
    const vanish = (worker: FakeWorker): void => worker.finish({ by: 'out of memory' })
    return stageOn({ server, recipe, calls: { started: 'Invoke' }, tokenOf: byBody, vanish })
  },
}

export const lambdaByEvent: SteppedFactory = {
  name: 'Lambda, by event',
  lacks: ['finding', 'watching', 'stopping'],
  async open() {
    const eventConfig = { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 }
    const server = await startFakeLambda({ timeoutS: 900, eventConfig })
    let aheadMs = 0
    const clock: Clock = {
      now: () => systemClock.now() + aheadMs,
      monotonic: () => systemClock.monotonic(),
      after: (...given) => systemClock.after(...given),
      soon: (...given) => systemClock.soon(...given),
    }
    // Nobody sees it end: its time is over.
    const vanish = (worker: FakeWorker): void => {
      worker.exit(1)
      aheadMs += 2_000_000
    }
    const recipe = { kind: 'lambda', endpoint: server.url, invocation: 'event' } as const
    return stageOn({ server, recipe, calls: { started: 'Invoke' }, tokenOf: byBody, vanish, clock })
  },
}
