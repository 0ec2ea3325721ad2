// What became of a launch that was accepted, as told to whoever asks: the process that launched it, or another one.

import { systemClock } from '@reprise/core'
import { expect, test, vi } from 'vitest'
import { verifyRequest } from '../src/index.ts'
import { anOrder, never, refOf, sighting, sightingOnce } from './fixture.ts'
import { anHttpLauncher, aPlugin, json, secret } from './http-fixture.ts'
import { failureIn } from './process-fixture.ts'

const later = { ...systemClock, now: () => Date.now() + 60_000 }

test('A11: accepted with a status address: any launcher asks there', async () => {
  let status: [number, unknown] = [200, { status: 'running' }]
  const plugin = await aPlugin((request, response) => {
    if (request.method === 'POST') json(response, 202, {}, { location: '/runs/7?x=1' })
    else json(response, ...status)
  })
  const order = anOrder()
  const { handle } = await anHttpLauncher(plugin).launch(order, never)
  const other = anHttpLauncher(plugin)
  const look = () => sighting(other, refOf(order, handle))

  expect(await look()).toEqual({ status: 'running', handle })
  const question = plugin.received.at(-1)
  expect(question).toMatchObject({ method: 'GET', path: '/runs/7?x=1' })
  const asked = { url: question?.path ?? '', headers: question?.headers ?? {}, body: '' }
  expect(verifyRequest({ ...asked, method: 'GET' }, secret)).toBe(true)
  // A question that somebody listened in on does not end the worker.
  expect(verifyRequest({ ...asked, method: 'DELETE' }, secret)).toBe(false)
  status = [200, { status: 'succeeded', result: 5 }]
  expect(await look()).toEqual({ status: 'ended', handle, outcome: { ok: true, result: '5' } })
  status = [200, { status: 'failed', error: { code: 'E', message: 'No.', retryable: true } }]
  expect(failureIn(await look())).toMatchObject({ code: 'E', message: 'No.', retriable: true })
  status = [200, { status: 'confused' }]
  expect(await look()).toEqual({ status: 'unknown' })
  status = [500, {}]
  expect(await look()).toEqual({ status: 'unknown' })
  for (const gone of [404, 410]) {
    status = [gone, {}]
    expect(await look()).toEqual({ status: 'vanished' })
  }
  await other.end(refOf(order, handle), 0)
  expect(plugin.received.at(-1)).toMatchObject({ method: 'DELETE', path: '/runs/7?x=1' })
})

test('accepted without a status address: running until it can not call back any more', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 202, { handle: 'job-7' }))
  const order = anOrder({ timeoutMs: 1_000 })
  const { handle } = await anHttpLauncher(plugin).launch(order, never)
  expect(handle).toMatch(/^callback:\d+:job-7$/)
  expect(await sighting(anHttpLauncher(plugin), refOf(order, handle))).toEqual({ status: 'running', handle })
  expect(await sighting(anHttpLauncher(plugin, { clock: later }), refOf(order, handle))).toEqual({ status: 'vanished' })
})

test('A2: an attempt that was released is sent again once its first request has ended, with an outcome of its own', async () => {
  const answers: (() => void)[] = []
  const plugin = await aPlugin((_request, response) => {
    answers.push(() => json(response, 200, { result: answers.length }))
  })
  const launcher = anHttpLauncher(plugin, { answerWithin: 100 })
  const [old, fresh] = [anOrder(), anOrder()]
  const { handle } = await launcher.launch(old, never)
  const ref = { ...refOf(fresh), token: fresh.token }
  await expect(launcher.launch(fresh, never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
  expect(await sighting(launcher, ref)).toEqual({ status: 'unknown' })
  await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 30_000 })
  answers[0]?.()
  await sightingOnce(launcher, refOf(old, handle), 'ended')
  // Another process may have sent it, and nobody can be asked.
  expect(await sighting(launcher, ref)).toEqual({ status: 'vanished' })
  await launcher.launch(fresh, never)
  await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 30_000 })
  answers[1]?.()
  const seen = await sightingOnce(launcher, ref, 'ended')
  expect(seen.outcome).toEqual({ ok: true, result: '2' })
  expect(plugin.received).toHaveLength(2)
  await expect(launcher.launch(fresh, never)).rejects.toMatchObject({ code: 'REPRISE_DUPLICATE_EXECUTION' })
})

test('409: somebody sent this key before, and the plugin has it: accepted', async () => {
  const plugin = await aPlugin((_request, response) => json(response, 409, {}, { location: '/runs/7' }))
  const { handle } = await anHttpLauncher(plugin).launch(anOrder(), never)
  expect(handle).toMatch(/^status:\d+:http:\/\/127\.0\.0\.1:\d+\/runs\/7$/)
})

test('intruder 5: a status address elsewhere is not asked, whether a plugin gives it or the store', async () => {
  const elsewhere = await aPlugin((_request, response) => json(response, 200, { status: 'succeeded', result: 1 }))
  const plugin = await aPlugin((_request, response) => json(response, 202, {}, { location: `${elsewhere.origin}/x` }))
  const launcher = anHttpLauncher(plugin)
  const order = anOrder()
  const { handle } = await launcher.launch(order, never)
  expect(handle).toMatch(/^callback:/)
  const forged = refOf(anOrder({ id: 'other' }), `status:${Date.now() + 60_000}:${elsewhere.origin}/x`)
  expect(await sighting(launcher, forged)).toEqual({ status: 'unknown' })
  await launcher.end(forged, 0)
  expect(elsewhere.received).toEqual([])
})

test('a synchronous launch of another process: unknown while that lives, vanished when it is dead', async () => {
  const plugin = await aPlugin(() => undefined)
  const order = anOrder({ timeoutMs: 10_000 })
  const { handle } = await anHttpLauncher(plugin, { answerWithin: 50 }).launch(order, never)
  expect(handle).toMatch(/^sync:/)
  const other = anHttpLauncher(plugin)
  expect(await sighting(other, refOf(order, handle))).toEqual({ status: 'unknown' })
  const dead = handle.replace(/:\d+$/, ':1')
  expect(await sighting(other, refOf(order, dead))).toEqual({ status: 'vanished' })
  const ofAnotherHost = handle.replace(/^(sync:\d+):[^:]+/, '$1:elsewhere')
  expect(await sighting(other, refOf(order, ofAnotherHost))).toEqual({ status: 'unknown' })
  expect(await sighting(anHttpLauncher(plugin, { clock: later }), refOf(order, ofAnotherHost))).toEqual({
    status: 'vanished',
  })
})

test('fault 4: a launch that nobody noted may have run; with a status address for its key the plugin tells', async () => {
  const plugin = await aPlugin((request, response) => {
    if (request.path === '/by-key/known') json(response, 200, { status: 'succeeded', result: 1 })
    else json(response, request.path === '/by-key/expired' ? 410 : 404, {})
  })
  expect(await sighting(anHttpLauncher(plugin), { key: 'known', handle: null })).toEqual({ status: 'vanished' })
  const launcher = anHttpLauncher(plugin, { statusUrl: (key) => `${plugin.origin}/by-key/${encodeURIComponent(key)}` })
  const refs = ['known', 'expired', 'nobody'].map((key) => ({ key, handle: null }))
  expect(await launcher.look(refs)).toMatchObject([
    { status: 'ended', outcome: { ok: true, result: '1' } },
    { status: 'vanished' },
    { status: 'never' },
  ])
})
