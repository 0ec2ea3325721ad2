// Starting a worker: once per order, never after the order is void, and nothing left behind where it was refused.

import { isRepriseError, type Launcher, type LaunchOrder, outcomeRequest } from '@reprise/core'
import { expect } from 'vitest'
import type { StagedTrouble } from '../factory.ts'
import { knownSighting, monotonicMs, never, orderFor, refOf, until } from '../orders.ts'
import type { Check, Scene } from '../subject.ts'

const thrown = (launch: Promise<unknown>): Promise<unknown> =>
  launch.then(
    () => null,
    (error: unknown) => error,
  )

export const starting: readonly Check[] = [
  {
    title: 'a launch starts one worker, which gets the token of its attempt, and runs under its handle',
    async run({ stage }) {
      const launcher = stage.launcher()
      const order = orderFor(stage.action)
      const { handle } = await launcher.launch(order, never)
      await until('a worker runs', () => stage.workers().length === 1)
      expect(stage.workers().map(({ token }) => token)).toEqual([order.token])
      expect(await knownSighting(launcher, refOf(order, handle))).toMatchObject({ status: 'running' })
    },
  },
  {
    title: 'A2: the same order twice, from one process and from another, starts one worker',
    async run({ stage, lacks }) {
      const launcher = stage.launcher()
      const order = orderFor(stage.action)
      await launcher.launch(order, never)
      for (const second of lacks.has('finding') ? [launcher] : [launcher, stage.launcher()]) {
        const again = await second.launch(order, never).catch((error: unknown) => error)
        const isHandle = typeof again === 'object' && again !== null && 'handle' in again
        expect(isHandle || isRepriseError(again, 'REPRISE_DUPLICATE_EXECUTION')).toBe(true)
      }
      await until('a worker runs', () => stage.workers().length > 0)
      expect(stage.workers()).toHaveLength(1)
    },
  },
  {
    title: 'a void order starts nothing, and trying again can help',
    async run({ stage }) {
      const error = await thrown(stage.launcher().launch(orderFor(stage.action, { voidAt: monotonicMs() - 1 }), never))
      expect(error).toBeInstanceOf(Error)
      expect(outcomeRequest(error)?.says).not.toBe('dead')
      expect(stage.workers()).toEqual([])
    },
  },
  {
    title: 'a launch that was stopped before it began starts nothing',
    async run({ stage }) {
      const signal = AbortSignal.abort(new Error('stopped'))
      expect(await thrown(stage.launcher().launch(orderFor(stage.action), signal))).toBeInstanceOf(Error)
      expect(stage.workers()).toEqual([])
    },
  },
  refused('full', 'A7: a platform without room refuses the launch, leaves nothing behind, and takes the next one'),
  refused('throttled', 'A7: a throttled launch is refused, leaves nothing behind, and the next one goes through'),
  {
    title: 'A3: a launch without the permission is refused for good, and leaves nothing behind',
    async run(scene) {
      await withTrouble(scene, 'denied', async () => {
        const launcher = scene.stage.launcher()
        const order = orderFor(scene.stage.action)
        const answer = await launcher.launch(order, never).catch((error: unknown) => error)
        // Some hear of it only after they sent it off.
        const error = answer instanceof Error ? answer : await failureOf(launcher, order, answer)
        expect(outcomeRequest(error)?.says).toBe('dead')
        expect(scene.stage.workers()).toEqual([])
      })
    },
  },
  {
    title: 'a launch whose answer is lost is no failure: its worker is looked after',
    async run(scene) {
      const { stage, lacks } = scene
      await withTrouble(scene, 'lost answer', async () => {
        const launcher = stage.launcher()
        const order = orderFor(stage.action)
        const { handle } = await launcher.launch(order, never)
        expect(stage.workers()).toHaveLength(1)
        stage.recover()
        if (lacks.has('finding')) return
        const seen = await knownSighting(launcher, refOf(order, handle))
        expect(seen.status).toBe('running')
      })
    },
  },
  {
    title: 'a platform that never answers does not hold a launch beyond its order',
    async run(scene) {
      const { stage } = scene
      await withTrouble(scene, 'hanging', async () => {
        const voidAt = monotonicMs() + 300
        const started = stage.launcher().launch(orderFor(stage.action, { voidAt }), never)
        // A handle to look after it by, or a refusal: but an answer.
        await started.catch(() => undefined)
        expect(stage.workers()).toEqual([])
      })
    },
  },
]

async function failureOf(launcher: Launcher, order: LaunchOrder, launched: unknown): Promise<unknown> {
  const { handle } = launched as { readonly handle: string }
  const seen = await knownSighting(launcher, refOf(order, handle), ['running'])
  return seen.status === 'ended' && !seen.outcome.ok ? seen.outcome.thrown : null
}

function refused(trouble: StagedTrouble, title: string): Check {
  return {
    title,
    async run(scene) {
      const { stage } = scene
      await withTrouble(scene, trouble, async () => {
        const launcher = stage.launcher()
        const order = orderFor(stage.action)
        const error = await thrown(launcher.launch(order, never))
        expect(error).toBeInstanceOf(Error)
        expect(outcomeRequest(error)?.says).not.toBe('dead')
        expect(stage.workers()).toEqual([])
        stage.recover()
        await launcher.launch(order, never)
        await until('a worker runs', () => stage.workers().length === 1)
      })
    },
  }
}

/** Leaves the check out, and says so, where the stage can't make this trouble. */
async function withTrouble({ stage }: Scene, kind: StagedTrouble, check: () => Promise<void>): Promise<void> {
  if (!stage.troubles.includes(kind)) {
    process.stdout.write(`left out: this platform is never '${kind}'\n`)
    return
  }
  stage.trouble(kind)
  await check()
}
