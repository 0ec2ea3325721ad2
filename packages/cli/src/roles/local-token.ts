// The token that `up` leaves for the command line in its data folder: an admin's, as long as the server runs. It is revoked when
// the server stops; one that was left behind by a crash, when the next server starts on the same folder. Should there be none,
// it ends by itself: each counts for half a day, and the server makes a new one in time. The one before goes on to its
// end, for commands that run with it. So there are two names, used in turn.

import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { type Engine, isRepriseError } from '@reprise/core'

/** As long as a session lasts. */
const LIFETIME = '12h'
/** When half of it is over. */
export const RENEW_AFTER_MS = 6 * 3_600_000

export interface LocalToken {
  readonly token: string
  /** A new one, from which on `token` is that. */
  renew(): Promise<string>
  revoke(): Promise<void>
}

export async function makeLocalToken(engine: Engine, data: string): Promise<LocalToken> {
  const { createClient, pages } = await import('@reprise/client')
  const client = await createClient({ engine, actor: 'local:admin' })
  const names = [nameFor(data), `${nameFor(data)}-2`]
  const revokeAll = async (isMeant: (name: string) => boolean): Promise<void> => {
    for await (const { items } of pages(client.listTokens, {})) {
      for (const { id, name } of items) {
        if (isMeant(name)) await client.revokeToken({ id }).catch((error: unknown) => refuseOtherThanGone(error))
      }
    }
  }
  await revokeAll((name) => names.includes(name))
  const make = async (name: string): Promise<string> =>
    (await client.createToken({ name, role: 'admin', tenants: null, expiresIn: LIFETIME })).token
  let turn = 0
  let token = await make(names[turn] ?? '')
  return {
    get token() {
      return token
    },
    async renew() {
      turn = 1 - turn
      const next = names[turn] ?? ''
      await revokeAll((name) => name === next)
      token = await make(next)
      return token
    },
    async revoke() {
      await revokeAll((name) => names.includes(name))
      await client.close()
    },
  }
}

/** Somebody may have revoked it by hand. */
function refuseOtherThanGone(error: unknown): void {
  if (!isRepriseError(error, 'REPRISE_NOT_FOUND')) throw error
}

/** The journal shows it as token:local-… */
function nameFor(data: string): string {
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-')
  return `local-${host}-${createHash('sha256').update(data).digest('hex').slice(0, 8)}`
}
