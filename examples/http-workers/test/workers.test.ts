// Both example workers against a real server: they run what they can, fail what they can't, drain when an operator says so and
// stop when they are asked to.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { openFlags } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { expect, onTestFinished, test } from 'vitest'

const folder = new URL('..', import.meta.url)

async function startServer() {
  const engine = await openSqliteEngine({ path: ':memory:' })
  onTestFinished(() => engine.close())
  const policies = await openPolicies({ engine })
  const flags = await openFlags({ engine })
  const server = await createServer({ engine, policies, flags, version: 'test', maxRetries: 1, port: 0 })
  await server.start()
  onTestFinished(() => server.stop())
  const scopes = ['read', 'submit', 'operate', 'tokens', 'work'] as const
  const { token } = await server.access.tokens.create(
    { name: 'all', scopes: ['read', 'submit', 'operate', 'work'] },
    { kind: 'user', actor: 'test', name: 'test', scopes: new Set(scopes), tenants: null },
  )
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answered = await fetch(`${server.url()}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect(answered.ok).toBe(true)
    return answered.json()
  }
  return { url: server.url(), token, ask }
}

/** A worker's process, and what it has said. */
function startWorker(command: string, file: string, env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(command, [file], { cwd: folder, env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      for (const look of waiting) look()
    })
  }
  const says = (what: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines.some((line) => what.test(line))) resolve()
      }
      waiting.add(look)
      child.once('exit', () => reject(new Error(`It ended without saying ${what}: ${lines.join(' | ')}`)))
      look()
    })
  return { child, says, exit: once(child, 'exit') }
}

test.each([
  { language: 'Python', command: 'python3', file: 'worker.py', action: 'word-count', result: { words: 4 } },
  { language: 'bash', command: 'bash', file: 'worker.sh', action: 'shout', result: { text: 'TO BE "OR" NOT\n$HOME' } },
])(
  'A11, A16: a worker in $language runs tasks, reports a failure, and stops when asked',
  async (example) => {
    const { url, token, ask } = await startServer()
    const text = 'to be "or" not\n$HOME'.slice(0, example.action === 'shout' ? undefined : 14)
    await ask('POST', '/api/v1/tasks', { id: 'good', action: example.action, payload: { text } })
    await ask('POST', '/api/v1/tasks', { id: 'bad', action: example.action, payload: {} })
    const worker = startWorker(example.command, example.file, {
      REPRISE_URL: url,
      REPRISE_TOKEN: token,
      REPRISE_WORKER: 'example',
    })
    await worker.says(/is ready/)
    expect(await ask('GET', '/api/v1/tasks/good?wait=60s')).toMatchObject({
      state: { status: 'succeeded', result: example.result },
    })
    expect(await ask('GET', '/api/v1/tasks/bad?wait=60s')).toMatchObject({
      state: { status: 'dead', reason: 'not_retriable' },
    })
    expect(await ask('GET', '/api/v1/workers/example')).toMatchObject({ worker: 'example' })
    worker.child.kill('SIGTERM')
    expect(await worker.exit).toEqual([0, null])
    expect(await ask('GET', '/api/v1/workers')).toMatchObject({ items: [] })
  },
  90_000,
)
