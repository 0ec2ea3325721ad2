// Who somebody is, as an issuer says it. A person is known by issuer and subject: an issuer gives each subject once, while an
// email address changes hands, and two issuers may both vouch for it. What a person may do is not decided here.

import { createHash } from 'node:crypto'

export interface Identity {
  /** `google` and `oidc` say who vouches; `local` came by the one-time link. */
  readonly source: 'google' | 'oidc' | 'local'
  /** The address of the issuer; `local` for the one-time link. */
  readonly issuer: string
  /** The claim `sub`: the person that the issuer means, for ever. */
  readonly subject: string
  /** In lower case; `admin` for the local one. */
  readonly email: string
  /** Whether the issuer vouches that the address is theirs now. Rules about addresses and domains count only then. */
  readonly isEmailTheirs: boolean
  readonly name: string
  readonly groups: readonly string[]
}

const PERSON_LENGTH = 32
const MARK_LENGTH = 8

/** What a person's things are kept under. */
export const personOf = ({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string =>
  createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
    .slice(0, PERSON_LENGTH)

/** As the journal names them. The mark at the end tells people apart who have or had the same address. */
export function actorOf(identity: Identity): string {
  const { source, email } = identity
  return source === 'local' ? `${source}:${email}` : `${source}:${email}#${personOf(identity).slice(0, MARK_LENGTH)}`
}
