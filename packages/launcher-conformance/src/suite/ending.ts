// Stopping a worker, forgetting it, and closing the launcher.

import { expect } from 'vitest'
import { knownSighting, never, orderFor, refOf, until } from '../orders.ts'
import type { Check } from '../subject.ts'

const GRACE_MS = 2_000

export const ending: readonly Check[] = [
  {
    title: 'C7: end() comes back when the worker is gone, and once more changes nothing',
    async run({ stage, lacks }) {
      const launcher = stage.launcher()
      const order = orderFor(stage.action)
      const { handle } = await launcher.launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      await launcher.end({ key: order.key, handle }, GRACE_MS)
      if (!lacks.has('stopping')) expect(stage.workers().map((worker) => worker.isRunning())).toEqual([false])
      await launcher.end({ key: order.key, handle }, GRACE_MS)
      expect((await knownSighting(launcher, refOf(order, handle))).status).not.toBe('running')
    },
  },
  {
    title: 'C7: another process ends a worker whose handle nobody noted',
    async run({ stage, lacks }) {
      if (lacks.has('finding') || lacks.has('stopping')) return
      const order = orderFor(stage.action)
      await stage.launcher().launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      const other = stage.launcher()
      const seen = await knownSighting(other, refOf(order, null))
      await other.end({ key: order.key, handle: seen.status === 'running' ? seen.handle : null }, GRACE_MS)
      expect(stage.workers().map((worker) => worker.isRunning())).toEqual([false])
    },
  },
  {
    title: 'what is forgotten takes no place: the attempt may be launched anew under another token',
    async run({ stage }) {
      const launcher = stage.launcher()
      const order = orderFor(stage.action)
      const { handle } = await launcher.launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      await launcher.end({ key: order.key, handle }, GRACE_MS)
      await launcher.forget({ key: order.key, handle })
      const next = orderFor(stage.action, { taskId: order.taskId, attempt: order.attempt })
      await launcher.launch(next, never)
      await until('a second worker runs', () => stage.workers().length === 2)
      expect(stage.workers().map(({ token }) => token)).toEqual([order.token, next.token])
    },
  },
  {
    title: 'close() comes back while workers run',
    async run({ stage }) {
      const launcher = stage.launcher()
      await launcher.launch(orderFor(stage.action), never)
      await launcher.close()
    },
  },
]
