// The engine under a command that goes straight to a store, for what a client leaves to servers: figures, policies, API
// tokens, the catalogue of actions. Through a server there is none.

import type { Engine } from '@reprise/core'
import type { Invocation } from '../frame/invocation.ts'

const opened = new WeakMap<Invocation, Promise<Engine | null>>()

/** Null through a server. Opened once, and closed when the command has ended. */
export function storeOf(invocation: Invocation): Promise<Engine | null> {
  const engine = opened.get(invocation) ?? openStore(invocation)
  opened.set(invocation, engine)
  return engine
}

async function openStore(invocation: Invocation): Promise<Engine | null> {
  const target = await invocation.target()
  if (target.kind === 'http') return null
  const { connectEngine } = await import('@reprise/connect')
  const connection = await connectEngine(target.address)
  invocation.onEnd(() => connection.close())
  return connection.engine
}
