// reprise webhooks, through a server and straight on a store: made, looked at and removed.

import { OPERATIONS } from '@reprise/operations'
import { expect, test } from 'vitest'
import { serverAndStore, WAYS } from './server-and-store.ts'

test.each(WAYS)('over %s: a webhook is made with a secret, listed, and removed', async (way) => {
  const here = await serverAndStore()
  const argv = ['webhooks', 'create', 'https://8.8.8.8/in', '--type', 'breaker.*', '--description', 'pager']
  const made = await here.over(way, ...argv, '-o', 'json')
  const { webhook, secret } = OPERATIONS.createWebhook.output.parse(JSON.parse(made.stdout))
  expect([webhook.types, webhook.description, secret]).toEqual([['reprise.breaker.*'], 'pager', expect.any(String)])
  const listed = await here.over(way, 'webhooks', '-o', 'json')
  expect(OPERATIONS.listWebhooks.output.shape.items.parse(JSON.parse(listed.stdout))).toEqual([webhook])
  expect((await here.over(way, 'webhooks')).stdout).toMatch(/on +https:\/\/8\.8\.8\.8\/in +reprise\.breaker\.\*/)
  expect((await here.over(way, 'webhooks', 'deliveries', webhook.id)).stderr).toContain('Nothing was sent')
  expect(await here.over(way, 'webhooks', 'redeliver', webhook.id)).toMatchObject({ exitCode: 2 })
  expect(await here.over(way, 'webhooks', 'remove', webhook.id, 'another')).toMatchObject({ exitCode: 2 })
  expect(await here.over(way, 'webhooks', 'redeliver', webhook.id, 'none')).toMatchObject({ exitCode: 3 })
  const held = await here.over(way, 'webhooks', 'disable', webhook.id, '-o', 'json')
  expect(OPERATIONS.getWebhook.output.parse(JSON.parse(held.stdout))).toMatchObject({ enabled: false })
  expect((await here.over(way, 'webhooks', 'enable', webhook.id)).stdout).toContain('is on')
  expect(await here.over(way, 'webhooks', 'remove', webhook.id)).toMatchObject({ exitCode: 0 })
  expect(await here.over(way, 'webhooks', 'remove', webhook.id)).toMatchObject({ exitCode: 3, stdout: '' })
})
