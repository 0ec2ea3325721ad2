// A client on each of its two ways to a store: straight on an engine, and over HTTP.

import { type Client, createClient, isRepriseError } from '@reprise/client'
import type { Engine, ErrorCode } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { onTestFinished } from 'vitest'
import { serve } from './served.ts'

interface Both {
  readonly engine: Engine
  readonly client: Client
}

export const ways: readonly { readonly name: string; readonly open: () => Promise<Both> }[] = [
  {
    name: 'on an engine',
    async open() {
      const engine = await openSqliteEngine({ path: ':memory:' })
      const client = await createClient({ engine })
      onTestFinished(async () => {
        await client.close()
        await engine.close()
      })
      return { engine, client }
    },
  },
  { name: 'over HTTP', open: serve },
]

export const codeOf = async (promise: Promise<unknown>): Promise<ErrorCode | 'none' | 'not ours'> =>
  promise.then(
    () => 'none' as const,
    (error: unknown) => (isRepriseError(error) ? error.code : ('not ours' as const)),
  )
