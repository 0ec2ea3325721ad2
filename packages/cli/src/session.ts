// Which server or store a command talks to, and the client for it. The nearer a wish stands to the command, the more it
// counts: flags, then what the environment or the file says on purpose, then a server that runs here, then the store.

import type { Client } from '@reprise/client'
import { systemClock } from '@reprise/core'
import type { Resolved } from './configuration/resolve.ts'
import { storeAddress } from './configuration/store-address.ts'
import { patientFetch, sayAtTerminal, storeAnswers, type Waiting } from './first-contact.ts'
import { answers, readLocalServer } from './local-server.ts'
import { CommandError, usageError } from './output/errors.ts'

/** For one call with all its repeats: somebody sits and waits. */
const PATIENCE = '10s'

export type Target =
  | { readonly kind: 'http'; readonly url: string; readonly token: string | null; readonly from: string }
  | { readonly kind: 'engine'; readonly address: string; readonly from: string }

/** Throws if nothing says where to go. */
export async function chooseTarget(resolved: Resolved): Promise<Target> {
  const { values, origins } = resolved
  if (origins.url.kind === 'flag' && origins.engine.kind === 'flag') {
    throw usageError('Both --url and --engine are given: one command talks to one of them.')
  }
  const server: Target | null =
    values.url === null ? null : { kind: 'http', url: values.url, token: values.token, from: origins.url.text }
  const store: Target | null =
    values.engine === null ? null : { kind: 'engine', address: storeAddress(resolved), from: origins.engine.text }

  if (store !== null && origins.engine.kind === 'flag') return store
  if (server !== null) return server
  // REDIS_URL and the like are often set for something else; this one is meant.
  if (store !== null && origins.engine.text.startsWith('environment REPRISE_ENGINE')) return store
  const local = await readLocalServer(values.data)
  if (local !== null && (await answers(local.url))) {
    return { kind: 'http', url: local.url, token: values.token ?? local.token, from: `${values.data}/local.json` }
  }
  if (store !== null) return store
  throw nowhere(resolved, local?.url ?? null)
}

function nowhere({ values }: Resolved, formerUrl: string | null): CommandError {
  const why =
    formerUrl === null
      ? 'No server runs here, and none is configured.'
      : `The server that ran here (${formerUrl}) does not answer, and no other is configured.`
  return new CommandError(why, {
    hint: `Start one with 'reprise up', or say where one is: --url https://…, or --engine sqlite:${values.data}/reprise.db for the store itself.`,
  })
}

interface ConnectionOptions extends Partial<Waiting> {
  /** Who operates straight on a store, for the journal. Through a server that is the owner of the token. */
  readonly actor?: string
}

/** A client on a target. The caller closes it. */
export async function connection(
  target: Target,
  { values }: Resolved,
  { clock = systemClock, say = sayAtTerminal, actor = 'cli' }: ConnectionOptions = {},
): Promise<Client> {
  const { createClient } = await import('@reprise/client')
  const tenant = values.tenant === null ? {} : { tenant: values.tenant }
  if (target.kind === 'engine') {
    return storeAnswers(target.address, { clock, say }, () =>
      createClient({ engine: target.address, actor, ...tenant }),
    )
  }
  const token = target.token === null ? {} : { token: target.token }
  const fetch = patientFetch(new URL(target.url), { clock, say })
  return createClient({ url: target.url, timeout: PATIENCE, clock, fetch, ...token, ...tenant })
}
