// Reads what an issuer says about somebody: an email address, a name, groups, who they are to the issuer. Whatever can't be
// stored and shown is left out.

import { checkedText, isRepriseError } from '@reprise/core'

const EMAIL_LENGTH_MAX = 180
/** As OpenID Connect bounds it. */
const SUBJECT_LENGTH_MAX = 255
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

export const readSubject = (value: unknown): string | null => readText(value, SUBJECT_LENGTH_MAX)

export const readName = (value: unknown, otherwise: string): string => readText(value, NAME_LENGTH_MAX) ?? otherwise

export function readGroups(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, GROUPS_MAX)
    .map((group) => readText(group, NAME_LENGTH_MAX))
    .filter((group) => group !== null)
}

function readText(value: unknown, maxLength: number): string | null {
  try {
    return checkedText('text', value, maxLength)
  } catch (error) {
    if (isRepriseError(error)) return null
    throw error
  }
}
