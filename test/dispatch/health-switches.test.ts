// The switches for health-aware selection (C11): for one action by a policy, by a pack or in code, in pull pools and in directed
// ones. The worker is unhealthy: it answers no probe.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { defineAction, implement, seededRandom, silentLogger, VirtualClock } from '@reprise/core'
import { createOrchestrator } from '@reprise/orchestrator'
import { loadPacks, openPolicies } from '@reprise/policies'
import { createWorker, type WorkerOptions } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES, type ScenarioStore } from '../virtual-time/scenario-store.ts'

const POOL = 'directed'

const POLICIES = `
policies:
  - { name: on-call, match: { actions: ["urgent-*"] }, health_aware: false }
  - { name: again, match: { actions: [careful] }, health_aware: true }
`

async function setUp(store: ScenarioStore) {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-switches-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'retry-policies.yaml')
  writeFileSync(file, POLICIES)
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine, file, clock })
  const client = await createClient({ engine, clock })
  onTestFinished(() => client.close())
  /** Starts a worker that is not well. */
  const work = async (options: Pick<WorkerOptions, 'actions' | 'directedPools'>) => {
    const common = { engine, clock, random: seededRandom(1), log: silentLogger, sweep: false }
    const worker = await createWorker({ ...common, ...options })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const { epoch = 0 } = (await engine.worker(worker.id)) ?? {}
    await engine.probed(Array.from({ length: 3 }, () => ({ worker: worker.id, epoch, ok: false })))
  }
  const statuses = async (): Promise<Readonly<Record<string, string>>> => {
    const { items } = await engine.tasks({ limit: 100 })
    return Object.fromEntries(items.map(({ action, state }) => [action, state.status]))
  }
  const untilSucceeded = (count: number) =>
    runUntil(engine, clock, 600_000, async () => (await engine.counts()).succeeded === count)
  return { folder, clock, engine, policies, client, work, statuses, untilSucceeded }
}

const isDone = () => 'done'

describe.each(SCENARIO_STORES)('on $name', (store) => {
  test('C11: in a pull pool a policy, a pack or the action itself lets workers that are not well have its tasks', async () => {
    const { folder, client, work, statuses, untilSucceeded } = await setUp(store)
    writeFileSync(
      join(folder, 'pack.yaml'),
      'pack: night\nactions:\n  - { name: from-pack, runtime: node, entrypoint: ./x.js, health_aware: false }\n',
    )
    const [pack] = await loadPacks(join(folder, 'pack.yaml'))
    const actions = [
      defineAction({ name: 'urgent-mail', run: isDone }),
      defineAction({ name: 'in-code', healthAware: false, run: isDone }),
      // The policy counts before what the action says.
      defineAction({ name: 'careful', healthAware: false, run: isDone }),
      defineAction({ name: 'usual', run: isDone }),
      ...(pack?.actions.map(({ action }) => implement(action, isDone)) ?? []),
    ]
    await work({ actions })
    for (const { name } of actions) await client.submit(name, null)
    await untilSucceeded(3)
    expect(await statuses()).toEqual({
      'urgent-mail': 'succeeded',
      'in-code': 'succeeded',
      'from-pack': 'succeeded',
      careful: 'queued',
      usual: 'queued',
    })
    const { items } = await client.listTasks({})
    const explained = async (action: string) => {
      const { id } = items.find((task) => task.action === action) ?? { id: '' }
      return (await client.explainTask({ id })).gates.map(({ kind }) => kind)
    }
    expect(await explained('usual')).toEqual(['no_worker'])
    expect(await explained('careful')).toEqual(['no_worker'])
  })

  test('C11: in a directed pool, too', async () => {
    const { clock, engine, policies, client, work, statuses, untilSucceeded } = await setUp(store)
    const actions = ['urgent-mail', 'usual'].map((name) => defineAction({ name, pool: POOL, run: isDone }))
    await work({ actions, directedPools: [POOL] })
    const orchestrator = createOrchestrator({ engine, clock, directedPools: [POOL], policies, log: silentLogger })
    await orchestrator.start()
    onTestFinished(() => orchestrator.stop())
    for (const { name } of actions) await client.submit(name, null)
    await untilSucceeded(1)
    expect((await statuses())['urgent-mail']).toBe('succeeded')
    expect((await statuses()).usual).not.toBe('succeeded')
  })

  test('C11: status and explanation say where health does not matter', async () => {
    const { engine, client, work, untilSucceeded } = await setUp(store)
    const urgent = defineAction({ name: 'urgent-mail', run: isDone })
    await work({ actions: [urgent] })
    expect(await client.monitoring()).toMatchObject({ health: { aware: true, unawareBy: ['on-call'], takingWork: 0 } })
    await engine.pause({}, { actor: 'test', reason: 'to look at it' })
    const { id } = await client.submit(urgent)
    const { workers, gates } = await client.explainTask({ id })
    expect(workers).toMatchObject([{ verdict: 'eligible', reasons: ['3 probes in a row unanswered'] }])
    expect(gates.map(({ kind }) => kind)).toEqual(['paused'])
    await engine.resume({}, { actor: 'test', reason: 'seen' })
    await untilSucceeded(1)
  })
})
