// What createWorker refuses, with words that help, and the defaults it fills in.

import { createWorker, defineAction, type WorkerOptions } from '@reprise/worker'
import { expect, test } from 'vitest'
import { workerConfiguration } from '../src/configuration.ts'

const action = defineAction({ name: 'work', pool: 'gpu', run: () => {} })
const declared = defineAction({ name: 'declared' })
const engine = 'sqlite::memory:'

test('defaults', () => {
  const configuration = workerConfiguration({ engine, actions: [action] })
  expect(configuration).toMatchObject({
    pools: ['gpu'],
    actions: ['work'],
    concurrency: 10,
    leaseMs: 15_000,
    heartbeatMs: 5_000,
    stopGraceMs: 30_000,
    sweep: true,
    retention: null,
  })
  expect(configuration.id).not.toBe(workerConfiguration({ engine, actions: [action] }).id)
})

test.each<[string, Partial<WorkerOptions> & Record<string, unknown>, string]>([
  ['no action', { actions: [] }, 'at least one action'],
  ['an action twice', { actions: [action, action] }, "Two actions are named 'work'"],
  ['an action without run', { actions: [declared] }, "Action 'declared' has no run function"],
  ['an unknown option', { concurency: 5 }, "no worker option 'concurency'. Known are: engine, actions"],
  ['a concurrency of 0', { concurrency: 0 }, 'from 1 to 10000, not 0'],
  ['a concurrency of one and a half', { concurrency: 1.5 }, 'from 1 to 10000'],
  ['a lease that is too short', { lease: '10ms' }, 'lease must be at least 1000 ms'],
  ['no pool', { pools: [] }, 'pools is empty'],
  ['a path as an id', { id: '../x' }, 'climbs'],
])('refuses %s', async (_, change, message) => {
  const options = { engine, actions: [action], ...change }
  await expect(createWorker(options)).rejects.toThrow(message)
  await expect(createWorker(options)).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
})

test('a store that can not be reached at the start is an error of createWorker, and leaves nothing open', async () => {
  await expect(createWorker({ engine: 'sqlite:/nowhere/at/all.db', actions: [action] })).rejects.toThrow(
    'unable to open database file',
  )
  await expect(createWorker({ engine: 'postgres://h', actions: [action] })).rejects.toThrow("no engine 'postgres'")
})
