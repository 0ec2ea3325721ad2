// Which server or store a command talks to, and the client for it. The nearer a wish stands to the command, the more it
// counts: flags, then what the environment or the file says on purpose, then a server that runs here, then the store. A token
// goes only where its owner wants it: see token-trust.ts.

import { existsSync } from 'node:fs'
import type { Client } from '@reprise/client'
import { present, systemClock } from '@reprise/core'
import type { Origin, Resolved } from './configuration/resolve.ts'
import { settingDefaults } from './configuration/setting-defaults.ts'
import { storeAddress } from './configuration/store-address.ts'
import { patientFetch, sayAtTerminal, storeAnswers, type Waiting } from './first-contact.ts'
import { FollowedServer } from './followed-server.ts'
import { answers, readLocalServer } from './local-server.ts'
import { CommandError, usageError } from './output/errors.ts'
import { type TokenTrust, TRUST_NOBODY } from './token-trust.ts'

/** For one call with all its repeats: somebody sits and waits. */
const PATIENCE = '10s'

export type Target =
  | {
      readonly kind: 'http'
      readonly url: string
      readonly token: string | null
      readonly from: string
      /** The data folder, if both came from the word that a server of this machine left there. */
      readonly data?: string
    }
  | { readonly kind: 'engine'; readonly address: string; readonly from: string }

/** Throws if nothing says where to go, or if a token would go where its owner may not want it. */
export async function chooseTarget(resolved: Resolved, trust: TokenTrust = TRUST_NOBODY): Promise<Target> {
  const { values, origins } = resolved
  if (origins.url.kind === 'flag' && origins.engine.kind === 'flag') {
    throw usageError('Both --url and --engine are given: one command talks to one of them.')
  }
  const store: Target | null =
    values.engine === null ? null : { kind: 'engine', address: storeAddress(resolved), from: origins.engine.text }

  if (store !== null && origins.engine.kind === 'flag') return store
  if (values.url !== null) {
    const { url, token } = values
    if (token !== null) await trust.check({ url, from: origins.url, tokenFrom: origins.token })
    return { kind: 'http', url, token, from: origins.url.text }
  }
  // REDIS_URL and the like are often set for something else; this one is meant.
  if (store !== null && origins.engine.text.startsWith('environment REPRISE_ENGINE')) return store
  const local = await readLocalServer(values.data)
  if (local !== null && (await answers(local.url))) {
    const from: Origin = { kind: 'file', text: `${values.data}/local.json` }
    // Its own token came with its address. One that is typed is meant for it, if its owner says so.
    const isMeant = values.token !== null && (origins.token.kind === 'flag' || trust.knows(local.url))
    if (isMeant) await trust.check({ url: local.url, from, tokenFrom: origins.token })
    if (isMeant) return { kind: 'http', url: local.url, token: values.token, from: from.text }
    return { kind: 'http', ...local, from: from.text, data: values.data }
  }
  if (store !== null) return store
  throw nowhere(resolved, local?.url ?? null)
}

function nowhere({ values }: Resolved, formerUrl: string | null): CommandError {
  const why =
    formerUrl === null
      ? 'No server runs here, and none is configured.'
      : `The server that ran here (${formerUrl}) does not answer, and no other is configured.`
  // The store of a server may be elsewhere: only one that is there is named.
  const own = `${values.data}/reprise.db`
  return new CommandError(why, {
    hint: `Start one with 'reprise up', or say where one is: --url https://…, or --engine ${existsSync(own) ? `sqlite:${own}` : '<address>'} for the store itself.`,
  })
}

interface ConnectionOptions extends Partial<Waiting> {
  /** Who operates straight on a store, for the journal. Through a server that is the owner of the token. */
  readonly actor?: string
  /** Told when a server of this machine goes away, and when it is back. */
  readonly note?: (text: string) => void
}

/** A client on a target. The caller closes it. */
export async function connection(
  target: Target,
  { values }: Resolved,
  { clock = systemClock, say = sayAtTerminal, note = say, actor = 'cli' }: ConnectionOptions = {},
): Promise<Client> {
  const { createClient } = await import('@reprise/client')
  const tenant = present({ tenant: values.tenant })
  const thresholds = present({ healthThresholds: values.healthThresholds })
  if (target.kind === 'engine') {
    return storeAnswers(target.address, { clock, say }, () =>
      createClient({
        engine: target.address,
        create: false,
        actor,
        defaults: settingDefaults(values),
        ...thresholds,
        ...tenant,
      }),
    )
  }
  const { url, token, data } = target
  const fetch = patientFetch(new URL(url), { clock, say })
  const followed =
    data === undefined || token === null ? null : new FollowedServer(data, { url, token }, { say: note, clock })
  return createClient({
    url,
    timeout: PATIENCE,
    clock,
    fetch: followed?.through(fetch) ?? fetch,
    ...present({ token: followed?.token ?? token }),
    ...tenant,
  })
}
