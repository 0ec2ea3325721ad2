// One launch pool on a virtual clock: its launcher, its ledger, and any number of processes that see to it.

import { type Backoff, type Engine, type PoolName, type Service, seededRandom, type TaskSpec } from '@reprise/core'
import {
  createLaunch,
  createReconcile,
  LaunchLedger,
  type LaunchOptions,
  type LaunchPoint,
  type LaunchService,
} from '@reprise/orchestrator'
import { onTestFinished } from 'vitest'
import { FakeLauncher } from './fake-launcher.ts'
import { openStore, type Store, submitted } from './fixture.ts'

export const POOL = 'ephemeral' as PoolName
const BACKOFF: Backoff = { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 60_000, jitter: 0 }

export interface Launching extends Store {
  readonly launcher: FakeLauncher
  /** A process with both services; started. */
  readonly orchestrator: (over?: Partial<Over>) => Promise<LaunchProcess>
  readonly submit: (id: string, change?: Parameters<typeof submitted>[2]) => ReturnType<typeof submitted>
}

interface Over extends Omit<LaunchOptions, 'ledger'> {
  readonly slots: number
  readonly services: readonly ('launch' | 'reconcile')[]
  readonly engine: Engine
  /** From there on it does nothing more about what it launches. */
  readonly crashesAt: LaunchPoint
}

interface LaunchProcess {
  readonly ledger: LaunchLedger
  readonly launch: LaunchService
  readonly reconcile: Service
  readonly errors: unknown[]
  readonly stop: () => Promise<void>
}

export async function launching(): Promise<Launching> {
  const store = await openStore()
  const { engine, clock } = store
  const launcher = new FakeLauncher(clock)
  return {
    ...store,
    launcher,
    submit: (id, change) => submitted(engine, id, { pool: POOL, ...change }),
    async orchestrator({ crashesAt, services = ['launch', 'reconcile'], slots: given, ...over } = {}) {
      // One that has crashed claims nothing more.
      const slots = given ?? (crashesAt === undefined ? 10 : 1)
      const testEnd = Promise.withResolvers<void>()
      const ledger = new LaunchLedger(POOL, slots)
      const errors: unknown[] = []
      const options = {
        engine,
        launcher,
        clock,
        random: seededRandom(1),
        backoff: BACKOFF,
        systemMonotonic: () => clock.monotonic(),
        onError: (error: unknown) => void errors.push(error),
        at: (point: LaunchPoint) => (point === crashesAt ? testEnd.promise : undefined),
        ...over,
        ledger,
      }
      const launch = createLaunch(options)
      const reconcile = createReconcile(options)
      const stop = async (): Promise<void> => {
        const stopped = launch.stop()
        testEnd.resolve()
        await stopped
        await reconcile.stop()
      }
      onTestFinished(stop)
      if (services.includes('reconcile')) await reconcile.start()
      if (services.includes('launch')) await launch.start()
      return { ledger, launch, reconcile, errors, stop }
    },
  }
}

/** A task of the pool as an outside message brings it. */
export async function specOf(id: string, change: Parameters<typeof submitted>[2] = {}): Promise<TaskSpec> {
  let spec: TaskSpec | undefined
  const taking = {
    submit: async (specs: readonly TaskSpec[]) => {
      spec = specs[0]
      return []
    },
  }
  await submitted(taking as never, id, { pool: POOL, ...change })
  if (spec === undefined) throw new Error('no spec')
  return spec
}
