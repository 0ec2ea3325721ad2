// Webhooks: what was sent for one tenant seen by another, and addresses that must not be called or told.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { type AttackCase, judged } from '../case.ts'
import type { Scene } from '../stage/scene.ts'
import { submitted, until } from './tasks.ts'

interface Listener {
  readonly url: string
  /** Everything that was sent to it. */
  readonly heard: () => string
}

async function listening({ later }: Scene): Promise<Listener> {
  let heard = ''
  const server = createServer((request: IncomingMessage, response) => {
    request.on('data', (chunk: Buffer) => {
      heard += chunk.toString('utf8')
    })
    request.once('end', () => response.writeHead(200).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  later(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, heard: () => heard }
}

interface WebhookAnswer {
  readonly webhook: { readonly id: string }
}

export const webhookCases: readonly AttackCase[] = [
  {
    name: 'deliveries-of-a-narrowed-webhook',
    tries: "A tenant's admin gets a webhook that was everybody's, and with it what it sent for others.",
    run: async (scene) => {
      const { a, b, admin } = scene
      const first = await listening(scene)
      const made = await admin.post<WebhookAnswer>('/api/v1/webhooks', { url: first.url })
      if (made.status !== 201) throw new Error(`The webhook was not made: ${made.text.slice(0, 300)}`)
      const { id } = made.body.webhook
      const victim = await b.as('operator')
      const task = await submitted(victim, { action: 'nobody.runs-this', pool: 'nobody' })
      const canary = `canary of ${b.tenant}`
      await victim.post(`/api/v1/tasks/${task}/cancel`, { reason: canary })
      const isSent = await until(async () => first.heard().includes(canary))
      if (!isSent) throw new Error('The webhook sent nothing.')
      await admin.send('PATCH', `/api/v1/webhooks/${id}`, { body: { tenant: a.tenant } })
      const attacker = await a.as('admin')
      const listed = await attacker.get<{ readonly items?: readonly { readonly id: string }[] }>(
        `/api/v1/webhooks/${id}/deliveries?limit=100`,
      )
      const second = await listening(scene)
      await attacker.send('PATCH', `/api/v1/webhooks/${id}`, { body: { url: second.url } })
      const everything = await admin.get<{ readonly items?: readonly { readonly id: string }[] }>(
        `/api/v1/webhooks/${id}/deliveries?limit=100`,
      )
      const known = [...(listed.body.items ?? []), ...(everything.body.items ?? [])]
      let pending = 0
      for (const delivery of known) {
        const again = await attacker.post(`/api/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`, {})
        if (again.status < 400) pending++
      }
      if (pending > 0) await until(async () => second.heard().includes(canary))
      const isListed = listed.text.includes(canary)
      const isSentAgain = second.heard().includes(canary)
      return judged(
        isListed || isSentAgain,
        `${isListed ? 'listed' : 'not listed'}, ${isSentAgain ? 'sent again' : 'not sent again'}`,
      )
    },
  },
  {
    name: 'addresses-in-refusals',
    tries: "A tenant's admin learns what internal names stand for, from the refusal of a webhook.",
    run: async ({ a, another }) => {
      // Nothing is allowed there that is not public.
      const { admin } = await another({ settings: {} })
      const made = await admin.post<{ readonly token: string }>('/api/v1/tokens', {
        name: 'theirs',
        role: 'admin',
        tenants: [a.tenant],
      })
      const attacker = admin.as(made.body.token)
      const names = ['localhost', hostname(), 'ip6-localhost']
      const answers = await Promise.all(
        names.map((name) => attacker.post('/api/v1/webhooks', { url: `https://${name}/hook`, tenant: a.tenant })),
      )
      const told = answers.filter(({ text }) => /\b\d+\.\d+\.\d+\.\d+\b|[\da-f]*::[\da-f]+/.test(text))
      return judged(told.length > 0, told.length > 0 ? `told: ${told[0]?.text.slice(0, 160)}` : 'no address is told')
    },
  },
  {
    name: 'addresses-of-clouds',
    tries: 'A webhook is pointed at addresses that only hosts of a cloud should reach.',
    run: async ({ a }) => {
      const attacker = await a.as('admin')
      const hosts = [
        '168.63.129.16',
        '169.254.169.254',
        '169.254.170.2',
        '100.100.100.200',
        '192.0.0.192',
        '[fd00:ec2::254]',
        '[::ffff:168.63.129.16]',
        '[64:ff9b::a83f:8110]',
        '2822734096',
        '0xa83f8110',
        '10.0.0.1',
        '0.0.0.0',
        '[::]',
      ]
      const answers = await Promise.all(
        hosts.map((host) => attacker.post('/api/v1/webhooks', { url: `https://${host}/latest`, tenant: a.tenant })),
      )
      const taken = hosts.filter((_, index) => (answers[index]?.status ?? 0) < 400)
      return judged(taken.length > 0, taken.length === 0 ? 'all are refused' : `taken: ${taken.join(', ')}`)
    },
  },
]
