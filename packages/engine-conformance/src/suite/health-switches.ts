// Where health does not decide who gets work (C11): in a claim that says so, and in a store whose thresholds do.

import { actionName, DEFAULT_HEALTH_THRESHOLDS, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { subject } from './subject.ts'

const backlog = Array.from({ length: 6 }, (_, index) => ({ id: `t${index}` }))

export const healthSwitches = subject('switches of health', (check) => {
  check('C11: where health does not matter, an unhealthy worker gets the tasks of the named actions', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'mail', action: actionName('mail') }, { id: 'render' })
    await worker.beat({ queueDepth: 100 })
    const mail = { actions: [actionName('mail')] }
    expect(await worker.claim(5, mail)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
    expect(await worker.claim(5, { ...mail, regardless: true })).toMatchObject({
      claimed: [{ taskId: 'mail' }],
      heldBack: null,
    })
    expect(await worker.claim(5)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
  })

  check(
    'C11: switched off for the whole store, health holds nobody back, and is still told',
    async (store) => {
      const worker = await store.worker('w1')
      const dispatcher = await store.worker('dispatcher')
      await store.submit(...backlog)
      await worker.beat({ queueDepth: 100 })
      const [lease] = (await dispatcher.claim(1, { stage: 'dispatch' })).claimed
      if (lease === undefined) throw new Error('Nothing could be claimed.')
      const assignment = { ...lease, worker: worker.id, ttlMs: 20_000 }
      expect(await store.engine.assign([assignment])).toEqual([{ outcome: 'assigned' }])
      const explanation = await store.engine.explain(taskId(backlog.at(-1)?.id ?? ''))
      expect(explanation?.workers.find((one) => one.worker === 'w1')).toMatchObject({ verdict: 'eligible' })
      expect(await worker.claim(2)).toMatchObject({ claimed: { length: 2 }, heldBack: null })
      expect(await store.engine.worker(worker.id)).toMatchObject({ health: { status: 'unhealthy' } })
    },
    { healthThresholds: { ...DEFAULT_HEALTH_THRESHOLDS, enabled: false } },
  )
})
