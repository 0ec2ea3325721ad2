import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  failed,
  InvalidError,
  type JsonText,
  observedFailure,
  type Priority,
  type TaskSpec,
  VirtualClock,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { claimer, spec, specs, temporaryFolder } from './fixture.ts'

describe('concurrent callers', () => {
  it('share a commit: many writes of one turn are one transaction, or a few if the machine is slow', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    onTestFinished(() => exec.mockRestore())
    await Promise.all(specs(100).map((task) => engine.submit([task])))
    const commits = exec.mock.calls.filter(([sql]) => sql === 'COMMIT').length
    expect(commits).toBeGreaterThan(0)
    expect(commits).toBeLessThan(20)
    expect(await engine.counts()).toMatchObject({ accepted: 100 })
    await engine.close()
  })

  it('that write much are committed one after the other, and nobody who writes little waits for all of them', async () => {
    const engine = await openSqliteEngine({ path: join(temporaryFolder(), 'store.db'), durability: 'fast' })
    let turn = 0
    let isOver = false
    const count = (): void => {
      turn++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const payload = JSON.stringify('x'.repeat(1_000_000)) as JsonText
    const endOf = async (task: TaskSpec): Promise<number> => {
      await engine.submit([task])
      return turn
    }
    const large = specs(5).map((task) => endOf({ ...task, payload }))
    const small = await endOf(spec('small'))
    const ends = await Promise.all(large)
    isOver = true
    expect(new Set(ends).size).toBe(5)
    expect(ends).toEqual(ends.toSorted((one, other) => one - other))
    expect(small).toBeLessThanOrEqual(ends[0] ?? 0)
    await engine.close()
  })

  it('each get their own answer: a refusal does not touch the others', async () => {
    const engine = await openSqliteEngine({ path: ':memory:', maxBacklog: 2 })
    const answers = await Promise.allSettled([
      engine.submit([spec('a')]),
      engine.submit(specs(5, 'too-many')),
      engine.submit([spec('b')]),
      engine.submit([spec('c')]),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(answers[1]).toMatchObject({ reason: { code: 'REPRISE_BACKLOG_FULL' } })
    expect(await engine.counts()).toMatchObject({ accepted: 2, queued: 2 })
    await engine.close()
  })

  it('count for each other at once: a quota’s share sees what its own group has started', async () => {
    const clock = new VirtualClock(Date.UTC(2030, 0, 1))
    const engine = await openSqliteEngine({ path: ':memory:', clock })
    const request = await claimer(engine, 'w', 2)
    await engine.submit(specs(12))
    const { claimed } = await engine.claim(request)
    await clock.advance(120_000)
    const quota = { name: 'retries', windowMs: 60_000, limit: null, share: 0.2 }
    const settlements = claimed.map((lease) => {
      const failure = observedFailure('timeout', 'It took too long.', lease.snapshot.action)
      const decision = { kind: 'retry', delayMs: 0, reason: failure.reason, rule: failure.rule, sentence: '' } as const
      return failed(lease, failure, decision, { quota })
    })
    // Ten start, so two retries fit into the window.
    await Promise.all([engine.claim({ ...request, limit: 10 }), engine.settle(settlements)])
    const { items } = await engine.tasks({ status: 'waiting' })
    expect(items.map(({ state }) => state)).toMatchObject([{ quota: null }, { quota: null }])
    await engine.close()
  })

  it('are not touched by a neighbour that breaks the store in a way nobody foresaw', async () => {
    const engine = await openSqliteEngine({ path: ':memory:' })
    // What no type lets through, and only the store's own constraint catches.
    const broken = spec('broken', { priority: 99 as Priority })
    const answers = await Promise.allSettled([
      engine.submit([spec('a')]),
      engine.submit([broken]),
      engine.submit([spec('b')]),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(answers[1]).toMatchObject({ reason: { code: 'REPRISE_STORE_FAILED' } })
    expect(await engine.counts()).toMatchObject({ accepted: 2, queued: 2 })
    await engine.close()
  })

  it('are all committed by a close that comes at once', async () => {
    const path = join(temporaryFolder(), 'store.db')
    const engine = await openSqliteEngine({ path })
    // More than one group: a group ends after a few milliseconds.
    const submits = Array.from({ length: 100 }, (_, batch) => engine.submit(specs(100, `batch-${batch}`)))
    await engine.close()
    await Promise.all(submits)
    const again = await openSqliteEngine({ path })
    expect((await again.counts()).accepted).toBe(10_000)
    await again.close()
  })
})

describe('a document whose index function throws', () => {
  it('is not stored, not even in part', async () => {
    const engine = await openSqliteEngine({ path: ':memory:' })
    const refuse = (): string => {
      throw new InvalidError('no')
    }
    const broken = engine.collection<{ id: string }>({ name: 'things', indexes: { first: () => 'x', second: refuse } })
    await expect(broken.insert({ id: 'a' })).rejects.toThrow('no')
    const sound = engine.collection<{ id: string }>({ name: 'things', indexes: { first: () => 'x' } })
    expect(await sound.get('a')).toBeNull()
    await sound.insert({ id: 'a' })
    await expect(broken.update({ id: 'a' }, 1)).rejects.toThrow('no')
    expect((await sound.find({ index: 'first', value: 'x' })).items).toMatchObject([{ version: 1 }])
    await engine.close()
  })
})
