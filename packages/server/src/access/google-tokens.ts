// Google as an issuer of ID tokens (A12): its names, where its keys are, and whose addresses it can vouch for.

import { domainOf, lowerCase } from './identity.ts'

export const GOOGLE_ISSUERS = ['https://accounts.google.com', 'accounts.google.com'] as const
export const GOOGLE_JWKS_URL = 'https://www.googleapis.com/oauth2/v3/certs'

const GOOGLE_MAIL: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com'])

/**
 * Whether Google can say whose address it is now. Anybody can open an account with an address of somebody else's domain, verify
 * it once and keep the account when the address is given to another person. Only the organisation that has the domain (`hd`),
 * or Google itself for its own mail, knows better. `organisations` are those that may also have other domains.
 */
export function isGoogleSure(email: string, hd: unknown, organisations: readonly string[]): boolean {
  const domain = domainOf(email)
  if (hd === undefined) return GOOGLE_MAIL.has(domain)
  if (typeof hd !== 'string') return false
  const organisation = lowerCase(hd)
  return organisation === domain || organisations.some((one) => lowerCase(one) === organisation)
}
