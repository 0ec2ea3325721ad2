// What becomes of a worker, asked by the process that launched it and by others, also if nobody noted its handle.

import { expect } from 'vitest'
import { knownSighting, never, orderFor, refOf, sightingOf, until } from '../orders.ts'
import type { Check } from '../subject.ts'

export const finding: readonly Check[] = [
  {
    title: 'A15: a launch is found again after a crash before the handle was noted',
    async run({ stage, lacks }) {
      const order = orderFor(stage.action)
      await stage.launcher().launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      const seen = await knownSighting(stage.launcher(), refOf(order, null))
      // Where it can't be found it is never called one that did not begin.
      if (lacks.has('finding')) expect(seen.status).toBe('vanished')
      else expect(seen.status).toBe('running')
      if (seen.status !== 'running') return
      // The handle that is noted then leads to the worker as well.
      const later = await knownSighting(stage.launcher(), refOf(order, seen.handle))
      expect(later.status).toBe('running')
    },
  },
  {
    title: 'A15: an order that nobody launched is told from one that was',
    async run({ stage, lacks }) {
      await stage.launcher().launch(orderFor(stage.action), never)
      const seen = await knownSighting(stage.launcher(), refOf(orderFor(stage.action), null))
      expect(seen.status).toBe(lacks.has('finding') ? 'vanished' : 'never')
    },
  },
  {
    title: 'A16: what runs under the token of a released attempt is not answered for the next one',
    async run({ stage }) {
      const launcher = stage.launcher()
      const order = orderFor(stage.action)
      await launcher.launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      const next = orderFor(stage.action, { taskId: order.taskId, attempt: order.attempt })
      // Also when it was asked for long enough to be called missing.
      let looks = 0
      await until('it was asked several times', async () => {
        expect((await sightingOf(launcher, refOf(next, null))).status).toBe('unknown')
        looks += 1
        return looks === 5
      })
    },
  },
  {
    title: 'A11: a worker that ends without a report has vanished, soon, whoever asks',
    async run({ stage, lacks }) {
      const launcher = stage.launcher()
      const order = orderFor(stage.action)
      const { handle } = await launcher.launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      expect((await knownSighting(launcher, refOf(order, handle))).status).toBe('running')
      await stage.workers()[0]?.vanish()
      const seen = await knownSighting(launcher, refOf(order, handle), ['running'])
      expect(seen.status).toBe('vanished')
      if (seen.status === 'vanished' && seen.cause !== undefined) expect(seen.cause.code).toMatch(/^[\w.:-]{1,100}$/)
      if (lacks.has('finding')) return
      const elsewhere = await knownSighting(stage.launcher(), refOf(order, handle), ['running'])
      expect(elsewhere.status).toBe('vanished')
    },
  },
  {
    title: 'many launches are looked at in one question, each answered in its place',
    async run({ stage, lacks }) {
      const launcher = stage.launcher()
      const orders = [orderFor(stage.action), orderFor(stage.action), orderFor(stage.action)]
      const launched = await Promise.all(orders.map((order) => launcher.launch(order, never)))
      await until('three workers run', () => stage.workers().length === 3)
      const refs = orders.map((order, index) => refOf(order, launched[index]?.handle ?? null))
      await until('all are seen running', async () =>
        (await launcher.look(refs)).every(({ status }) => status === 'running'),
      )
      if (lacks.has('watching')) return
      const [, second] = orders
      await stage
        .workers()
        .find(({ token }) => token === second?.token)
        ?.vanish()
      await until('only the second has vanished', async () => {
        const seen = await launcher.look(refs)
        return seen.map(({ status }) => status).join() === 'running,vanished,running'
      })
    },
  },
]
