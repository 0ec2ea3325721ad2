// Who somebody is, as an issuer says it: a verified email address, a name, groups. What they may do is not decided here.

import { checkedText, isRepriseError } from '@reprise/core'

export interface Identity {
  /** `google` and `oidc` say who vouches; `local` came by the one-time link. */
  readonly source: 'google' | 'oidc' | 'local'
  /** In lower case; `admin` for the local one. */
  readonly email: string
  readonly name: string
  readonly groups: readonly string[]
}

export const actorOf = ({ source, email }: Pick<Identity, 'source' | 'email'>): string => `${source}:${email}`

const EMAIL_LENGTH_MAX = 190
const NAME_LENGTH_MAX = 200
const GROUPS_MAX = 500

/** Only of A to Z: other alphabets have letters whose lower case is a Latin one, and must not pass for it. */
export const lowerCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Null if it is none that can be stored and shown. */
export function readEmail(value: unknown): string | null {
  const text = readText(value, EMAIL_LENGTH_MAX)
  if (text === null || /\s/.test(text)) return null
  const at = text.lastIndexOf('@')
  return at < 1 || at === text.length - 1 ? null : lowerCase(text)
}

/** What stands after the last `@`: the only part that says where mail goes. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)

export const readName = (value: unknown, otherwise: string): string => readText(value, NAME_LENGTH_MAX) ?? otherwise

export function readGroups(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, GROUPS_MAX)
    .map((group) => readText(group, NAME_LENGTH_MAX))
    .filter((group) => group !== null)
}

function readText(value: unknown, lengthMax: number): string | null {
  try {
    return checkedText('text', value, lengthMax)
  } catch (error) {
    if (isRepriseError(error)) return null
    throw error
  }
}
