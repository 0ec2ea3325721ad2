// Policies and packs from YAML files, through the SDKs, on each engine: what decides about a failure is the policy of the
// moment, every execution says which version it was, and a change of the file counts from then on.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import {
  type Execution,
  implement,
  PermanentError,
  retryChain,
  seededRandom,
  silentLogger,
  VirtualClock,
} from '@reprise/core'
import { loadPacks, openPolicies } from '@reprise/policies'
import { createWorker } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { counted, runUntil, SCENARIO_STORES, type ScenarioStore } from '../virtual-time/scenario-store.ts'

const PACK = `
pack: billing
defaults: { timeout_seconds: 60 }
actions:
  - { name: send-invoice, runtime: node, entrypoint: ./send-invoice.js, max_retries: 1, timeout_seconds: 7, queue_ttl_seconds: 30 }
  - { name: print, runtime: node, entrypoint: ./print.js }
`

const policies = (retries: number): string => `
rules:
  - { name: busy-printer, when: { message: "printer \\\\d+ is busy" }, then: { reason: transient } }
policies:
  - name: invoices
    match: { packs: [billing], actions: [send-*] }
    retries: ${retries}
    backoff: { kind: exponential, base: 1s, multiplier: 3, max: 5s, jitter: 0 }
`

/** A store, a worker under the policies of a file, and a handler that throws what its payload says. */
async function setUp(store: ScenarioStore) {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-policies-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'retry-policies.yaml')
  writeFileSync(file, policies(2))
  writeFileSync(join(folder, 'billing.yaml'), PACK)
  const clock = new VirtualClock()
  const engine = counted(await store.open({ clock }))
  onTestFinished(() => engine.close())
  const source = await openPolicies({ engine, file, clock })
  const [pack] = await loadPacks(join(folder, 'billing.yaml'))
  const declared = pack?.actions.map(({ action }) => action) ?? []
  const client = await createClient({ engine })
  const fail = (thrown: unknown): never => {
    if (thrown === 'permanent') throw new PermanentError('It is of no use.')
    throw Object.assign(new Error(String(thrown)), String(thrown).startsWith('E') ? { code: thrown } : {})
  }
  const options = { engine, clock, random: seededRandom(1), log: silentLogger, policies: source }
  const worker = await createWorker({ ...options, actions: declared.map((action) => implement(action, fail)) })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const ended = async (name: string, payload: unknown): Promise<readonly Execution[]> => {
    const action = declared.find((one) => one.name === name)
    if (action === undefined) throw new Error(`The pack declares no ${name}.`)
    const { id } = await client.submit(action, payload)
    await runUntil(engine, clock, 600_000, async () => (await engine.task(id))?.state.status === 'dead')
    return (await engine.executions(id)).items
  }
  return { file, source, declared, ended }
}

describe.each(SCENARIO_STORES)('on $name', (store) => {
  test('C2: a pack declares actions with their own time-out, retries and queue TTL', async () => {
    const { declared, ended } = await setUp(store)
    expect(declared.map(({ settings }) => settings)).toMatchObject([
      { timeoutMs: 7_000, maxRetries: 1, queueTtlMs: 30_000, pack: 'billing' },
      { timeoutMs: 60_000, maxRetries: null, queueTtlMs: null, pack: 'billing' },
    ])
    expect(await ended('print', 'ECONNRESET')).toHaveLength(1)
  })

  test('B7, C1, C4: the policy decides, its version is on record, and the chain can be followed', async () => {
    const { ended } = await setUp(store)
    const executions = await ended('send-invoice', 'ECONNRESET')
    expect(executions.map(({ decision }) => decision)).toMatchObject([
      { kind: 'retry', delayMs: 1_000, reason: 'connection', policy: { name: 'invoices', version: 1 } },
      { kind: 'retry', delayMs: 3_000, reason: 'connection', policy: { name: 'invoices', version: 1 } },
      { kind: 'dead', reason: 'retries_exhausted', policy: { name: 'invoices', version: 1 } },
    ])
    const waits = executions.map(
      (one, index) => one.dispatchedAt - (executions[index - 1]?.resolvedAt ?? one.dispatchedAt),
    )
    expect(waits).toEqual([0, 1_000, 3_000])
    expect(executions.map((one) => retryChain(one))).toMatchObject([
      { retryCount: 0, retryReason: null },
      { retryCount: 1, retryReason: 'connection' },
      { retryCount: 2, retryReason: 'connection', originalExecution: { attempt: 1 } },
    ])
  })

  test.each([
    ['ETIMEDOUT', 'timeout', true],
    ['printer 7 is busy', 'transient', true],
    ['temporarily out of order', 'transient', true],
    ['permission denied', 'permission', false],
    ['a riddle', 'unknown', false],
    ['permanent', 'permanent', false],
  ])('C3: %s is %s, retried: %s', async (thrown, reason, retried) => {
    const { ended } = await setUp(store)
    const executions = await ended('send-invoice', thrown)
    expect(executions[0]?.failure?.reason).toBe(reason)
    expect(executions).toHaveLength(retried ? 3 : 1)
  })

  test('B7: a change of the file counts from then on; one that is wrong changes nothing', async () => {
    const { file, source, ended } = await setUp(store)
    writeFileSync(file, policies(1))
    await source.look()
    await source.look()
    const changed = await ended('send-invoice', 'ECONNRESET')
    expect(changed).toHaveLength(2)
    expect(changed[1]?.decision).toMatchObject({ kind: 'dead', policy: { name: 'invoices', version: 2 } })
    writeFileSync(file, policies(-1))
    await source.look()
    await source.look()
    expect((await ended('send-invoice', 'ECONNRESET'))[1]?.decision?.policy).toEqual({ name: 'invoices', version: 2 })
    expect((await source.versions.list()).items).toHaveLength(2)
  })
})
