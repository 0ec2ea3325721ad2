// Who applies the published policies, and who lags: what `policy list`, `doctor` and `workers` say.

import { type Engine, systemClock, workerId } from '@reprise/core'
import { createWorker, defineAction, silentLogger } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../src/doctor/finding.ts'
import { registered, serverAndStore, WAYS } from './server-and-store.ts'

const POLICIES = 'policies:\n  - name: all\n    retries: 1\n'
const FIGURES = { inFlight: 0, queueDepth: 0, loopLagMs: 0, memoryBytes: 0, maxQuietMs: 0, outlook: null }

/** A worker that applies this version, whatever comes. */
async function applying(engine: Engine, id: string, policyVersion: number): Promise<void> {
  const { worker, epoch } = await registered(engine, id)
  await engine.beat({ worker, epoch, ...FIGURES, draining: false, policyVersion })
}

async function published() {
  const files = { 'p.yaml': POLICIES, 'q.yaml': POLICIES.replace('1', '2') }
  // A version that came a moment ago is nobody's lag.
  const clock = { ...systemClock, now: () => systemClock.now() + 60_000 }
  const here = await serverAndStore({ files, clock })
  for (const file of ['p.yaml', 'q.yaml']) await here.over('store', 'policy', 'publish', file)
  return here
}

describe.each(WAYS)('over %s', (way) => {
  test('a worker that was given no policies applies what is published, and nobody lags', async () => {
    const here = await published()
    const echo = defineAction({ name: 'echo', run: (input: string) => input })
    const worker = await createWorker({ engine: here.engine, actions: [echo], id: 'w1', log: silentLogger })
    onTestFinished(() => worker.stop())
    // Its first heartbeat says so.
    while ((await here.engine.worker(workerId('w1')))?.policyVersion !== 2) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { stdout, stderr } = await here.over(way, 'policy', 'list')
    expect(stdout.split('\n').map((line) => line.split(/\s+/).filter(Boolean)[3])).toEqual([
      'WORKERS',
      '0',
      '1',
      undefined,
    ])
    expect(stderr).not.toContain('not apply')
    expect((await here.over(way, 'workers', 'w1')).stdout).toMatch(/policies +version 2/)
  })

  test('policy list and doctor name the workers that lag', async () => {
    const here = await published()
    await applying(here.engine, 'current', 2)
    await applying(here.engine, 'late', 1)
    await applying(here.engine, 'stubborn', 0)
    await registered(here.engine, 'over-http')
    const says = '2 of 3 workers do not apply version 2 yet: late (version 1), stubborn (no policies).'
    expect((await here.over(way, 'policy', 'list')).stderr).toContain(says)
    const { stdout } = await here.over(way, 'doctor', '-o', 'json', '--port', '0')
    const { findings } = JSON.parse(stdout) as { findings: Finding[] }
    expect(findings.filter(({ check }) => check === 'applied')).toMatchObject([{ state: 'warn', says }])
    expect(findings.find(({ check }) => check === 'policies')?.says).toContain('those published in the store count')
  })

  test('publish says that workers follow, and where to see it', async () => {
    const here = await serverAndStore({ files: { 'p.yaml': POLICIES } })
    const { stdout } = await here.over(way, 'policy', 'publish', 'p.yaml')
    expect(stdout).toContain(
      "Version 1 is in force. Workers apply it within seconds; 'reprise policy list' shows which do.",
    )
  })
})
