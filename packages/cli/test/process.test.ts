// The command line as people start it: real processes, without a terminal. Few of them; what can be tried without a process
// is tried in the other files.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'

const BIN = join(import.meta.dirname, '..', 'bin', 'reprise.mjs')
const folder = mkdtempSync(join(tmpdir(), 'reprise-process-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

function start(argv: readonly string[], node: readonly string[] = [process.execPath]): ChildProcess {
  const [command = '', ...options] = node
  return spawn(command, [...options, BIN, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(child: ChildProcess) {
  if (child.stdout === null || child.stderr === null) throw new Error('The process was started without pipes.')
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ])
  return { code, signal, stdout, stderr }
}

/** That nothing listens on, now. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Says on standard error, at its end, which packages were loaded. */
const TATTLE = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const loaded = new Set()
registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context) } })
process.on('exit', () => process.stderr.write(JSON.stringify([...loaded])))
`)}`

describe('bin/reprise.mjs', () => {
  test('--help loads no server, driver or parser that it does not need', async () => {
    const { code, stdout, stderr } = await ended(start(['--help'], [process.execPath, '--import', TATTLE]))
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: reprise')])
    const loaded = JSON.parse(stderr) as string[]
    const packages = new Set(
      loaded.flatMap((url) => /(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []),
    )
    // Settings are declared with zod, and read by the fields of policies: neither brings a parser along.
    expect([...packages].sort()).toEqual(['cli', 'commander', 'core', 'policies', 'zod'])
  })

  test('with json there is nothing on standard output but JSON, and errors are on standard error', async () => {
    const fine = await ended(start(['config', 'print', '-o', 'json']))
    expect([fine.code, fine.stderr]).toEqual([0, ''])
    expect(JSON.parse(fine.stdout)).toContainEqual(expect.objectContaining({ setting: 'port', value: 7440 }))
    const wrong = await ended(start(['config', 'print', '-o', 'json', '--config', 'nowhere.yaml']))
    expect([wrong.code, wrong.stdout]).toEqual([2, ''])
    expect(wrong.stderr).toMatch(/^error: The configuration has a problem:.*code: REPRISE_INVALID/s)
  })

  test('a reader that goes away is no error', async () => {
    const child = start(['completion', 'fish'])
    child.stdout?.destroy()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('a service goes on when nobody reads what it says', async () => {
    const child = start(['core', '--port', '0', '--engine', 'sqlite::memory:'])
    child.stdout?.destroy()
    // What it says on standard output comes between this and its stop, whenever it is asked.
    const said = await firstMatch(child, /"url":"(http:[^"]+)"/)
    expect((await fetch(`${said}/healthz`)).status).toBe(200)
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  test.runIf(existsSync('/dev/full'))(
    'fault 24: a service goes on when there is no room for its log, and a command whose answer finds no room fails',
    async () => {
      const full = openSync('/dev/full', 'w')
      const onFullDisk = (argv: readonly string[]): ChildProcess =>
        spawn(process.execPath, [BIN, ...argv], {
          cwd: folder,
          env: { PATH: process.env.PATH },
          stdio: ['ignore', full, full],
        })
      const port = await freePort()
      const service = onFullDisk(['core', '--port', String(port), '--engine', 'sqlite::memory:'])
      const command = onFullDisk(['config', 'print', '-o', 'json'])
      const [exit, code] = [once(service, 'exit'), once(command, 'exit')]
      await expect
        .poll(() => fetch(`http://127.0.0.1:${port}/healthz`).then(({ status }) => status, String), { timeout: 30_000 })
        .toBe(200)
      service.kill('SIGTERM')
      expect(await exit).toEqual([0, null])
      expect(await code).toEqual([1, null])
      closeSync(full)
    },
    60_000,
  )

  test('of several up that start in the same instant on one folder, one runs', async () => {
    const data = join(folder, 'contested')
    const words = ['up', '--no-demo', '--port', '0', '--data', data]
    const children = Array.from({ length: 4 }, () => start(words))
    const outcomes = children.map(async (child) => {
      const end = ended(child)
      const isRunning = await Promise.race([
        firstMatch(child, /(The core listens)/).catch(() => null),
        end.then(() => null),
      ])
      return { child, end, isRunning: isRunning !== null }
    })
    const settled = await Promise.all(outcomes)
    const running = settled.filter(({ isRunning }) => isRunning)
    for (const { child } of running) child.kill('SIGTERM')
    const refused = await Promise.all(settled.filter(({ isRunning }) => !isRunning).map(({ end }) => end))
    expect(running).toHaveLength(1)
    for (const { code, stderr } of refused) {
      expect(code).toBe(1)
      expect(stderr).toMatch(/Another server (starts|runs) on this data/)
    }
    expect(await running[0]?.end).toMatchObject({ code: 0 })
    const next = start(words)
    await firstMatch(next, /(The core listens)/)
    const last = ended(next)
    next.kill('SIGTERM')
    expect(await last).toMatchObject({ code: 0 })
  })

  test('SIGINT ends a command with 130', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const child = start(['doctor', '--url', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`])
    const outcome = ended(child)
    await once(silent, 'request')
    child.kill('SIGINT')
    expect(await outcome).toMatchObject({ code: 130, signal: null, stdout: '' })
    silent.closeAllConnections()
    silent.close()
  })
})

describe('on a Node that is too old', () => {
  /** The same Node, which says that it is an older one; what it starts is the one in node_modules. */
  const OLD = `data:text/javascript,${encodeURIComponent("Object.defineProperty(process.versions, 'node', { value: '20.0.0' })")}`
  /** Nothing is found on any disk. */
  const ALONE = `data:text/javascript,${encodeURIComponent(
    "import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; fs.existsSync = () => false; syncBuiltinESMExports()",
  )}`
  const old = [process.execPath, '--import', OLD]

  test('the one in node_modules runs the command: same words, output and exit code', async () => {
    const fine = await ended(start(['version', '-o', 'json'], old))
    expect(fine).toMatchObject({ code: 0, stderr: '' })
    expect((JSON.parse(fine.stdout) as { node: string }).node).toMatch(/^2[4-9]\./)
    expect(await ended(start(['no-such-command'], old))).toMatchObject({ code: 2, stdout: '' })
  })

  test('without another one, it says so in one line', async () => {
    const { code, stdout, stderr } = await ended(start(['version'], [...old, '--import', ALONE]))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: reprise needs Node 24 or newer[^\n]*\n$/)
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)('after %s the command is not left behind', async (signal) => {
    writeFileSync(join(folder, 'actions.mjs'), ACTIONS)
    const child = start(['worker', './actions.mjs', '--engine', `sqlite:${signal}.db`], old)
    const outcome = ended(child)
    await firstMatch(child, /The worker takes tasks\./)
    child.kill(signal)
    // Standard error ends when nobody holds it any more: the worker has gone as well, and in order.
    const { code, stderr } = await outcome
    expect(code).toBe(signal === 'SIGTERM' ? 0 : null)
    expect(stderr).toContain('The worker has stopped.')
  })
})

/** An action by its shape, so that the module needs no package. */
const ACTIONS = `
const settings = { timeoutMs: 1000, maxRetries: 0, maxLosses: 3, queueTtlMs: null, retryUnknown: false,
  backoff: { kind: 'exponential', baseMs: 1000, multiplier: 2, maxMs: 300000, jitter: 0.2 } }
export const action = { name: 'nothing', pool: 'default', settings, input: null, reconcile: null, run: () => null }
`

/** What the first group of the pattern matches in what it says on standard error; fails if it ends before. */
function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const found = pattern.exec(said)
      if (found !== null) resolve(found[1] ?? '')
    })
    child.once('exit', (code) => reject(new Error(`It ended with ${code} before that: ${said}`)))
  })
}
