// A server on a store, for workers that reach the store by HTTP; and a gate before it that can be shut.

import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { type Engine, openFlags } from '@reprise/core'
import { ROLES } from '@reprise/operations'
import { openPolicies } from '@reprise/policies'
import { createServer } from '@reprise/server'
import { onTestFinished } from 'vitest'

/** The address of a server on this store, and a token that is good for work. */
export async function serverOn(engine: Engine): Promise<{ readonly url: string; readonly token: string }> {
  const [policies, flags] = [await openPolicies({ engine }), await openFlags({ engine })]
  const server = await createServer({ engine, policies, flags, version: '0.0.0-test', maxRetries: 1, port: 0 })
  await server.start()
  onTestFinished(() => server.stop())
  const scopes = new Set([...ROLES.admin, ...ROLES.worker])
  const { token } = await server.access.tokens.create(
    { name: 'worker', scopes: ROLES.worker, tenants: null },
    { kind: 'user', actor: 'test:admin', name: 'admin', scopes, tenants: null },
  )
  return { url: server.url(), token }
}

export interface Gate {
  readonly url: string
  /** Breaks every connection, and each new one at once. */
  shut(): void
  open(): void
}

export async function gateTo(url: string): Promise<Gate> {
  const target = { host: '127.0.0.1', port: Number(new URL(url).port) }
  const sockets = new Set<Socket>()
  let isOpen = true
  const gate = createTcpServer((near) => {
    if (!isOpen) return void near.resetAndDestroy()
    const far = connect(target)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const shut = (): void => {
    isOpen = false
    for (const socket of sockets) socket.resetAndDestroy()
  }
  onTestFinished(() => {
    shut()
    gate.close()
  })
  const open = (): void => {
    isOpen = true
  }
  return { url: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`, shut, open }
}
