// The program that a thread runs to vouch for workers, tried here in this thread: it does what the verb does.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { compileFunction } from 'node:vm'
import { DEFAULT_POOL, taskId, VirtualClock, type Voucher, type VouchRequest, workerId } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { spec, temporaryFolder } from './fixture.ts'

interface Vouching {
  vouch(request: VouchRequest): { readonly renewed: number }
  close(): void
}

type Program = (require: NodeJS.Require, data: unknown) => Vouching

const evaluated = ({ program, data }: Voucher): Vouching =>
  (compileFunction(program, ['require', 'data']) as Program)(createRequire(import.meta.url), structuredClone(data))

test('the program renews what a worker runs, and refuses an epoch that is not current', async () => {
  const engine = await openSqliteEngine({ path: join(temporaryFolder(), 'store.db') })
  onTestFinished(() => engine.close())
  const worker = workerId('w1')
  const registration = { worker, pools: [DEFAULT_POOL], actions: null, host: 'here', version: '1', runtimes: [] }
  const { epoch } = await engine.register({ ...registration, endpoint: null })
  await engine.submit([spec('a'), spec('b')])
  await engine.claim({ worker, epoch, pools: [DEFAULT_POOL], actions: null, limit: 2, leaseMs: 10_000 })
  const voucher = engine.voucher()
  if (voucher === null) throw new Error('A file has a voucher.')
  const vouching = evaluated(voucher)
  onTestFinished(() => vouching.close())

  const before = await engine.now()
  expect(vouching.vouch({ worker, epoch, leaseMs: 60_000, outlook: 'blocked' })).toEqual({ renewed: 2 })
  const task = await engine.task(taskId('a'))
  expect(task?.state.status === 'running' && task.state.leaseUntil >= before + 60_000).toBe(true)
  expect((await engine.worker(worker))?.outlook).toBe('blocked')

  expect(vouching.vouch({ worker, epoch: epoch + 1, leaseMs: 60_000, outlook: 'wrong' })).toEqual({ renewed: 0 })
  expect((await engine.worker(worker))?.outlook).toBe('blocked')
})

test('there is no program for a store in memory, nor for one with a clock of its own', async () => {
  const inMemory = await openSqliteEngine({ path: ':memory:' })
  onTestFinished(() => inMemory.close())
  const path = join(temporaryFolder(), 'store.db')
  const clocked = await openSqliteEngine({ path, clock: new VirtualClock(1) })
  onTestFinished(() => clocked.close())
  expect([inMemory.voucher(), clocked.voucher()]).toEqual([null, null])
})
