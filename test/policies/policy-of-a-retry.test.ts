// A retry that names a policy (B5): the whole policy counts for the task from then on, in whatever process a failure is judged: a
// worker straight on the store, a server that a worker reports to, the sweep.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import {
  type Claimed,
  defineAction,
  type Engine,
  failed,
  implement,
  judgeThrown,
  poolName,
  seededRandom,
  silentLogger,
  type TaskId,
  VirtualClock,
  workerId,
} from '@reprise/core'
import { sweepOnce } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { createWorker } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES, type ScenarioStore } from '../virtual-time/scenario-store.ts'

/** `patient` matches no action: it counts only where a retry names it. */
const POLICIES = `
policies:
  - name: patient
    match: { actions: [nothing-at-all] }
    retries: 3
    backoff: { kind: fixed, delay: 7s, jitter: 0 }
    rules:
      - { name: odd-words, when: { message: "the moon is full" }, then: { reason: transient } }
    quota: { name: careful, window: 1m, limit: 1 }
    breaker: { min_failures: 50 }
    on_lost: hold
    escalation: { severity: critical, owner: night-shift }
`

async function setUp(store: ScenarioStore) {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-named-policy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'retry-policies.yaml')
  writeFileSync(file, POLICIES)
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine, file, clock })
  const client = await createClient({ engine })
  return { clock, engine, policies, client }
}

async function claimAs(engine: Engine, name: string): Promise<readonly Claimed[]> {
  const worker = workerId(name)
  const pools = [poolName('default')]
  const registration = { actions: null, host: 'here', version: '1', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools, ...registration })
  return (await engine.claim({ worker, epoch, pools, actions: null, limit: 1, leaseMs: 5_000 })).claimed
}

const decisions = async (engine: Engine, id: TaskId) =>
  (await engine.executions(id)).items.map(({ decision }) => decision)

describe.each(SCENARIO_STORES)('on $name', (store) => {
  test('B5: rules, retries, backoff, quota, breaker and escalation of the named policy count on a worker of the store', async () => {
    const { clock, engine, client } = await setUp(store)
    const howl = defineAction({ name: 'howl' })
    const handler = (): never => {
      throw new Error('the moon is full')
    }
    // It is given no policies: it follows those of the store.
    const options = { engine, clock, random: seededRandom(1), log: silentLogger }
    const worker = await createWorker({ ...options, actions: [implement(howl, handler)], concurrency: 1 })
    onTestFinished(() => worker.stop({ grace: 0 }))
    const { id } = await client.submit(howl)
    const quotas = new Set<string | null>()
    const isDead = async (attempt: number): Promise<boolean> => {
      const task = await engine.task(id)
      if (task?.state.status === 'waiting') quotas.add(task.state.quota)
      return task?.state.status === 'dead' && task.attempt === attempt
    }
    await runUntil(engine, clock, 600_000, () => isDead(1))
    expect(await decisions(engine, id)).toMatchObject([{ kind: 'dead', reason: 'not_retriable' }])

    await client.retryExecution({ id, policy: 'patient', reason: 'let it take its time' })
    await runUntil(engine, clock, 600_000, () => isDead(4))
    const policy = { name: 'patient', version: 1 }
    expect((await decisions(engine, id)).slice(1)).toMatchObject([
      { kind: 'retry', reason: 'transient', delayMs: 7_000, policy },
      { kind: 'retry', reason: 'transient', delayMs: 7_000, policy },
      { kind: 'dead', reason: 'retries_exhausted', policy, escalation: { severity: 'critical', owner: 'night-shift' } },
    ])
    const task = await client.getTask({ id })
    expect(task.policy).toBe('patient')
    expect((await client.getExecution({ id, attempt: 4 })).chain.maxRetries).toBe(3)
    // Two retries in one minute are one too many.
    expect([...quotas]).toContain('careful')
    // Three failures that it saw under the policy's own breaker.
    const { items: breakers } = await client.listBreakers()
    expect(breakers.map(({ name }) => name)).toEqual(['action:howl'])

    await client.redriveTasks({ ids: [id], reason: 'start over' })
    await runUntil(engine, clock, 600_000, () => isDead(5))
    expect((await decisions(engine, id)).at(-1)).toMatchObject({ kind: 'dead', reason: 'not_retriable' })
  })

  test('B5: the sweep judges a lost attempt by the named policy', async () => {
    const { clock, engine, client, policies } = await setUp(store)
    const { id } = await client.submit(defineAction({ name: 'howl', retry: { max: 5 } }))
    const [first] = await claimAs(engine, 'w1')
    if (first === undefined) throw new Error('Nothing could be claimed.')
    const circumstances = { now: first.startedAt, roll: 0 }
    const { failure, decision } = judgeThrown(policies.current(), first, new TypeError('odd'), circumstances)
    await engine.settle([failed(first, failure, decision)])
    await client.retryExecution({ id, policy: 'patient' })
    expect(await claimAs(engine, 'w2')).toMatchObject([{ attempt: 2, policy: 'patient' }])
    clock.jump(60_000)
    await sweepOnce(engine, seededRandom(1), policies.current())
    // `on_lost: hold` of the policy. The action itself says: retry.
    expect((await decisions(engine, id)).at(-1)).toMatchObject({ kind: 'dead', reason: 'outcome_unknown' })
  })
})
