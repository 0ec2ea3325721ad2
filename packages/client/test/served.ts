// A real server on a port of its own over a store in memory, clients over HTTP, and a proxy in between that loses replies.

import { createServer as createHttpServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Client, createClient, type HttpClientOptions } from '@reprise/client'
import { type Engine, openFlags } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { openPolicies } from '@reprise/policies'
import { createServer, type ServerOptions } from '@reprise/server'
import { onTestFinished } from 'vitest'

export interface Served {
  readonly engine: Engine
  readonly url: string
  /** Of an admin. */
  readonly token: string
  readonly client: Client
  /** Another client of the same server. */
  readonly connect: (options?: Partial<HttpClientOptions>) => Promise<Client>
}

export async function serve(options: Partial<ServerOptions> = {}): Promise<Served> {
  const engine = options.engine ?? (await openSqliteEngine({ path: ':memory:' }))
  const server = await createServer({
    engine,
    policies: await openPolicies({ engine }),
    flags: await openFlags({ engine }),
    version: '0.0.0-test',
    maxRetries: 1,
    port: 0,
    access: { env: 'local' },
    ...options,
  })
  await server.start()
  onTestFinished(async () => {
    await server.stop()
    await engine.close()
  })
  const url = server.url()
  const dev = await createClient({ url, headers: { 'x-dev-user': 'ann' } })
  const { token } = await dev.createToken({ name: 'tests', role: 'admin' })
  await dev.close()
  const connect = async (own: Partial<HttpClientOptions> = {}): Promise<Client> => {
    const client = await createClient({ url, token, ...own })
    onTestFinished(() => client.close())
    return client
  }
  return { engine, url, token, client: await connect(), connect }
}

export interface HttpProxy {
  readonly url: string
  /** Method and path of every request that came by. */
  readonly seen: readonly string[]
  /** What to do with a request: pass its answer on, lose it after the server has done it, or cut it off in the middle. */
  treat: (method: string, path: string, earlier: number) => 'pass' | 'lose' | 'cut'
  /** Ends every connection that is open now. */
  cutAll(): void
}

export async function startHttpProxy(target: string): Promise<HttpProxy> {
  const seen: string[] = []
  const server = createHttpServer((incoming, outgoing) => {
    const line = `${incoming.method} ${incoming.url?.split('?', 1)[0]}`
    const earlier = seen.filter((one) => one === line).length
    seen.push(line)
    const treatment = proxy.treat(incoming.method ?? '', incoming.url ?? '', earlier)
    const onward = request(new URL(incoming.url ?? '/', target), { method: incoming.method, headers: incoming.headers })
    onward.on('response', (answer: IncomingMessage) => {
      if (treatment === 'lose') {
        // Only when the server has said all it has to say is it certain that it did what it was asked.
        answer.resume().on('end', () => incoming.socket.destroy())
        return
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      if (treatment === 'pass') answer.pipe(outgoing)
      else
        answer.once('data', (chunk: Buffer) => outgoing.write(chunk.subarray(0, 100), () => incoming.socket.destroy()))
    })
    onward.on('error', () => incoming.socket.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const proxy: HttpProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    treat: () => 'pass',
    cutAll: () => server.closeAllConnections(),
  }
  return proxy
}
