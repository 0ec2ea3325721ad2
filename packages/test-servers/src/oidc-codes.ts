// The codes that the issuer for tests hands out at /authorize and takes back at /token: each once, for the same client and
// address, and only from the one who knows the verifier that its challenge was made from.

import { createHash, randomUUID } from 'node:crypto'

interface Grant {
  readonly challenge: string
  readonly redirectUri: string
  readonly nonce: string | undefined
  readonly person: Readonly<Record<string, unknown>>
}

export class CodeDesk {
  readonly #grants = new Map<string, Grant>()

  /** Where to send the visitor; null if the request is not a proper one. */
  handOut(query: URLSearchParams, person: Grant['person']): URL | null {
    const challenge = query.get('code_challenge')
    const redirectUri = query.get('redirect_uri')
    if (query.get('response_type') !== 'code' || query.get('code_challenge_method') !== 'S256') return null
    if (challenge === null || redirectUri === null || !URL.canParse(redirectUri)) return null
    const code = randomUUID()
    this.#grants.set(code, { challenge, redirectUri, nonce: query.get('nonce') ?? undefined, person })
    const redirectTo = new URL(redirectUri)
    redirectTo.searchParams.set('code', code)
    const state = query.get('state')
    if (state !== null) redirectTo.searchParams.set('state', state)
    return redirectTo
  }

  /** What the code stands for; null if it is spent, or somebody else's. */
  takeBack(form: URLSearchParams): Pick<Grant, 'nonce' | 'person'> | null {
    const code = form.get('code') ?? ''
    const grant = this.#grants.get(code)
    this.#grants.delete(code)
    if (grant === undefined || form.get('grant_type') !== 'authorization_code') return null
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    return challenge === grant.challenge && form.get('redirect_uri') === grant.redirectUri ? grant : null
  }
}
