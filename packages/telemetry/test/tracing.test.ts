// Traces across client, store and worker with a real SDK: submission, attempts linked to it, settlement, and the handler's own
// spans inside of the attempt. And that nothing of it is there, or can go wrong, without one.

import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { type Client, createClient } from '@reprise/client'
import { parseTraceparent, seededRandom, silentLogger, VirtualClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { inRequest, traceparentFor } from '@reprise/telemetry'
import { type AnyAction, createWorker, defineAction, PermanentError, TransientError } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'

function tracing(...more: SpanProcessor[]): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [...more, new SimpleSpanProcessor(exporter)] })
  provider.register()
  onTestFinished(async () => {
    await provider.shutdown()
    trace.disable()
    context.disable()
  })
  return exporter
}

async function product(
  ...actions: AnyAction[]
): Promise<{ readonly client: Client; readonly clock: VirtualClock; readonly stop: () => Promise<void> }> {
  const clock = new VirtualClock()
  const engine = await openSqliteEngine({ path: ':memory:', clock })
  const client = await createClient({ engine, clock })
  const worker = await createWorker({ engine, clock, id: 'w1', random: seededRandom(1), log: silentLogger, actions })
  const stop = () => worker.stop({ grace: 0 })
  onTestFinished(async () => {
    await stop()
    await client.close()
    await engine.close()
  })
  return { client, clock, stop }
}

const named = (exporter: InMemorySpanExporter, name: string): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name)

const one = (spans: readonly ReadableSpan[]): ReadableSpan => {
  const [span, ...others] = spans
  if (span === undefined || others.length > 0) throw new Error(`expected one span, found ${spans.length}`)
  return span
}

const idle = defineAction({ name: 'idle', run: () => null })

describe('traces', () => {
  test('a submission and its attempts: linked, with attributes, and the handler runs in the attempt', async () => {
    const exporter = tracing()
    const seen: (Span | undefined)[] = []
    const flaky = defineAction({
      name: 'flaky',
      retry: { max: 1 },
      async run(_input: null, { attempt }) {
        await trace.getTracer('app').startActiveSpan('own', async (span) => {
          await Promise.resolve()
          seen.push(trace.getActiveSpan())
          span.end()
        })
        if (attempt === 1) throw new TransientError('not yet')
      },
    })
    const { client, clock, stop } = await product(flaky)
    const task = await trace.getTracer('app').startActiveSpan('request', async (span) => {
      const submitted = await client.submit(flaky, null, { tenant: 'acme' })
      span.end()
      return submitted
    })
    while ((await client.getTask({ id: task.id })).state.status !== 'succeeded') await clock.advance(1_000)
    await stop()

    const request = one(named(exporter, 'request'))
    const submit = one(named(exporter, 'reprise.submit'))
    expect(submit.kind).toBe(SpanKind.PRODUCER)
    expect(submit.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
    expect(submit.attributes).toMatchObject({
      'reprise.task_id': task.id,
      'reprise.action': 'flaky',
      'reprise.tenant': 'acme',
    })
    const label = parseTraceparent((await client.getTask({ id: task.id })).labels.traceparent)
    expect(label).toMatchObject({
      traceId: submit.spanContext().traceId,
      spanId: submit.spanContext().spanId,
      traceFlags: 1,
    })

    const attempts = named(exporter, 'reprise.attempt')
    expect(attempts.map(({ attributes }) => attributes['reprise.attempt'])).toEqual([1, 2])
    for (const attempt of attempts) {
      expect(attempt.kind).toBe(SpanKind.CONSUMER)
      expect(attempt.parentSpanContext).toBeUndefined()
      expect(attempt.spanContext().traceId).not.toBe(submit.spanContext().traceId)
      expect(attempt.links).toHaveLength(1)
      expect(attempt.links[0]?.context).toMatchObject({ spanId: submit.spanContext().spanId, isRemote: true })
      expect(attempt.attributes).toMatchObject({
        'reprise.task_id': task.id,
        'reprise.action': 'flaky',
        'reprise.pool': 'default',
        'reprise.tenant': 'acme',
      })
    }
    expect(attempts[0]?.status.code).toBe(SpanStatusCode.ERROR)
    expect(attempts[0]?.attributes).toMatchObject({ 'reprise.outcome': 'failed', 'reprise.decision': 'retry' })
    expect(JSON.stringify(attempts[0]?.attributes)).not.toContain('not yet')
    expect(attempts[1]?.status.code).toBe(SpanStatusCode.UNSET)
    expect(attempts[1]?.attributes).toMatchObject({ 'reprise.outcome': 'succeeded' })

    const owns = named(exporter, 'own')
    expect(owns.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      attempts.map((attempt) => attempt.spanContext().spanId),
    )
    expect(seen.map((span) => span?.spanContext().spanId)).toEqual(owns.map((own) => own.spanContext().spanId))

    const settles = named(exporter, 'reprise.settle')
    expect(settles.flatMap(({ links }) => links.map((link) => link.context.spanId))).toEqual(
      attempts.map((attempt) => attempt.spanContext().spanId),
    )
    expect(settles.map(({ attributes }) => attributes['reprise.settlements'])).toEqual([1, 1])
  })

  test('an attempt that runs out of time ends its span then, though its handler runs on', async () => {
    const exporter = tracing()
    const stuck = defineAction({ name: 'stuck', timeout: '5s', run: () => new Promise<void>(() => {}) })
    const { client, clock } = await product(stuck)
    const task = await client.submit(stuck, null)
    while ((await client.getTask({ id: task.id })).state.status !== 'dead') await clock.advance(1_000)
    expect(one(named(exporter, 'reprise.attempt')).attributes).toMatchObject({
      'reprise.outcome': 'failed',
      'reprise.reason': 'timeout',
    })
  })

  test('a label that is no trace context is passed over, and one that the caller set stays', async () => {
    const exporter = tracing()
    const { client } = await product(idle)
    const odd = await client.submit(idle, null, { labels: { traceparent: 'nonsense' } })
    const given = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const own = await client.submit(idle, null, { labels: { traceparent: given } })
    await Promise.all([odd.result(), own.result()])
    expect((await client.getTask({ id: odd.id })).labels).toEqual({ traceparent: 'nonsense' })
    const links = new Map(
      named(exporter, 'reprise.attempt').map((span) => [span.attributes['reprise.task_id'], span.links]),
    )
    expect(links.get(odd.id)).toEqual([])
    expect(links.get(own.id)?.map((link) => link.context.spanId)).toEqual(['00f067aa0ba902b7'])
  })

  test('a task that has all the labels it may is submitted without one more', async () => {
    tracing()
    const { client } = await product(idle)
    const labels = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`l${index}`, 'x']))
    const task = await client.submit('anything', null, { labels })
    expect((await client.getTask({ id: task.id })).labels).toEqual(labels)
  })

  test('a submission that is refused ends its span with an error, and the error comes through', async () => {
    const exporter = tracing()
    const clock = new VirtualClock()
    const engine = await openSqliteEngine({ path: ':memory:', clock, maxBacklog: 1 })
    onTestFinished(() => engine.close())
    const small = await createClient({ engine, clock })
    await expect(small.submitMany('anything', [1, 2])).rejects.toMatchObject({ code: 'REPRISE_BACKLOG_FULL' })
    expect(named(exporter, 'reprise.submit').at(-1)).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'reprise.tasks': 2, 'error.type': 'BacklogFullError' },
    })
  })

  test('an SDK with something broken in it loses no task', async () => {
    const broken = (): never => {
      throw new Error('The collector is on fire.')
    }
    tracing({ onStart: broken, onEnd: broken, forceFlush: async () => {}, shutdown: async () => {} })
    const plain = defineAction({ name: 'plain', run: () => 7 })
    const { client } = await product(plain)
    expect(await (await client.submit(plain, null)).result()).toBe(7)
  })
})

test('without an SDK there is no span and no label, and everything works', async () => {
  const seen: (Span | undefined)[] = []
  const plain = defineAction({ name: 'plain', run: () => void seen.push(trace.getActiveSpan()) })
  const final = defineAction({ name: 'final', run: () => Promise.reject(new PermanentError('no')) })
  const { client } = await product(plain, final)
  const task = await client.submit(plain, null)
  await task.result()
  const dead = await client.submit(final, null)
  await expect(dead.result()).rejects.toThrow('no')
  expect((await client.getTask({ id: task.id })).labels).toEqual({})
  expect(seen).toEqual([undefined])
})

describe('requests', () => {
  const incoming = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const request = { method: 'POST', route: '/api/v1/tasks', traceparent: incoming }

  test('a request goes on with the trace of its caller, and its context is what a task gets', async () => {
    const exporter = tracing()
    const label = await inRequest(
      request,
      async () => traceparentFor(incoming),
      () => 202,
    )
    const span = one(named(exporter, 'reprise.request'))
    expect(span.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
    expect(span.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
    expect(span.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/v1/tasks',
      'http.response.status_code': 202,
    })
    expect(parseTraceparent(label)?.spanId).toBe(span.spanContext().spanId)
    await expect(inRequest(request, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(named(exporter, 'reprise.request').at(-1)?.status.code).toBe(SpanStatusCode.ERROR)
  })

  test('without an SDK the caller’s context is handed on as it came, and nonsense is dropped', async () => {
    expect(await inRequest(request, async () => traceparentFor(incoming))).toBe(incoming)
    const odd = { ...request, traceparent: 'nonsense' }
    expect(await inRequest(odd, async () => traceparentFor('nonsense'))).toBeNull()
  })
})
