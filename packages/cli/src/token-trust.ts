// Where a token may go. An address that is typed on the command line is its owner's word, and so is one that stands in the
// environment, as the token does. A file in the current folder may be anybody's: an address that came from one gets a token only
// once its owner has said so, which is remembered (known-servers.ts).

import type { Origin } from './configuration/resolve.ts'
import type { KnownServers } from './known-servers.ts'
import { isThisMachine } from './loopback.ts'
import { usageError } from './output/errors.ts'

/** A token that is about to go somewhere. */
interface TokenUse {
  readonly url: string
  /** Where the address came from. */
  readonly from: Origin
  readonly tokenFrom: Origin
}

export interface TokenTrust {
  /** Whether its owner has said before that this server may have a token. */
  knows(url: string): boolean
  /** Throws unless the token may go there. */
  check(use: TokenUse): Promise<void>
}

/** Null where nobody can be asked. */
type Ask = ((question: string) => Promise<boolean>) | null

export const tokenTrust = (known: KnownServers, ask: Ask): TokenTrust => ({
  knows: (url) => known.has(new URL(url).origin),
  async check(use) {
    const { origin } = new URL(use.url)
    if (cameTogether(use) || known.has(origin)) return
    if (ask === null || !(await ask(questionOf(use, origin)))) throw refused(use, origin, known.path)
    await known.add(origin)
  },
})

const NO_SERVERS: KnownServers = { path: 'known-servers', has: () => false, add: async () => undefined }

/** Knows no server, and asks nobody. */
export const TRUST_NOBODY = tokenTrust(NO_SERVERS, null)

/** A token never stands in the configuration file: it came from the command line or the environment. */
const cameTogether = ({ from }: TokenUse): boolean => from.kind === 'flag' || from.kind === 'environment'

const questionOf = ({ from, tokenFrom }: TokenUse, origin: string): string =>
  `${from.text} names the server ${origin}. Send it your token (${tokenFrom.text}), now and from now on?`

const refused = ({ from, tokenFrom }: TokenUse, origin: string, path: string) =>
  usageError(
    `Your token (${tokenFrom.text}) was not sent to ${origin}: only ${from.text} names that server, and you have not said that it may have your token.`,
    `Name the server as you name the token: --url ${origin}, or REPRISE_URL=${origin}. Or run a command at a terminal without --yes and answer once, or write ${origin} into ${path}.`,
  )

/** Whether others on the way can read what is sent. */
export function isReadableOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isThisMachine(hostname)
}
