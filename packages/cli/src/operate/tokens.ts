// The API tokens that a command lists, makes and revokes: through a server, with the rights of whoever asks, or straight in
// the store, where there is nobody to ask.

import type { TokenCalls } from '@reprise/client'
import type { Invocation } from '../frame/invocation.ts'
import { userName } from './by.ts'
import { storeOf } from './store.ts'

export async function tokensOf(invocation: Invocation): Promise<Omit<TokenCalls, 'me'>> {
  const engine = await storeOf(invocation)
  if (engine === null) return (await invocation.connect()).tokens
  const { openTokens } = await import('@reprise/server')
  return openTokens({ engine, actor: `local:${userName(invocation)}`, clock: invocation.host.clock })
}
