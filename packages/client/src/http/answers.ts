// Answers of a server in the types that the table promises. They are not checked field by field: client and server are of one
// version, or refuse each other's calls.

import { notReprise } from '@reprise/core'

export function objectOf<T extends object>(body: unknown, serverName: string): T {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notReprise(serverName)
  return body as T
}

/** One line of a stream, as `objectOf`. */
export function parsedObject<T extends object>(text: string, serverName: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notReprise(serverName)
  }
  return objectOf<T>(value, serverName)
}
