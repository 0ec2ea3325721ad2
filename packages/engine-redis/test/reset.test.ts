// A store that is emptied under a running engine: what it remembered of it means something else now.

import { actionName, isRepriseError, workerId } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { spec } from './specs.ts'

test('after the store was emptied, a worker hears the names of the tasks that are there now', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const engine = await openRedisEngine({ url: server.url })
  onTestFinished(() => engine.close())
  const registration = {
    worker: workerId('w1'),
    pools: [spec('x').pool],
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
  }
  const claim = async (epoch: number) =>
    (await engine.claim({ ...registration, epoch, limit: 1, leaseMs: 1_000 })).claimed[0]?.snapshot

  await engine.submit([spec('one')])
  const { epoch } = await engine.register(registration)
  expect((await claim(epoch))?.action).toBe('render')

  await server.command('FLUSHALL')
  await engine.submit([{ ...spec('two'), action: actionName('send') }])
  await expect(claim(epoch)).rejects.toSatisfy((error) => isRepriseError(error, 'REPRISE_NOT_FOUND'))
  const again = await engine.register(registration)
  expect((await claim(again.epoch))?.action).toBe('send')
})
