// Ids that callers limited to tenants choose: they neither meet another tenant's nor tell of it, and every route finds the own.

import { taskId } from '@reprise/core'
import { expect, test } from 'vitest'
import { type Answered, type Api, STORES, startApi } from './fixture.ts'

const ID = 'order-17'

async function twoTenants(api: Api) {
  const [acme, blue] = [await api.tokenFor('operator', ['acme']), await api.tokenFor('operator', ['blue'])]
  return { acme: { token: acme }, blue: { token: blue } }
}

const submission = (id: string, payload: unknown = {}) => ({ action: 'render', id, payload, delay: '1h' })
const shape = ({ status, body }: Answered, id: string): unknown => {
  const { requestId: _, ...problem } = body as Record<string, unknown>
  return [status, JSON.parse(JSON.stringify(problem).replaceAll(id, 'ID'))]
}

test.each(STORES)('intruder 12: an id of one tenant is free for another, on $name', async (store) => {
  const api = await startApi(store)
  const { acme, blue } = await twoTenants(api)
  const first = await api.post('/api/v1/tasks', submission(ID, 'of acme'), acme)
  expect([first.status, first.body]).toEqual([201, { id: `@acme~${ID}`, outcome: 'accepted' }])
  const other = await api.post('/api/v1/tasks', submission(ID, 'of blue'), blue)
  expect([other.status, other.body]).toEqual([201, { id: `@blue~${ID}`, outcome: 'accepted' }])
  // A repetition is found, by the short and by the stored id.
  for (const id of [ID, `@acme~${ID}`]) {
    const again = await api.post('/api/v1/tasks', submission(id, 'of acme'), acme)
    expect([again.status, again.body]).toEqual([200, { id: `@acme~${ID}`, outcome: 'duplicate' }])
  }
  const lines = [ID, 'fresh'].map((id) => `${JSON.stringify(submission(id, 'of blue'))}\n`).join('')
  const bulk = await api.send('POST', '/api/v1/tasks/bulk', {
    ...blue,
    raw: lines,
    headers: { 'content-type': 'application/x-ndjson' },
  })
  expect(
    bulk.text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toMatchObject([
    { id: `@blue~${ID}`, outcome: 'duplicate' },
    { id: '@blue~fresh', outcome: 'accepted' },
  ])
  // Nobody can take the id away beforehand either.
  await api.post('/api/v1/tasks', submission('@acme~next'), blue)
  expect((await api.post('/api/v1/tasks', submission('next'), acme)).status).toBe(201)
  const whole = await api.post('/api/v1/tasks', { ...submission('@acme~later'), tenant: 'blue' })
  expect([whole.status, whole.body]).toMatchObject([400, { code: 'REPRISE_INVALID' }])
  expect((await api.post('/api/v1/tasks', { ...submission('@acme~later'), tenant: 'acme' })).status).toBe(201)
  expect((await api.post('/api/v1/tasks', submission('plain'))).body).toMatchObject({ id: 'plain' })
})

test.each(STORES)('intruder 12: every route finds the own task by the id that was chosen, on $name', async (store) => {
  const api = await startApi(store)
  const { acme, blue } = await twoTenants(api)
  await api.post('/api/v1/tasks', submission(ID, 'of acme'), acme)
  await api.post('/api/v1/tasks', submission(ID, 'of blue'), blue)
  const stored = `@acme~${ID}`
  for (const id of [ID, encodeURIComponent(stored)]) {
    expect((await api.get(`/api/v1/tasks/${id}`, acme)).body).toMatchObject({ id: stored, payload: 'of acme' })
    expect((await api.get(`/api/v1/tasks/${id}?wait=1`, acme)).body).toMatchObject({ id: stored })
    expect((await api.get(`/api/v1/tasks/${id}/explain`, acme)).body).toMatchObject({ task: { id: stored } })
    expect((await api.get(`/api/v1/tasks/${id}/executions`, acme)).body).toMatchObject({ items: [] })
    expect((await api.get(`/api/v1/tasks?q=id:${id}`, acme)).body).toMatchObject({ items: [{ id: stored }] })
    expect((await api.get(`/api/v1/tasks/export?q=id:${id}`, acme)).text).toContain(stored)
  }
  expect((await api.get('/api/v1/tasks?q=id:order-*', acme)).body).toMatchObject({ items: [{ id: stored }] })
  expect((await api.post('/api/v1/notes', { task: ID, text: 'look here' }, acme)).status).toBe(201)
  expect((await api.get(`/api/v1/tasks/${ID}`, acme)).body).toMatchObject({ notes: [{ text: 'look here' }] })
  expect((await api.get(`/api/v1/events?task=${ID}`, acme)).body).toMatchObject({
    items: [{ data: { taskId: stored } }],
  })
  expect((await api.get(`/api/v1/events?task=${ID}`, blue)).body).toMatchObject({ items: [] })
  expect((await api.post('/api/v1/tasks/promote', { ids: [ID, stored] }, acme)).body).toMatchObject({
    changed: [stored],
  })
  expect((await api.post(`/api/v1/tasks/${ID}/cancel`, {}, acme)).body).toMatchObject({ id: stored })
  expect((await api.engine.task(taskId(`@blue~${ID}`)))?.state.status).toBe('waiting')
  expect((await api.post(`/api/v1/executions/${ID}/retry`, {}, acme)).status).toBe(404)
  expect((await api.post('/api/v1/tasks/cancel', { ids: [ID] }, blue)).body).toMatchObject({ changed: [`@blue~${ID}`] })
})

test.each(STORES)("intruder 12: another tenant's id answers as one that does not exist, on $name", async (store) => {
  const api = await startApi(store)
  const { acme, blue } = await twoTenants(api)
  await api.post('/api/v1/tasks', submission(ID), blue)
  await api.post('/api/v1/tasks', { ...submission('plain-blue'), tenant: 'blue' })
  const note = await api.post('/api/v1/notes', { task: ID, text: 'ours' }, blue)
  const { id: noteId } = note.body as { readonly id: string }
  const asked = async (id: string) => {
    const path = encodeURIComponent(id)
    return [
      await api.get(`/api/v1/tasks/${path}`, acme),
      await api.get(`/api/v1/tasks/${path}/executions/1`, acme),
      await api.post(`/api/v1/tasks/${path}/cancel`, {}, acme),
      await api.post('/api/v1/tasks/cancel', { ids: [id] }, acme),
      await api.post(`/api/v1/executions/${path}/retry`, {}, acme),
      await api.post('/api/v1/notes', { task: id, text: 'x' }, acme),
      await api.get(`/api/v1/tasks?q=${encodeURIComponent(`id:"${id}"`)}`, acme),
    ].map((answer) => shape(answer, id))
  }
  const nowhere = await asked('nowhere')
  expect(nowhere.slice(0, 6).map((one) => (one as [number])[0])).toEqual([404, 404, 404, 404, 404, 404])
  for (const id of [ID, 'plain-blue']) expect(await asked(id)).toEqual(nowhere)
  expect(await asked(`@blue~${ID}`)).toEqual(await asked('@blue~nowhere'))
  const removed = await api.send('DELETE', `/api/v1/notes/${noteId}`, acme)
  const unknown = await api.send('DELETE', '/api/v1/notes/no-such-note', acme)
  expect(shape(removed, noteId)).toEqual(shape(unknown, 'no-such-note'))
})

test.each(STORES)('intruder 12: dedupe keys belong to a tenant, on $name', async (store) => {
  const api = await startApi(store)
  const { acme, blue } = await twoTenants(api)
  const task = { action: 'render', payload: {}, delay: '1h', dedupeKey: 'k' }
  expect((await api.post('/api/v1/tasks', task, acme)).status).toBe(201)
  expect((await api.post('/api/v1/tasks', task, blue)).status).toBe(201)
  expect((await api.post('/api/v1/tasks', task, acme)).status).toBe(200)
})
