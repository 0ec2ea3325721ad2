// Launch pools that the configuration file declares, run by the orchestrator of the command line.

import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { systemClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { resolveConfiguration } from '../src/configuration/resolve.ts'
import { configured } from '../src/roles/orchestrator.ts'
import { shell } from './shell.ts'

const COMMAND = 'require("node:fs").writeFileSync(process.env.REPRISE_RESULT, JSON.stringify({ cwd: process.cwd() }))'

test('A7: a command of the file runs for each task of its pool, from the folder of the file', async () => {
  const pools = {
    launch: [
      {
        pool: 'reports',
        slots: 2,
        process: { commands: { 'report.build': { argv: [process.execPath, '-e', COMMAND] } } },
      },
    ],
  }
  const { folder, ask, heard, reprise } = shell({ files: { 'etc/reprise.yaml': JSON.stringify({ pools }) } })
  const engine = `sqlite:${join(folder, 'store.db')}`
  const running = reprise('orchestrator', '--config', 'etc/reprise.yaml', '--engine', engine)
  await heard(/The orchestrator runs/, running)
  await heard(/no address to call back to: set public_url/, running)
  const client = await createClient({ engine })
  const task = await client.submit('report.build', {}, { pool: 'reports' })
  expect(await task.result({ timeout: '20s' })).toEqual({ cwd: join(folder, 'etc') })
  ask()
  expect(await running).toMatchObject({ exitCode: 0 })
  await client.close()
})

test('A7: beside a server, launched workers are told to call that one back', async () => {
  const tell =
    'require("node:fs").writeFileSync(process.env.REPRISE_RESULT, JSON.stringify(process.env.REPRISE_CALLBACK_URL ?? null))'
  const launch = [
    { pool: 'reports', slots: 1, process: { commands: { tell: { argv: [process.execPath, '-e', tell] } } } },
  ]
  const { folder, ask, heard, reprise } = shell({ files: { 'reprise.yaml': JSON.stringify({ pools: { launch } }) } })
  const engine = `sqlite:${join(folder, 'store.db')}`
  const running = reprise('up', '--engine', engine, '--port', '0')
  const line = await heard(/http:\/\/127\.0\.0\.1:\d+/, running)
  const client = await createClient({ engine })
  const task = await client.submit('tell', {}, { pool: 'reports' })
  const [server = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
  expect(await task.result({ timeout: '20s' })).toBe(`${server}/task-complete`)
  ask()
  expect(await running).toMatchObject({ exitCode: 0 })
  await client.close()
})

test('C2: actions of packs run by their entrypoint, in any runtime', async () => {
  const action = (text: string) => `pool: reports\n${text}`
  const { folder, ask, heard, reprise } = shell({
    files: {
      'reprise.yaml': JSON.stringify({
        packs: ['packs'],
        pools: { launch: [{ pool: 'reports', slots: 3, process: { runtimes: { js: [process.execPath] } } }] },
      }),
      'packs/tools/actions/by-bash.yaml': action('runtime: bash\nentrypoint: [by-bash.sh, "two words"]'),
      'packs/tools/actions/by-bash.sh': 'printf \'{"by":"bash","got":"%s"}\' "$1" > "$REPRISE_RESULT"\n',
      'packs/tools/actions/by-python.yaml': action('runtime: python3\nentrypoint: by-python.py'),
      'packs/tools/actions/by-python.py':
        'import json, os, sys\njson.dump({"by": "python", "got": json.load(sys.stdin)["x"]}, open(os.environ["REPRISE_RESULT"], "w"))\n',
      'packs/tools/actions/by-js.yaml': action('runtime: js\nentrypoint: by-js.cjs'),
      'packs/tools/actions/by-js.cjs':
        'require("node:fs").writeFileSync(process.env.REPRISE_RESULT, JSON.stringify({ by: "js", got: 0 }))',
    },
  })
  const engine = `sqlite:${join(folder, 'store.db')}`
  const running = reprise('orchestrator', '--engine', engine)
  await heard(/The orchestrator runs/, running)
  const client = await createClient({ engine })
  const ran = async (name: string) =>
    (await client.submit(name, { x: 7 }, { pool: 'reports' })).result({ timeout: '60s' })
  expect(await Promise.all(['by-bash', 'by-python', 'by-js'].map(ran))).toEqual([
    { by: 'bash', got: 'two words' },
    { by: 'python', got: 7 },
    { by: 'js', got: 0 },
  ])
  ask()
  expect(await running).toMatchObject({ exitCode: 0 })
  await client.close()
})

test('an HTTP pool whose secret can not be read is refused at the start', async () => {
  const pools = {
    launch: [{ pool: 'plugins', slots: 2, http: { base_url: 'https://plugins.example', secret_file: 'nowhere' } }],
  }
  const { reprise } = shell({ files: { 'reprise.yaml': JSON.stringify({ pools }) } })
  const { exitCode, stderr } = await reprise('orchestrator', '--engine', 'sqlite::memory:')
  expect(exitCode).toBe(2)
  expect(stderr).toContain("The secret of the launch pool 'plugins' can't be read")
})

test('D2: re-picks and their jitter come from the configuration', async () => {
  const { folder } = shell({ files: { 'reprise.yaml': 'dispatch: { max_retries: 5, jitter: 40ms }' } })
  const of = async (env: Record<string, string>) =>
    configured(await resolveConfiguration({ flags: {}, env, cwd: folder }), systemClock)
  expect(await of({})).toMatchObject({ dispatch: { maxDispatchRetries: 5, repickJitterMs: 40 } })
  expect(await of({ REPRISE_MAX_DISPATCH_RETRIES: '1' })).toMatchObject({ dispatch: { maxDispatchRetries: 1 } })
})

test('A14: MAX_RETRIES is the ceiling of the orchestrator as well', async () => {
  const { folder } = shell()
  const of = async (env: Record<string, string>) =>
    configured(await resolveConfiguration({ flags: {}, env, cwd: folder }), systemClock)
  expect(await of({})).toMatchObject({ maxRetries: 1 })
  expect(await of({ MAX_RETRIES: '4' })).toMatchObject({ maxRetries: 4 })
})
