// Orchestrators that are killed by SIGKILL at each step of a launch, on every launcher and engine: one attempt is accepted, nothing is
// stuck, and all slots are free again. Without REPRISE_LONG, a few of all cases.

import { expect, test } from 'vitest'
import { cloudRun, ecs, kubernetes, lambdaByEvent, lambdaByRequest } from './cloud-stages.ts'
import { CRASH_POINTS, type CrashPoint, STORES, type StoreKind, survivesCrash } from './crash-case.ts'
import { http, processes } from './local-stages.ts'
import type { SteppedFactory } from './steps.ts'

const isLong = process.env.REPRISE_LONG === '1'
const FACTORIES = [processes, http, ecs, lambdaByEvent, lambdaByRequest, cloudRun, kubernetes]

/** Each takes seconds. Child processes are killed by test/crashes as well. */
const FEW: readonly (readonly [SteppedFactory, CrashPoint, StoreKind])[] = [
  [ecs, 'started', 'sqlite'],
  [lambdaByEvent, 'noted', 'redis'],
  [cloudRun, 'started', 'sqlite'],
  [kubernetes, 'looked', 'redis'],
  [http, 'launched', 'redis'],
]

const ALL = STORES.flatMap((store) =>
  FACTORIES.flatMap((factory) => CRASH_POINTS.map((point) => [factory, point, store] as const)),
)
const CASES = (isLong ? ALL : FEW).map(([factory, point, store]) => ({ name: factory.name, factory, point, store }))

test.each(CASES)(
  'A15, fault 3, fault 4: the orchestrator of $name is killed at "$point" ($store): one attempt is accepted, nothing is stuck',
  async ({ factory, point, store }) => {
    const how = await survivesCrash(factory, point, store)
    process.stdout.write(`${store}, ${factory.name}, ${point}: ${how ?? 'there is no such step'}\n`)
    expect(how ?? '').not.toContain('running')
  },
  300_000,
)
