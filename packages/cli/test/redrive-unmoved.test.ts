// A redrive or a run of a runbook that no orchestrator moves: who watches it is told so, instead of waiting for ever.

import { expect, test } from 'vitest'
import { seeded, serverAndStore } from './server-and-store.ts'

test('redrive start --watch says that no orchestrator moves the redrive, and can be left', async () => {
  const here = await serverAndStore()
  await seeded(here.engine)
  const running = here.over('store', 'redrive', 'start', '--all', '--reason', 'fixed', '--yes', '--watch')
  await here.heard(/No orchestrator moves this redrive\. Start one: 'reprise orchestrator'/, running)
  here.ask('SIGINT')
  const { exitCode, stderr } = await running
  expect(exitCode).not.toBe(0)
  expect(stderr.match(/No orchestrator/g)).toHaveLength(1)
})

test('recovery-runbook says that no orchestrator moves the run, and can be left', async () => {
  const here = await serverAndStore()
  const { group } = await seeded(here.engine)
  const running = here.over('store', 'recovery-runbook', 'replay-after-outage', '--input', `fingerprint=${group}`)
  await here.heard(/No orchestrator moves this run\. Start one: 'reprise orchestrator'/, running)
  here.ask('SIGINT')
  const { exitCode, stderr } = await running
  expect(exitCode).not.toBe(0)
  expect(stderr.match(/No orchestrator/g)).toHaveLength(1)
})
