// The adapters for AWS Lambda and Google Cloud Run, against fakes that speak their wire protocols.

import { type FakeLambda, startFakeCloudRun, startFakeLambda } from '@reprise/test-servers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCloudRunAdapter, createLambdaAdapter, JobExecutor } from '../src/index.ts'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'test'

const once = (id: string, input?: unknown) => ({
  chunk: { id, input },
  attempt: 1,
  signal: new AbortController().signal,
})

/** The SDK is loaded by the first call: that takes long on a busy machine. */
const begun = (service: Pick<FakeLambda, 'running'>) => vi.waitUntil(() => service.running[0], { timeout: 60_000 })

describe('E5: the AWS Lambda adapter', () => {
  async function lambda() {
    const service = await startFakeLambda()
    onTestFinished(() => service.close())
    const adapter = createLambdaAdapter({ functionName: 'render', region: 'eu-west-1', endpoint: service.url })
    return { service, adapter }
  }

  test('invokes the function with the chunk, and gives its answer', async () => {
    const { service, adapter } = await lambda()
    const done = adapter.execute(once('c7', { frame: 7 }))
    const worker = await begun(service)
    expect(worker.request).toMatchObject({ functionName: 'render', chunk: 'c7', attempt: 1, input: { frame: 7 } })
    worker.answer = { file: 'c7.png' }
    worker.exit()
    expect(await done).toEqual({ exitCode: 0, stdout: '{"file":"c7.png"}', stderr: '' })
  })

  test('a function that fails, or answers with an exit code, has failed; a throttle is a thrown error', async () => {
    const { service, adapter } = await lambda()
    const failing = adapter.execute(once('a'))
    const first = await begun(service)
    first.finish({ by: 'out of memory' })
    const failure = await failing
    expect([failure.exitCode, failure.stderr.slice(0, 21)]).toEqual([1, 'Runtime.OutOfMemory: '])
    const exiting = adapter.execute(once('b'))
    const second = await begun(service)
    second.answer = { exitCode: 3, stderr: 'no codec' }
    second.exit()
    expect(await exiting).toEqual({ exitCode: 3, stdout: '', stderr: 'no codec' })
    service.trouble('Invoke', 'throttled')
    await expect(adapter.execute(once('c'))).rejects.toThrow('Rate Exceeded')
  })

  test('under the executor a chunk is tried again after a throttle', async () => {
    const { service, adapter } = await lambda()
    service.trouble('Invoke', 'throttled')
    const warnings: string[] = []
    const jobs = new JobExecutor(adapter, { warn: (line) => warnings.push(line) })
    const done = jobs.execute({ chunks: [{ id: 'a' }] }, { retries: 2, retryDelay: 1 })
    const worker = await begun(service)
    worker.exit()
    expect((await done).succeeded).toMatchObject([{ id: 'a', attempts: 2 }])
    expect(warnings).toEqual(['[Worker 1] Chunk a failed (Attempt 1/2). Retrying in 1ms...'])
  })
})

describe('E5: the Google Cloud Run adapter', () => {
  async function cloudRun() {
    const service = await startFakeCloudRun()
    onTestFinished(() => service.close())
    const adapter = createCloudRunAdapter({
      job: 'projects/p/locations/europe-west1/jobs/render',
      endpoint: service.url,
      accessToken: async () => service.accessToken,
      poll: '10ms',
    })
    return { service, adapter }
  }

  test('runs the job with the chunk in its environment, and waits for its end', async () => {
    const { service, adapter } = await cloudRun()
    const done = adapter.execute(once('c7', { frame: 7 }))
    const worker = await begun(service)
    expect(worker.env).toEqual({
      REPRISE_CHUNK_ID: 'c7',
      REPRISE_CHUNK_ATTEMPT: '1',
      REPRISE_CHUNK_INPUT: '{"frame":7}',
    })
    worker.exit()
    expect((await done).exitCode).toBe(0)
  })

  test('an execution that fails gives the exit code of its task', async () => {
    const { service, adapter } = await cloudRun()
    const done = adapter.execute(once('a'))
    const worker = await begun(service)
    worker.exit(3)
    const { exitCode, stderr } = await done
    expect([exitCode, stderr === '']).toEqual([3, false])
  })

  test('a stop cancels the execution', async () => {
    const { service, adapter } = await cloudRun()
    const stop = new AbortController()
    const done = adapter.execute({ ...once('a'), signal: stop.signal })
    const worker = await begun(service)
    stop.abort()
    expect((await done).exitCode).toBe(143)
    expect(worker.end).toEqual({ by: 'stop' })
  })
})
