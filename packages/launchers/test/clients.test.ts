// The calls of Lambda and Cloud Run, against services that speak their protocols.

import { startFakeCloudRun, startFakeLambda } from '@reprise/test-servers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openCloudRun, openLambda } from '../src/clients.ts'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'test'

const JOB = 'projects/p/locations/europe-west1/jobs/render'

test('Lambda: a request brings the answer of the function, an event none', async () => {
  const service = await startFakeLambda()
  const lambda = openLambda({ region: 'eu-west-1', endpoint: service.url })
  onTestFinished(async () => {
    lambda.close()
    await service.close()
  })
  service.onStarted = (worker) => {
    worker.answer = { got: worker.request.page }
    worker.exit()
  }
  const invocation = { functionName: 'render', payload: '{"page":7}' }
  expect(await lambda.invoke({ ...invocation, kind: 'request' })).toEqual({
    requestId: 'request-1',
    payload: '{"got":7}',
    functionError: null,
  })
  expect(await lambda.invoke({ ...invocation, kind: 'event' })).toMatchObject({ requestId: 'request-2', payload: null })
  service.onStarted = (worker) => worker.finish({ by: 'out of memory' })
  expect(await lambda.invoke({ ...invocation, kind: 'request' })).toMatchObject({ functionError: 'Unhandled' })
})

test('Lambda: nothing is sent twice, and the limits of a function without a configuration are the usual ones', async () => {
  const service = await startFakeLambda({ timeoutS: 30 })
  const lambda = openLambda({ region: 'eu-west-1', endpoint: service.url })
  onTestFinished(async () => {
    lambda.close()
    await service.close()
  })
  service.trouble('Invoke', 'broken after', 10)
  await expect(lambda.invoke({ functionName: 'render', payload: '{}', kind: 'event' })).rejects.toThrow(/./)
  expect(service.workers).toHaveLength(1)
  expect(await lambda.limits('render')).toEqual({ timeoutMs: 30_000, retries: 2, eventAgeMs: 21_600_000 })
})

test('Cloud Run: runs, lists, tells of and cancels executions, with a token from the machine it runs on', async () => {
  const service = await startFakeCloudRun()
  vi.stubEnv('GCE_METADATA_HOST', service.url.replace('http://', ''))
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined)
  vi.stubEnv('HOME', '/nowhere')
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'p')
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await service.close()
  })
  const cloudRun = openCloudRun({ endpoint: service.url })
  const name = await cloudRun.run(JOB, { containerOverrides: [{ env: [{ name: 'A', value: '1' }] }], timeout: '60s' })
  expect(service.workers).toMatchObject([{ id: name, env: { A: '1' } }])
  expect((await cloudRun.executions(JOB, null)).executions).toMatchObject([{ name }])
  await cloudRun.cancel(name)
  expect(await cloudRun.execution(name)).toMatchObject({ cancelledCount: 1 })
  expect(await cloudRun.execution(`${name}9`)).toBeNull()
})

test('Cloud Run: pages go to the end, and a refusal says status and code', async () => {
  const service = await startFakeCloudRun()
  onTestFinished(() => service.close())
  const cloudRun = openCloudRun({ endpoint: service.url, accessToken: async () => service.accessToken })
  for (let run = 0; run < 150; run += 1) await cloudRun.run(JOB, {})
  const first = await cloudRun.executions(JOB, null)
  const second = await cloudRun.executions(JOB, first.nextPageToken)
  expect([first.executions.length, second.executions.length, second.nextPageToken]).toEqual([100, 50, null])
  service.trouble('run', 'throttled')
  await expect(cloudRun.run(JOB, {})).rejects.toMatchObject({
    status: 429,
    code: 'RESOURCE_EXHAUSTED',
    retryAfterMs: 2_000,
  })
  service.trouble('run', 'broken after')
  await expect(cloudRun.run(JOB, {})).rejects.toMatchObject({ status: null, code: 'NO_ANSWER' })
})
