// A split deployment of real processes over one Redis: two cores, two orchestrators, four workers, and one HTTP worker in
// Python. Any two of them are killed while tasks run: every task ends, and none is settled twice.

import { once } from 'node:events'
import type { Execution, TaskId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { type Role, startCore, startOrchestrator, startPythonWorker, startWorker } from './processes/roles.ts'

const TASKS = 300
const TEXTS = 30
const AS_ADMIN = { 'x-dev-user': 'test', 'content-type': 'application/json' }

async function deploy() {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const [core1, core2] = await Promise.all([startCore('core-1', redis.url), startCore('core-2', redis.url)])
  const made = await fetch(`${core1.url}/api/v1/tokens`, {
    method: 'POST',
    headers: AS_ADMIN,
    body: JSON.stringify({ name: 'python', role: 'worker' }),
  })
  expect(made.status).toBe(201)
  const { token } = (await made.json()) as { readonly token: string }
  const others = await Promise.all([
    startOrchestrator('orchestrator-1', redis.url),
    startOrchestrator('orchestrator-2', redis.url),
    startWorker('worker-1', redis.url),
    startWorker('worker-2', redis.url),
    startWorker('worker-3', redis.url),
    startWorker('worker-4', redis.url),
    // Served by the second core, also while the first one is down.
    startPythonWorker('python', core2.url, token),
  ])
  const engine = await openRedisEngine({ url: redis.url })
  onTestFinished(() => engine.close())
  return {
    roles: new Map<string, Role>([core1, core2, ...others].map((role) => [role.name, role])),
    core1,
    core2,
    engine,
  }
}

async function submit(url: string): Promise<readonly string[]> {
  const lines = [
    ...Array.from({ length: TASKS }, (_, n) => ({ id: `w${n}`, action: 'split.work', payload: { n } })),
    ...Array.from({ length: TEXTS }, (_, n) => ({
      id: `t${n}`,
      action: 'word-count',
      payload: { text: `${n} and on` },
      settings: { retry: { max: 3 } },
    })),
  ]
  const answered = await fetch(`${url}/api/v1/tasks/bulk`, {
    method: 'POST',
    headers: { ...AS_ADMIN, 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  })
  const answers = (await answered.text()).trim().split('\n')
  expect(answers.filter((line) => line.includes('"accepted"'))).toHaveLength(lines.length)
  return lines.map(({ id }) => id)
}

const PAIRS =
  process.env.REPRISE_LONG === undefined
    ? [
        ['core-1', 'worker-1'],
        ['orchestrator-1', 'worker-2'],
      ]
    : [
        ['core-1', 'orchestrator-1'],
        ['core-1', 'worker-1'],
        ['core-1', 'python'],
        ['orchestrator-1', 'orchestrator-2'],
        ['orchestrator-1', 'worker-1'],
        ['orchestrator-1', 'python'],
        ['worker-1', 'worker-2'],
        ['worker-1', 'python'],
      ]

test.each(PAIRS)(
  'A13, A15: killing %s and %s loses nothing and settles nothing twice',
  async (...victims) => {
    const { roles, core2, engine } = await deploy()
    const ids = await submit(core2.url)
    // In the middle of it.
    for (;;) {
      const { succeeded, running } = await engine.counts()
      if (succeeded > 20 && running > 0) break
    }
    for (const name of victims) {
      const role = roles.get(name)
      if (role === undefined) throw new Error(`There is no ${name}.`)
      role.child.kill('SIGKILL')
      await once(role.child, 'exit')
    }
    // Who else could run these is gone for good; the restarted one is another worker.
    if (victims.includes('python'))
      return expectEachSucceededOnce(
        engine,
        ids.filter((id) => id.startsWith('w')),
      )
    await expectEachSucceededOnce(engine, ids)
    expect((await fetch(`${core2.url}/readyz`)).status).toBe(200)
  },
  180_000,
)

async function expectEachSucceededOnce(
  engine: Awaited<ReturnType<typeof openRedisEngine>>,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    let task = await engine.task(id as TaskId)
    while (task !== null && task.state.status !== 'succeeded') {
      expect([id, task.state.status]).not.toEqual([id, 'dead'])
      await engine.wait({ tasks: [task.id] }, 2_000)
      task = await engine.task(id as TaskId)
    }
    const { items } = await engine.executions(id as TaskId)
    const successes = items.filter(({ status }: Execution) => status === 'succeeded')
    expect([id, successes.length, items.at(-1)?.status]).toEqual([id, 1, 'succeeded'])
  }
}
