// A plugin that answers as a test says, on a real socket, and an HTTP launcher that may call it.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createHttpLauncher, type HttpLauncher, type HttpLauncherOptions } from '../src/index.ts'

export const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Respond = (request: Received, response: ServerResponse) => void

interface Plugin {
  readonly origin: string
  readonly port: number
  readonly received: Received[]
  respond: Respond
}

export async function aPlugin(respond: Respond): Promise<Plugin> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      plugin.respond(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const plugin: Plugin = { origin: `http://127.0.0.1:${port}`, port, received, respond }
  return plugin
}

export function anHttpLauncher(
  plugin: Pick<Plugin, 'origin'>,
  options: Partial<HttpLauncherOptions> = {},
): HttpLauncher {
  const launcher = createHttpLauncher({ baseUrl: plugin.origin, secret, allow: ['127.0.0.0/8'], ...options })
  onTestFinished(() => launcher.close())
  return launcher
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
