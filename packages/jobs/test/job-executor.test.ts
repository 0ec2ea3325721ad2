// The executor on an adapter that fails as it is told: counts of attempts, order, exact texts, stop and collect.

import { ChunkFailedError, VirtualClock } from '@reprise/core'
import { describe, expect, test, vi } from 'vitest'
import { type ChunkAdapter, type ChunkRun, JobExecutor } from '../src/index.ts'

const OK = { exitCode: 0, stdout: '', stderr: '' }
const chunksOf = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index) }))

/** Fails each chunk as often as `failures` says, then succeeds. */
function flaky(failures: Readonly<Record<string, number>>, fail: (run: ChunkRun) => Promise<typeof OK>) {
  const attempts: string[] = []
  const adapter: ChunkAdapter = {
    name: 'flaky',
    async execute(run) {
      attempts.push(`${run.chunk.id}:${run.attempt}`)
      if (run.attempt <= (failures[run.chunk.id] ?? 0)) return fail(run)
      return { ...OK, stdout: `frame ${run.chunk.id}` }
    },
  }
  return { adapter, attempts }
}

const exits = async () => ({ exitCode: 1, stdout: '', stderr: 'no network' })
const throws = async () => {
  throw new Error('cold start')
}

function executor(adapter: ChunkAdapter) {
  const clock = new VirtualClock()
  const warnings: string[] = []
  return { clock, warnings, executor: new JobExecutor(adapter, { clock, warn: (line) => warnings.push(line) }) }
}

describe('E1–E4: JobExecutor', () => {
  test('should retry failed chunks', async () => {
    const { adapter, attempts } = flaky({ 1: 2 }, exits)
    const run = executor(adapter)
    const done = run.executor.execute({ chunks: chunksOf(3) }, { retries: 3 })
    await run.clock.advance(999)
    expect(attempts).toEqual(['0:1', '1:1'])
    await run.clock.advance(1_001)
    const report = await done
    expect(attempts).toEqual(['0:1', '1:1', '1:2', '1:3', '2:1'])
    expect(report.succeeded.map(({ id, attempts, stdout }) => [id, attempts, stdout])).toEqual([
      ['0', 1, 'frame 0'],
      ['1', 3, 'frame 1'],
      ['2', 1, 'frame 2'],
    ])
    expect(report.failed).toEqual([])
    expect(run.warnings).toEqual([
      '[Worker 1] Chunk 1 failed (Attempt 1/3). Retrying in 1000ms...',
      '[Worker 1] Chunk 1 failed (Attempt 2/3). Retrying in 1000ms...',
    ])
  })

  test('should fail after exhausting retries', async () => {
    const { adapter, attempts } = flaky({ 1: 9 }, exits)
    const run = executor(adapter)
    const done = run.executor.execute({ chunks: chunksOf(3) }, { retries: 2, retryDelay: 10 })
    const [failed] = await Promise.allSettled([done, run.clock.advance(20)])
    expect(String(Reflect.get(failed, 'reason'))).toBe('ChunkFailedError: Chunk 1 failed with exit code 1: no network')
    expect(attempts).toEqual(['0:1', '1:1', '1:2', '1:3'])
    expect(run.warnings).toHaveLength(2)
  })
})

describe('E1: options of JobExecutor', () => {
  test('a chunk is not retried by default', async () => {
    const { adapter, attempts } = flaky({ 0: 1 }, exits)
    const run = executor(adapter)
    await expect(run.executor.execute({ chunks: chunksOf(1) })).rejects.toBeInstanceOf(ChunkFailedError)
    expect([attempts, run.warnings]).toEqual([['0:1'], []])
  })

  test('exponential backoff doubles the delay up to its bound', async () => {
    const { adapter } = flaky({ 0: 4 }, exits)
    const run = executor(adapter)
    const options = { retries: 4, retryDelay: 100, backoff: 'exponential', maxRetryDelay: 300 } as const
    const done = run.executor.execute({ chunks: chunksOf(1) }, options)
    await run.clock.advance(900)
    await done
    expect(run.warnings.map((line) => /in (\d+)ms/.exec(line)?.[1])).toEqual(['100', '200', '300', '300'])
  })

  test('as many chunks run at once as concurrency says, and none is taken earlier', async () => {
    let running = 0
    let most = 0
    let taken = 0
    const gates: (() => void)[] = []
    const adapter: ChunkAdapter = {
      name: 'gated',
      async execute() {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => gates.push(resolve))
        running--
        return OK
      },
    }
    async function* chunks() {
      for (const chunk of chunksOf(10)) {
        taken++
        yield chunk
      }
    }
    const done = executor(adapter).executor.execute({ chunks: chunks() }, { concurrency: 4 })
    await vi.waitFor(() => expect(gates).toHaveLength(4), { timeout: 30_000 })
    expect(taken).toBe(4)
    for (let open = 0; open < 10; open++) {
      await vi.waitFor(() => expect(gates.length).toBeGreaterThan(open), { timeout: 30_000 })
      gates[open]?.()
    }
    const report = await done
    expect([most, report.succeeded.map(({ id }) => id)]).toEqual([4, chunksOf(10).map(({ id }) => id)])
  })

  test('an unknown option, two chunks with one id and a chunk without one are refused', async () => {
    const { adapter } = flaky({}, exits)
    const { executor: jobs } = executor(adapter)
    await expect(jobs.execute({ chunks: [] }, { retry: 3 } as never)).rejects.toThrow("There is no job option 'retry'")
    await expect(jobs.execute({ chunks: [{ id: 'a' }, { id: 'a' }] })).rejects.toThrow("have the id 'a'")
    await expect(jobs.execute({ chunks: [{}] as never })).rejects.toThrow('A chunk has an id')
    await expect(jobs.execute({} as never)).rejects.toThrow('The chunks of a job must be an array')
    await expect(jobs.execute({ chunks: [] }, { concurrency: 1e9 })).rejects.toThrow('from 1 to 10000')
    expect(() => new JobExecutor(undefined as never)).toThrow("'adapter'")
  })
})

test('E2: a thrown error is a failure as an exit code is, and is passed on as it is', async () => {
  const { adapter, attempts } = flaky({ 0: 9 }, throws)
  const run = executor(adapter)
  const done = run.executor.execute({ chunks: chunksOf(1) }, { retries: 1, retryDelay: 5 })
  const [failed] = await Promise.allSettled([done, run.clock.advance(5)])
  expect(failed).toMatchObject({ status: 'rejected', reason: new Error('cold start') })
  expect(attempts).toEqual(['0:1', '0:2'])
})

test('E3: without a place for warnings, a retry warns on the console', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  const { adapter } = flaky({ a: 1 }, throws)
  await new JobExecutor(adapter).execute({ chunks: [{ id: 'a' }] }, { retries: 3, retryDelay: 0 })
  expect(warn.mock.calls).toEqual([['[Worker 1] Chunk a failed (Attempt 1/3). Retrying in 0ms...']])
  warn.mockRestore()
})

describe('E4: when the retries of a chunk are used up', () => {
  test('the job stops: the others are told to end, and are waited for', async () => {
    const started: string[] = []
    const ended: string[] = []
    const adapter: ChunkAdapter = {
      name: 'stoppable',
      async execute({ chunk, signal }) {
        started.push(chunk.id)
        if (chunk.id === '1') {
          await vi.waitUntil(() => started.length === 3, { timeout: 30_000 })
          throw new Error('broken')
        }
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => setImmediate(resolve)))
        ended.push(chunk.id)
        throw new Error('stopped')
      },
    }
    const run = executor(adapter)
    await expect(run.executor.execute({ chunks: chunksOf(9) }, { concurrency: 3 })).rejects.toThrow('broken')
    expect([started.toSorted(), ended.toSorted()]).toEqual([
      ['0', '1', '2'],
      ['0', '2'],
    ])
  })

  test('or the error is collected, and the other chunks run', async () => {
    const { adapter, attempts } = flaky({ 1: 9, 3: 9 }, exits)
    const report = await executor(adapter).executor.execute(
      { chunks: chunksOf(5) },
      { onFailure: 'collect', concurrency: 2, retries: 0 },
    )
    expect(attempts).toHaveLength(5)
    expect(report.succeeded.map(({ id }) => id)).toEqual(['0', '2', '4'])
    expect(report.failed.map(({ id, attempts, error }) => [id, attempts, String(error)])).toEqual([
      ['1', 1, 'ChunkFailedError: Chunk 1 failed with exit code 1: no network'],
      ['3', 1, 'ChunkFailedError: Chunk 3 failed with exit code 1: no network'],
    ])
  })

  test("a caller's signal stops the job also while it waits for a retry", async () => {
    const { adapter, attempts } = flaky({ 0: 9 }, exits)
    const run = executor(adapter)
    const stop = new AbortController()
    const done = run.executor.execute({ chunks: chunksOf(2) }, { retries: 5, signal: stop.signal })
    await vi.waitFor(() => expect(run.warnings).toHaveLength(1), { timeout: 30_000 })
    stop.abort(new Error('enough'))
    await expect(done).rejects.toThrow('enough')
    expect(attempts).toEqual(['0:1'])
  })

  test('a source of chunks that throws stops the job with its error', async () => {
    async function* chunks() {
      yield { id: '0' }
      throw new Error('the list ends early')
    }
    const { adapter } = flaky({}, exits)
    const done = executor(adapter).executor.execute({ chunks: chunks() }, { concurrency: 3 })
    await expect(done).rejects.toThrow('the list ends early')
  })
})
