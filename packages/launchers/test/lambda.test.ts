// What a function is sent, and what its answers and ends mean.

import { type FakeEnd, type FakeLambdaOptions, startFakeLambda } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { createLambdaLauncher, type LambdaLauncherOptions } from '../src/index.ts'
import { anOrder, ended, never, refOf, sighting } from './fixture.ts'
import { failureIn } from './process-fixture.ts'

process.env.AWS_ACCESS_KEY_ID = 'test'
process.env.AWS_SECRET_ACCESS_KEY = 'test'

async function aLambda(options: Partial<LambdaLauncherOptions> = {}, service: FakeLambdaOptions = {}) {
  const lambda = await startFakeLambda(service)
  const launcher = createLambdaLauncher({
    functionName: 'render',
    region: 'eu-west-1',
    endpoint: lambda.url,
    answerWithin: 50,
    ...options,
  })
  onTestFinished(async () => {
    await launcher.close()
    await lambda.close()
  })
  return { lambda, launcher }
}

test('A11: a function gets the order as a plugin does, with its payload and where to call back', async () => {
  const { lambda, launcher } = await aLambda({
    callbackUrl: 'https://reprise.example/task-complete',
    actions: { render: { qualifier: 'live' } },
  })
  const order = anOrder()
  await launcher.launch(order, never)
  const [call] = lambda.callsOf('Invoke')
  expect(call?.headers).toMatchObject({ 'x-amz-invocation-type': 'Event' })
  expect(call?.url.searchParams.get('Qualifier')).toBe('live')
  expect(call?.body).toMatchObject({
    taskId: 'task-1',
    attempt: 1,
    token: order.token,
    retryToken: 'retry-1',
    callbackUrl: 'https://reprise.example/task-complete',
    payload: { page: 7 },
  })
})

test.each([
  [{ result: { pages: 3 } }, '{"pages":3}'],
  [{ pages: 3 }, '{"pages":3}'],
  [null, null],
])('the answer %j of a request is a success', async (answer, result) => {
  const { lambda, launcher } = await aLambda({ invocation: 'request' })
  lambda.onStarted = (worker) => {
    worker.answer = answer
    worker.exit()
  }
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  expect(await sighting(launcher, refOf(order, handle))).toEqual({
    status: 'ended',
    handle,
    outcome: { ok: true, result },
  })
})

test('an answer with an error, and a time-out of the function, are failures of the attempt', async () => {
  const { lambda, launcher } = await aLambda({ invocation: 'request' })
  const order = anOrder()
  await launcher.launch(order, never)
  const told = ended(launcher, order)
  const worker = lambda.workers[0]
  if (worker !== undefined) worker.answer = { error: { code: 'QUOTA', message: 'Not today.', retryable: false } }
  worker?.exit()
  expect(failureIn(await told)).toMatchObject({ code: 'QUOTA', retriable: false })

  const slow = anOrder({ id: 'slow' })
  await launcher.launch(slow, never)
  const over = ended(launcher, slow)
  lambda.workers[1]?.finish({ by: 'deadline' })
  expect(failureIn(await over)).toMatchObject({ code: 'timeout', retriable: true })
})

test.each<[FakeEnd, string]>([
  [{ by: 'out of memory' }, 'WORKER_OUT_OF_MEMORY'],
  [{ by: 'exit', exitCode: 1 }, 'WORKER_ENDED'],
])('A11: a function that ended by %j is lost, and its cause is %s', async (end, code) => {
  const { lambda, launcher } = await aLambda({ invocation: 'request' })
  const order = anOrder()
  await launcher.launch(order, never)
  const told = ended(launcher, order)
  lambda.workers[0]?.finish(end)
  expect(await told).toMatchObject({ status: 'vanished', cause: { code } })
})

test.each([
  // 30 s for the function, 60 s in the queue, 30 s until we hear of it.
  { retries: 0, ms: 120_000 },
  // With two runs more, which Lambda begins after pauses of two minutes.
  { retries: 2, ms: 420_000 },
])(
  'an event counts as running until the function’s own time is over, with $retries retries of Lambda itself',
  async ({ retries, ms }) => {
    const eventConfig = { MaximumRetryAttempts: retries, MaximumEventAgeInSeconds: 60 }
    const { launcher } = await aLambda({}, { timeoutS: 30, eventConfig })
    const order = anOrder({ timeoutMs: 10_000_000 })
    const before = Date.now()
    const { handle } = await launcher.launch(order, never)
    const until = Number(handle.split(':')[1])
    expect(until - before).toBeGreaterThanOrEqual(ms)
    expect(until - before).toBeLessThan(ms + 60_000)
  },
)
