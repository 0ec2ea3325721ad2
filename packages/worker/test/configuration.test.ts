// What createWorker refuses, with words that help, and the defaults it fills in.

import { createWorker, defineAction, type WorkerOptions } from '@reprise/worker'
import { expect, test } from 'vitest'
import { workerConfiguration } from '../src/configuration.ts'

const action = defineAction({ name: 'work', pool: 'gpu', run: () => {} })
const declared = defineAction({ name: 'declared' })
const engine = 'sqlite::memory:'

test('every setting has a default, and the pools come from the actions', () => {
  const configuration = workerConfiguration({ engine, actions: [action] })
  expect(configuration).toMatchObject({
    pools: ['gpu'],
    directedPools: [],
    actions: ['work'],
    concurrency: 10,
    leaseMs: 15_000,
    heartbeatMs: 5_000,
    stopGraceMs: 30_000,
    sweep: true,
    retention: null,
    health: null,
    endpoint: null,
  })
  expect(configuration.policies).toBeNull()
  expect(configuration.id).not.toBe(workerConfiguration({ engine, actions: [action] }).id)
})

const other = defineAction({ name: 'other', run: () => {} })

test.each<[string, Partial<WorkerOptions>, { pools: string[]; directedPools: string[] }]>([
  [
    'the pools of the actions that are not directed',
    { directedPools: ['gpu'] },
    { pools: ['default'], directedPools: ['gpu'] },
  ],
  [
    'none, if all are directed',
    { directedPools: ['gpu', 'default', 'gpu'] },
    { pools: [], directedPools: ['gpu', 'default'] },
  ],
  ['those that are named', { pools: ['x'], directedPools: ['gpu'] }, { pools: ['x'], directedPools: ['gpu'] }],
  ['none, if none are named', { pools: [], directedPools: ['gpu'] }, { pools: [], directedPools: ['gpu'] }],
  [
    'all of the actions, without directed pools',
    { directedPools: [] },
    { pools: ['gpu', 'default'], directedPools: [] },
  ],
])('D6: it claims from %s', (_, change, expected) => {
  expect(workerConfiguration({ engine, actions: [action, other], ...change })).toMatchObject(expected)
})

test.each<[string, Partial<WorkerOptions> & Record<string, unknown>, string]>([
  ['no action', { actions: [] }, 'at least one action'],
  ['an action twice', { actions: [action, action] }, "Two actions are named 'work'"],
  ['an action without run', { actions: [declared] }, "Action 'declared' has no run function"],
  [
    'an unknown option',
    { concurency: 5 },
    "no worker option 'concurency'. Did you mean 'concurrency'? Known are: engine, actions",
  ],
  ['a concurrency of 0', { concurrency: 0 }, 'from 1 to 10000, not 0'],
  ['a concurrency of one and a half', { concurrency: 1.5 }, 'from 1 to 10000'],
  ['a lease that is too short', { lease: '10ms' }, "'lease' must be from 1s to 1h, not the text '10ms'"],
  ['no pool', { pools: [] }, 'pools is empty'],
  ['no pool at all', { pools: [], directedPools: [] }, 'pools is empty'],
  ['a pool in both lists', { pools: ['a', 'gpu'], directedPools: ['gpu'] }, "Pool 'gpu' is named in pools and in"],
  ['a directed pool with a bad name', { directedPools: ['../x'] }, 'climbs'],
  [
    'policies that are a file name',
    { policies: 'policies.yaml' as never },
    "'policies' must be an object with current()",
  ],
  ['a port out of range', { health: { port: 70_000 } }, 'from 0 to 65535, not 70000'],
  ['an endpoint that is no address', { endpoint: 'here' }, 'must be an http or https address'],
  ['an endpoint that is a file', { endpoint: 'file:///etc/passwd' }, 'must be an http or https address'],
  ['an endpoint with a password', { endpoint: 'http://me:secret@host/' }, 'must not hold a user or a password'],
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
