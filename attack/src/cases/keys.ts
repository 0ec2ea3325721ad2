// Keys that were stolen: what is signed with them must not count for ever, and changing them must stop nobody.

import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { verifyRequest } from '@reprise/launchers'
import { type AttackCase, judged, succeeded } from '../case.ts'
import type { Scene } from '../stage/scene.ts'
import { leased } from './leases.ts'
import { submitted, until } from './tasks.ts'

interface Renewed {
  readonly results?: readonly { readonly outcome: string }[]
}

export const keyCases: readonly AttackCase[] = [
  {
    name: 'lease-of-a-stolen-key',
    tries: 'A credential made with a key that was stolen counts after the key was changed.',
    alone: true,
    run: async (scene) => {
      const { admin, anyone, wholeStore } = scene
      const [first, second] = [await leased(scene, 'first'), await leased(scene, 'second')]
      const complete = ({ taskId, attempt, token }: typeof first) =>
        anyone.post('/task-complete', { taskId, attempt, token, status: 'succeeded' })
      const changed = await admin.post('/api/v1/keys/lease-credentials/rotate', { reason: 'once a year' })
      if (changed.status >= 400) return succeeded(`the key can't be changed: ${changed.status}`)
      const kept = await complete(first)
      if (kept.status !== 200) throw new Error(`A change of the key stops a worker: ${kept.status}`)
      await admin.post('/api/v1/keys/lease-credentials/rotate', { keep: '0s', reason: 'stolen' })
      // Other processes hear of it a little later.
      const worker = await wholeStore('worker')
      const isOver = await until(async () => {
        const { body } = await worker.post<Renewed>('/api/v1/leases/renew', { leases: [second] })
        return body.results?.[0]?.outcome !== 'extended'
      })
      const stolen = await complete(second)
      const seen = `in order ${kept.status}, after a theft ${stolen.status}`
      return judged(!isOver || stolen.status === 200, seen)
    },
  },
  {
    name: 'launch-sent-on-to-another',
    tries: 'A plugin sends a launch that it was given on, to another plugin, as another question, or changed.',
    run: async (scene) => {
      const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
      const launch = await recordedLaunch(scene, secret)
      if (!verifyRequest(launch, secret)) throw new Error('The launch itself is not good.')
      const forged = {
        'another plugin': { ...launch, url: launch.url.replace('plug.one', 'plug.two') },
        'another question': { ...launch, method: 'DELETE' },
        'another query': { ...launch, url: `${launch.url}?force=true` },
        'another body': { ...launch, body: launch.body.replace('"attempt":1', '"attempt":2') },
      }
      const taken = Object.entries(forged).filter(([, request]) => verifyRequest(request, secret))
      // Two hosts with one secret: each knows where its own launches are sent.
      if (!verifyRequest(launch, secret, { origin: launch.origin })) throw new Error('The launch is not for its host.')
      if (verifyRequest(launch, secret, { origin: 'http://127.0.0.1:1' })) {
        return succeeded('taken: another host with the same secret')
      }
      return judged(
        taken.length > 0,
        taken.length === 0 ? 'none is taken' : `taken: ${taken.map(([what]) => what).join()}`,
      )
    },
  },
]

/** A launch as a plugin receives it. */
async function recordedLaunch(scene: Scene, secret: string) {
  const plugin = await recorder(scene)
  const folder = scene.folder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'secret'), secret, { mode: 0o600 })
  const http = { base_url: plugin.origin, secret_file: 'secret', allow: ['127.0.0.1'] }
  const settings = { pools: { launch: [{ pool: 'plugins', slots: 1, http }] } }
  const server = await scene.another({ folder, settings })
  await submitted(server.admin, { action: 'plug.one', pool: 'plugins' })
  await until(async () => plugin.received.length > 0)
  const [launch] = plugin.received
  if (launch === undefined) throw new Error(`Nothing was launched: ${(await server.log()).slice(-300)}`)
  return { ...launch, origin: plugin.origin }
}

async function recorder({ later }: Scene) {
  const received: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      received.push({ method, url, headers, body })
      response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  later(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
