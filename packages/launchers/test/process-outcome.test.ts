// What a command is given, and what its end becomes.

import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anOrder, ended, never } from './fixture.ts'
import { aLauncher, failureIn, program, script } from './process-fixture.ts'

async function run(argv: readonly string[], options: Parameters<typeof aLauncher>[1] = {}, changes = {}) {
  const place = aLauncher(argv, options)
  const order = anOrder(changes)
  await place.launcher.launch(order, never)
  return { ...place, order, seen: await ended(place.launcher, order) }
}

test('the payload comes on standard input, and the result file is the result', async () => {
  const { seen } = await run(script('cat > "$REPRISE_RESULT"; echo chatter'))
  expect(seen).toMatchObject({ status: 'ended', outcome: { ok: true, result: '{"page":7}' } })
})

test('the payload comes as a file if that is asked for', async () => {
  const { seen } = await run(script('cat - "$REPRISE_INPUT" > "$REPRISE_RESULT"'), { input: 'file' })
  expect(seen).toMatchObject({ status: 'ended', outcome: { ok: true, result: '{"page":7}' } })
})

test.each([
  ['the last line of the output, if it is JSON', 'echo working; echo \'{"pages":3}\'; echo', '{"pages":3}'],
  ['nothing, if the last line is no JSON', 'echo 1; echo done', null],
  ['nothing, if there is no output', 'true', null],
])('without a result file the result is %s', async (_title, code, result) => {
  expect((await run(script(code))).seen).toMatchObject({ status: 'ended', outcome: { ok: true, result } })
})

test('the environment is the allow-list, what the command adds, and what Reprise says', async () => {
  process.env.REPRISE_TEST_SECRET = 'do not pass on'
  const code = 'require("fs").writeFileSync(process.env.REPRISE_RESULT, JSON.stringify(process.env))'
  const { seen, order } = await run(program(code), {
    commands: { render: { argv: program(code), env: { COLOUR: 'blue' } } },
    inheritEnv: ['PATH', 'REPRISE_NOT_SET'],
  })
  delete process.env.REPRISE_TEST_SECRET
  const outcome = seen.status === 'ended' && seen.outcome.ok ? seen.outcome.result : null
  expect(JSON.parse(outcome ?? 'null')).toEqual({
    PATH: process.env.PATH,
    COLOUR: 'blue',
    REPRISE_TASK_ID: 'task-1',
    REPRISE_ATTEMPT: '1',
    REPRISE_LEASE_TOKEN: order.token,
    REPRISE_RETRY_TOKEN: 'retry-1',
    REPRISE_ACTION: 'render',
    REPRISE_TENANT: 'acme',
    REPRISE_LABELS: '{"team":"blue"}',
    REPRISE_TIMEOUT_MS: '20000',
    REPRISE_RESULT: expect.stringContaining('/result') as string,
  })
})

test('intruder 10: shell metacharacters are literal', async () => {
  const hostile = [
    '$(touch pwned)',
    '`touch pwned`',
    '; touch pwned',
    '| touch pwned',
    '&& touch pwned',
    '*',
    "'",
    '\n',
  ]
  const code = 'console.log(JSON.stringify(process.argv.slice(1)))'
  const { seen, folder } = await run(['x'], {
    commands: { render: { argv: () => [...program(code), '--', ...hostile] } },
  })
  expect(seen).toMatchObject({ status: 'ended', outcome: { ok: true, result: JSON.stringify(hostile) } })
  expect(() => readFileSync(join(folder, 'pwned'))).toThrow('ENOENT')
})

test('tokens and the environment do not lie on the disk', async () => {
  const { order, runs } = await run(['/bin/true'], {
    commands: { render: { argv: ['/bin/true'], env: { SECRET: 'xyzzy' } } },
  })
  const files = globSync('**/*', { cwd: runs }).map((file) => join(runs, file))
  const texts = files.map((file) => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return ''
    }
  })
  expect(files.some((file) => file.endsWith('/order'))).toBe(true)
  expect([...files, ...texts].filter((text) => text.includes(order.token) || text.includes('xyzzy'))).toEqual([])
})

test.each([
  [3, 'unknown', false],
  [64, 'permanent', false],
  [65, 'permanent', false],
  [75, 'transient', true],
  [69, 'transient', true],
  [200, 'transient', true],
])('exit code %i is a failure with the last lines of stderr: %s', async (code, reason, retriable) => {
  const { seen } = await run(script(`echo one >&2; echo two >&2; exit ${code}`), { exitCodes: { 200: 'transient' } })
  const failure = failureIn(seen)
  expect(failure).toMatchObject({ code: `EXIT_${code}`, message: 'one\ntwo', reason, retriable, stack: null })
})

test('what stderr says counts where the exit code says nothing', async () => {
  const { seen } = await run(script('echo "connection refused" >&2; exit 1'))
  expect(failureIn(seen)).toMatchObject({ code: 'EXIT_1', reason: 'connection', retriable: true })
})

test('a long stderr is cut to its last whole lines, and stripped of colours', async () => {
  const code = `for (let i = 0; i < 2000; i++) console.error('\\x1b[31mline ' + i + '\\x1b[0m\\x07'); process.exitCode = 1`
  const failure = failureIn((await run(program(code))).seen)
  expect(failure.message).toMatch(/^line \d+\n/)
  expect(failure.message).toMatch(/line 1999$/)
  expect(failure.message.length).toBeLessThanOrEqual(4_096)
})

test('a signal is a failure; one from outside may be tried again', async () => {
  const crashed = failureIn((await run(script('kill -SEGV $$'))).seen)
  expect(crashed).toMatchObject({ code: 'SIGNAL_SIGSEGV', retriable: false })
  const killed = failureIn((await run(script('kill -KILL $$'))).seen)
  expect(killed).toMatchObject({ code: 'SIGNAL_SIGKILL', retriable: true })
})

test('a command that fails may say more in its result file', async () => {
  const error = { code: 'QUOTA', message: 'Not today.', retryable: true, retryAfterMs: 5000 }
  const { seen } = await run(script(`echo '${JSON.stringify({ error })}' > "$REPRISE_RESULT"; exit 1`))
  expect(failureIn(seen)).toMatchObject({ code: 'QUOTA', message: 'Not today.', retriable: true, retryAfterMs: 5000 })
})

test('a result that is no JSON, or too large, fails for good', async () => {
  const broken = failureIn((await run(script('echo "{" > "$REPRISE_RESULT"'))).seen)
  expect(broken).toMatchObject({ code: 'REPRISE_INVALID', retriable: false })
  const code = `require('fs').writeFileSync(process.env.REPRISE_RESULT, JSON.stringify('x'.repeat(2_000_000)))`
  const large = failureIn((await run(program(code))).seen)
  expect(large).toMatchObject({ code: 'REPRISE_TOO_LARGE', retriable: false })
})

test('much output on both streams does not hold the command up', async () => {
  const code = `for (let i = 0; i < 50; i++) { console.log('x'.repeat(99_999)); console.error('y'.repeat(99_999)) } console.log('[1]')`
  expect((await run(program(code))).seen).toMatchObject({ status: 'ended', outcome: { ok: true, result: '[1]' } })
})

test('A3: a command that is not there fails the launch and leaves nothing behind', async () => {
  const { launcher, runs } = aLauncher(['/no/such/program'])
  const order = anOrder()
  await expect(launcher.launch(order, never)).rejects.toMatchObject({ code: 'ENOENT', name: 'TransientError' })
  expect(await launcher.look([{ key: order.key, handle: null }])).toEqual([{ status: 'never' }])
  expect(readdirSync(runs).filter((name) => !name.startsWith('.'))).toEqual([])
})

test('an action without a command, and an argv that no process can have, are refused for good', async () => {
  const { launcher } = aLauncher(['/bin/true'], {
    commands: { other: { argv: ['/bin/true'] }, render: { argv: () => ['a\0b'] } },
  })
  await expect(launcher.launch(anOrder(), never)).rejects.toMatchObject({ name: 'PermanentError' })
  const unknown = { ...anOrder(), action: 'nothing' as never }
  await expect(launcher.launch(unknown, never)).rejects.toMatchObject({
    name: 'PermanentError',
    code: 'action_not_found',
  })
})

test('options are checked', () => {
  expect(() => aLauncher(['/bin/true'], { directory: 'relative' })).toThrow('absolute')
  expect(() => aLauncher([])).toThrow('argv')
  expect(() => aLauncher(['/bin/true'], { exitCodes: { 0: 'transient' } })).toThrow('from 1 to 255')
  expect(() =>
    aLauncher(['/bin/true'], { commands: { a: { argv: ['x'], env: { REPRISE_LEASE_TOKEN: 'x' } } } }),
  ).toThrow('REPRISE_LEASE_TOKEN')
  expect(() => aLauncher(['/bin/true'], { exitCodes: { 3: 'retry' as never } })).toThrow(
    "Exit code 3 means 'permanent' or 'transient', not 'retry'",
  )
  expect(() => aLauncher(['/bin/true'], { commands: { render: 'render --fast' as never } })).toThrow(
    "The command of action 'render' must be an object such as",
  )
  expect(() => aLauncher(['/bin/true'], { commands: undefined as never })).toThrow('needs commands')
  expect(() => aLauncher(['/bin/true'], { inheritEnv: 'PATH' as never })).toThrow("'inheritEnv' must be a list")
  expect(() => aLauncher(['/bin/true'], { speed: 1 } as never)).toThrow("no process launcher option 'speed'")
})

test('a command runs in its folder, which must be there', async () => {
  const { launcher, folder } = aLauncher(['x'])
  writeFileSync(join(folder, 'here'), '')
  await launcher.close()
  const { seen } = await run(['x'], { commands: { render: { argv: script('ls *'), cwd: folder } } })
  expect(seen).toMatchObject({ status: 'ended', outcome: { ok: true } })
  await expect(
    run(['x'], { commands: { render: { argv: ['/bin/true'], cwd: '/no/such/folder' } } }),
  ).rejects.toMatchObject({ message: expect.stringContaining('/no/such/folder') as string })
})
