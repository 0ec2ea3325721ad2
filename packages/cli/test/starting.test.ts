// What happens around the start of the roles: a second server on the same data, and somebody who asks for the end before the
// start has come to one.

import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readLocalServer, writeLocalServer } from '../src/local-server.ts'
import { shell } from './shell.ts'

const urlIn = (line: string): string => String((JSON.parse(line) as { readonly url: string }).url)

test('a second up on the same data is refused, and the first goes on as it was', async () => {
  const first = shell()
  const data = join(first.folder, '.reprise')
  const running = first.reprise('up', '--port', '0', '-o', 'json')
  const url = urlIn(await first.heard(/The core listens/, running))
  await first.heard(/"link"/, running)
  const local = await readLocalServer(data)
  const second = await shell().reprise('up', '--port', '0', '--data', data)
  expect(second).toMatchObject({ exitCode: 1, stdout: '' })
  expect(second.stderr).toContain(`Another server runs on this data already, at ${url}.`)
  expect(second.stderr).toContain('--data')
  expect(await readLocalServer(data)).toEqual(local)
  const info = await fetch(`${url}/api/v1/info`, { headers: { authorization: `Bearer ${local?.token}` } })
  expect(info.status).toBe(200)
  first.ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0 })
})

test('word of a server that has gone, or of one that is not this one, keeps nobody from starting', async () => {
  const other = shell()
  const elsewhere = other.reprise('up', '--port', '0', '-o', 'json')
  const url = urlIn(await other.heard(/The core listens/, elsewhere))
  await other.heard(/"link"/, elsewhere)
  for (const stale of [url, 'http://127.0.0.1:1']) {
    const here = shell()
    await writeLocalServer(join(here.folder, '.reprise'), {
      url: stale,
      token: `rpr_${'a'.repeat(16)}_${'b'.repeat(64)}`,
    })
    const running = here.reprise('up', '--port', '0', '-o', 'json')
    await here.heard(/"link"/, running)
    here.ask('SIGTERM')
    expect(await running).toMatchObject({ exitCode: 0 })
  }
  other.ask('SIGTERM')
  expect(await elsewhere).toMatchObject({ exitCode: 0 })
})

test('intruder 15: the embedded store is readable by its owner only', async () => {
  const here = shell()
  const running = here.reprise('up', '--port', '0', '-o', 'json')
  await here.heard(/"link"/, running)
  for (const file of ['reprise.db', 'reprise.db-wal', 'reprise.db-shm']) {
    expect([file, statSync(join(here.folder, '.reprise', file)).mode & 0o777]).toEqual([file, 0o600])
  }
  here.ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0 })
})

test('intruder 15: a data folder that others can write to is mended, and it is said', async () => {
  const here = shell()
  const data = join(here.folder, '.reprise')
  mkdirSync(data)
  chmodSync(data, 0o777)
  const running = here.reprise('up', '--port', '0', '-o', 'json')
  await here.heard(/Other users could write to the data folder/, running)
  await here.heard(/"link"/, running)
  expect(statSync(data).mode & 0o777).toBe(0o700)
  here.ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0 })
})

test('intruder 15: a data folder of another user is refused', async () => {
  const here = shell()
  const data = join(here.folder, '.reprise')
  mkdirSync(data)
  const own = vi.spyOn(process, 'getuid').mockReturnValue(statSync(data).uid + 1)
  onTestFinished(() => own.mockRestore())
  const ran = await here.reprise('up', '--port', '0')
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ran.stderr).toMatch(/belongs to another user.*\n.*--data/)
})

test.each<[string, (data: string) => void]>([
  ['is a file', (data) => writeFileSync(data, '')],
  [
    'can not be locked',
    (data) => {
      mkdirSync(join(data, 'up.lock'), { recursive: true })
    },
  ],
])('a data folder that %s is named, with what to do', async (_, prepare) => {
  const here = shell()
  const data = join(here.folder, 'data')
  prepare(data)
  const ran = await here.reprise('up', '--port', '0', '--data', data)
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ran.stderr).toContain(`error: The data folder ${data} can't be used: `)
  expect(ran.stderr).toContain('--data')
})

/** Takes connections and never says a word: a store that hangs. */
async function silentServer(): Promise<{ readonly port: number; readonly reached: Promise<unknown> }> {
  const sockets = new Set<Socket>()
  const reached = Promise.withResolvers<undefined>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    reached.resolve(undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return { port: address.port, reached: reached.promise }
}

test.each([['core'], ['up'], ['orchestrator']])(
  'fault 26: %s that is asked to end while the store keeps it waiting ends in order, without an error',
  async (role) => {
    const silent = await silentServer()
    const here = shell()
    const port = role === 'orchestrator' ? [] : ['--port', '0']
    const running = here.reprise(role, '--engine', `redis://127.0.0.1:${silent.port}`, ...port)
    await silent.reached
    here.ask('SIGTERM')
    expect(await running).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.not.stringContaining('error:') as string,
    })
  },
)

test('21: up says where tasks are kept and what chose that place, and proposes a retention', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const here = shell({ env: { REDIS_URL: redis.url } })
  const running = here.reprise('up', '--port', '0')
  await here.heard(/keeps accepted tasks in memory only/, running)
  await here.heard(new RegExp(`Tasks are kept in ${redis.url}.* \\(by environment REDIS_URL`), running)
  await here.heard(/kept for ever.*retention: \{/, running)
  here.ask('SIGTERM')
  expect(await running).toMatchObject({ exitCode: 0 })
})

test.each([
  ['at a terminal the demo leaves its first lines in sight', { columns: 100 }, [], /^$/, true],
  ['at a terminal the demo logs as it is told', { columns: 100 }, ['--log-level', 'info'], /The worker runs/, false],
  ['elsewhere the demo logs as usual', {}, [], /The worker runs/, false],
] as const)('%s', async (_, terminal, options, logged, isQuiet) => {
  const here = shell(terminal)
  const running = here.reprise('up', '--demo', '--port', '0', ...options)
  await here.heard(/Without the demo/, running)
  here.ask('SIGTERM')
  const ran = await running
  expect(ran.stderr).toMatch(logged)
  expect(ran.stdout.includes('npx reprise watch')).toBe(isQuiet)
})
