// Launch pools that the configuration file declares, run by the orchestrator of the command line.

import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { expect, test } from 'vitest'
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
  const client = await createClient({ engine })
  const task = await client.submit('report.build', {}, { pool: 'reports' })
  expect(await task.result({ timeout: '20s' })).toEqual({ cwd: join(folder, 'etc') })
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
