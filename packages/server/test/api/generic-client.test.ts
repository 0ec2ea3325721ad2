// A client that knows nothing but the API document: it submits, claims, fails, retries and settles a task with it.

import { type Document, OpenAPIClientAxios } from 'openapi-client-axios'
import { describe, expect, test } from 'vitest'
import { STORES, startApi } from './fixture.ts'

type Call = (
  parameters: object | null,
  body?: unknown,
) => Promise<{ readonly status: number; readonly data: { readonly [field: string]: never } }>

describe.each(STORES)('on $name', (store) => {
  test('a generic client made from the document alone runs a task through its life', async () => {
    const api = await startApi(store)
    const definition = (await (await fetch(`${api.url}/api/v1/openapi.json`)).json()) as Document
    expect(definition.servers).toMatchObject([{ url: api.url }])
    const clientFor = async (token: string) => {
      const generic = new OpenAPIClientAxios({
        definition,
        axiosConfigDefaults: { headers: { authorization: `Bearer ${token}` } },
      })
      return (await generic.init()) as unknown as Readonly<Record<string, Call>>
    }
    const operator = await clientFor(api.tokens.operator)
    const worker = await clientFor(api.tokens.worker)

    const submitted = await operator.submitTask?.(null, { action: 'greet', payload: { name: 'Ann' } })
    expect(submitted?.status).toBe(201)
    const id = submitted?.data.id
    const registered = await worker.registerWorker?.(null, { worker: 'generic', pools: ['default'] })
    const claiming = { worker: 'generic', epoch: registered?.data.epoch, pools: ['default'] }
    const claim = async () => {
      const claims = await worker.claim?.(null, claiming)
      const [lease] = (claims?.data.claimed ?? []) as readonly { readonly [field: string]: never }[]
      return { taskId: lease?.taskId, attempt: lease?.attempt, token: lease?.token }
    }
    const failure = { ...(await claim()), outcome: 'failed', error: { message: 'no such name', retryable: false } }
    await worker.settle?.(null, { settlements: [failure] })
    expect((await operator.retryExecution?.({ id }))?.data).toEqual({ taskId: id, attempt: 2, status: 'queued' })
    const end = { ...(await claim()), outcome: 'succeeded', result: 'Hello, Ann' }
    await worker.settle?.(null, { settlements: [end] })
    const task = await operator.getTask?.({ id })
    expect(task?.data).toMatchObject({ attempt: 2, state: { status: 'succeeded', result: 'Hello, Ann' } })
    const found = await operator.listTasks?.({ q: 'status:succeeded action:greet' })
    expect(found?.data).toMatchObject({ items: [{ id }] })
  })
})
