// What people at the command line are told about alerts, work orders and runbooks: that nobody watches, and runbooks in TypeScript.

import { systemClock } from '@reprise/core'
import { createAlerts } from '@reprise/orchestrator'
import { describe, expect, test } from 'vitest'
import { serverAndStore, WAYS } from './server-and-store.ts'

const RUNBOOK = `
interface Step { readonly name: string; readonly wait: string }
const steps: readonly Step[] = [{ name: 'rest', wait: '1s' }]
export default { name: 'own', title: 'Own', steps }
`
const UNWATCHED = /No orchestrator watches this store\. Start one: 'reprise orchestrator', or 'reprise up'\./

describe.each(WAYS)('over %s', (way) => {
  test.each(['alerts', 'workorders'])('an empty list of %s says so if no orchestrator watches', async (command) => {
    const here = await serverAndStore()
    const { exitCode, stderr } = await here.over(way, command)
    expect([exitCode, UNWATCHED.test(stderr)]).toEqual([0, true])
    const watcher = createAlerts({ engine: here.engine, clock: systemClock })
    await watcher.start()
    await expect.poll(async () => UNWATCHED.test((await here.over(way, command)).stderr)).toBe(false)
    await watcher.stop()
  })

  test('a runbook that is written in TypeScript is published', async () => {
    const here = await serverAndStore({ files: { 'own.ts': RUNBOOK } })
    expect((await here.over(way, 'runbook', 'publish', 'own.ts')).stdout).toContain('own is version 1 now.')
    expect((await here.over(way, 'runbook', 'show', 'own')).stdout).toContain('"wait": "1s"')
  })
})
