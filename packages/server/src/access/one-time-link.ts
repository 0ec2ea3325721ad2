// The first way in, before any sign-in is configured: a link that works once, for a quarter of an hour, and is printed where
// the server was started. Opening it only shows a button, so that a program that looks at links does not use it up.

import { type Clock, type Collection, type Engine, isRepriseError, RequestError } from '@reprise/core'
import { digestOf, type Identity, isSecret, Seals } from '@reprise/operations'

const LINK_PATH = '/auth/link/'
export const LINK_MS = 15 * 60_000

const LOCAL_ADMIN: Identity = {
  source: 'local',
  issuer: 'local',
  subject: 'admin',
  email: 'admin',
  isEmailTheirs: true,
  name: 'Local admin',
  groups: [],
}

const LINKS_LOOKED_AT = 100

interface LinkDocument {
  readonly id: string
  readonly expiresAt: number
}

export class OneTimeLinks {
  readonly #collection: Collection<LinkDocument>
  readonly #clock: Clock
  readonly seals: Seals

  constructor(engine: Pick<Engine, 'collection' | 'now'>, clock: Clock) {
    this.#collection = engine.collection<LinkDocument>({ name: 'links', indexes: {} })
    this.#clock = clock
    this.seals = new Seals(engine, clock, 'link')
  }

  /** The path to open. */
  async mint(): Promise<string> {
    await this.#dropExpired()
    const code = await this.seals.newSecret()
    await this.#collection.insert({ id: digestOf(code), expiresAt: this.#clock.now() + LINK_MS })
    return `${LINK_PATH}${code}`
  }

  /** Of any number who try at once, on any number of servers, one gets the identity; the others get 401. */
  async redeem(code: string): Promise<Identity> {
    const stored = isSecret(code) ? await this.#collection.get(digestOf(code)) : null
    if (stored === null) throw refused()
    const isMine = await this.#take(stored.document.id, stored.version)
    if (!isMine || this.#clock.now() >= stored.document.expiresAt) throw refused()
    return LOCAL_ADMIN
  }

  async #take(id: string, version: number): Promise<boolean> {
    try {
      return await this.#collection.remove(id, version)
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
      throw error
    }
  }

  async #dropExpired(): Promise<void> {
    const { items } = await this.#collection.list({ limit: LINKS_LOOKED_AT })
    const now = this.#clock.now()
    for (const { document } of items) if (now >= document.expiresAt) await this.#collection.remove(document.id)
  }
}

/** The same for every code, right or wrong: it neither asks the store nor tells anything. Its form goes to its own address. */
export const LINK_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>Reprise: sign in</title></head>
<body>
<h1>Reprise</h1>
<p>This link signs this browser in as an admin. It works once.</p>
<form method="post"><button type="submit">Sign in</button></form>
</body>
</html>
`

/** The same for a link that was used, that is too old, or that never was. */
export const USED_LINK_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>Reprise: this link does not work any more</title></head>
<body>
<h1>This link does not work any more</h1>
<p>A sign-in link works once, for 15 minutes. This one was used already, is older, or is not complete.</p>
<ul>
<li>If you used it in this browser, you may be signed in: <a href="/">go on</a>.</li>
<li>For a new link, restart the server. It prints one where it was started.</li>
<li>From a terminal you need no link: <code>npx reprise status</code>.</li>
</ul>
</body>
</html>
`

/** No script, no frame, no other form target, no cache, and the address with the code goes nowhere else. */
export const LINK_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

const refused = (): RequestError =>
  new RequestError(
    'REPRISE_UNAUTHENTICATED',
    'This link was used already, or is older than 15 minutes. Restart the server, and it prints a new one.',
  )
