// Settings that operators give by the environment (A14), read and checked in one place. Those of a store's address stand
// with the address; these belong to the caller that connects.

import { DEFAULT_MAX_RETRIES, InvalidError } from '@reprise/core'

const RETRIES_MAX = 1_000

/** MAX_RETRIES: how many retries an operator may ask for (A9); 1 if it is not set. */
export function maxRetriesFromEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): number {
  const text = environment.MAX_RETRIES?.trim() ?? ''
  if (text === '') return DEFAULT_MAX_RETRIES
  if (!/^\d{1,4}$/.test(text) || Number(text) > RETRIES_MAX) {
    throw new InvalidError(
      `MAX_RETRIES must be a whole number from 0 to ${RETRIES_MAX}, not '${text.slice(0, 40)}'. It says how many retries an operator may ask for; correct it in the environment, or unset it for ${DEFAULT_MAX_RETRIES}.`,
    )
  }
  return Number(text)
}
