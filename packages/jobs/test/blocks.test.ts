// What a submitter hands over and when, on a source that a test feeds and a clock that it moves.

import { VirtualClock } from '@reprise/core'
import { expect, test } from 'vitest'
import { blocksOf } from '../src/blocks.ts'
import { startDurableJob } from '../src/index.ts'

/** Gives what a test puts in, as soon as it is there. */
function fed() {
  const ready: number[] = []
  let wake = Promise.withResolvers<void>()
  let isOver = false
  return {
    put(...payloads: number[]) {
      ready.push(...payloads)
      wake.resolve()
    },
    end() {
      isOver = true
      wake.resolve()
    },
    async *source(): AsyncGenerator<number> {
      for (;;) {
        yield* ready.splice(0)
        if (isOver) return
        await wake.promise
        wake = Promise.withResolvers<void>()
      }
    },
  }
}

function job() {
  const handed: unknown[][] = []
  const state = {
    id: 'j1',
    status: 'running',
    because: null,
    total: null,
    received: 0,
    succeeded: 0,
    failed: 0,
    fraction: null,
    perSecond: 0,
    leftMs: null,
  }
  const client = {
    startJob: async () => state,
    getJob: async () => state,
    listJobChunks: async () => ({ items: [], next: null }),
    handOverChunks: async ({ payloads }: { readonly payloads: unknown[] }) => {
      handed.push(payloads)
      return { received: 0, isFull: false }
    },
  }
  return { handed, client, clock: new VirtualClock() }
}

test('E6: what a slow source has given is handed over within a second, and not when a block is full', async () => {
  const { handed, client, clock } = job()
  const feed = fed()
  const done = startDurableJob(client, { action: 'square', chunks: feed.source() }, { clock })
  feed.put(1, 2)
  await clock.advance(1_000)
  expect(handed).toEqual([[1, 2]])
  await clock.advance(5_000)
  feed.put(3)
  await clock.advance(1_000)
  expect(handed).toEqual([[1, 2], [3]])
  feed.end()
  await done
  expect(handed.flat()).toEqual([1, 2, 3])
})

test('E6: a submitter that is asked to end does not wait for a source that gives nothing', async () => {
  const { handed, client, clock } = job()
  const asked = new AbortController()
  const feed = fed()
  const done = startDurableJob(client, { action: 'square', chunks: feed.source() }, { clock, signal: asked.signal })
  await clock.advance(10)
  asked.abort(new Error('enough'))
  await expect(done).rejects.toThrow('enough')
  expect(handed).toEqual([])
})

test('E6: a source that is left early is closed, and one that throws says why', async () => {
  let closed = 0
  async function* source(count: number) {
    try {
      for (let n = 0; n < count; n++) yield n
      throw new Error('the disk is gone')
    } finally {
      closed++
    }
  }
  for await (const block of blocksOf(source(10_000), {})) {
    expect(block).toHaveLength(500)
    break
  }
  expect(closed).toBe(1)
  const { client } = job()
  await expect(startDurableJob(client, { action: 'square', chunks: source(3) })).rejects.toThrow('the disk is gone')
  expect(closed).toBe(2)
})
