// Where a browser goes after it has signed in: a path on this server, and nothing else. An attacker who could choose another site here
// could show people a page of theirs at the very moment they expect ours.

import { InvalidError } from '@reprise/core'

/** It travels in a cookie, which browsers bound. */
const LENGTH_MAX = 1_000
const DECODINGS_MAX = 3
const NOWHERE = 'http://reprise.invalid'

/** The path with everything escaped that a header can not hold; throws `InvalidError` unless it stays here however a browser or a proxy reads it. */
export function checkedReturnPath(value: string): string {
  let reading = value
  // A proxy may decode before it passes on, and the next one once more.
  for (let decodings = 0; decodings <= DECODINGS_MAX; decodings++) {
    if (!staysHere(reading)) throw refused()
    const decoded = decodedOnce(reading)
    if (decoded === null) throw refused()
    if (decoded === reading) {
      const { pathname, search, hash } = new URL(value, NOWHERE)
      const path = `${pathname}${search}${hash}`
      if (path.length <= LENGTH_MAX) return path
      throw refused()
    }
    reading = decoded
  }
  throw refused()
}

function staysHere(path: string): boolean {
  if (path.length > LENGTH_MAX || !path.isWellFormed()) return false
  // Browsers drop control characters and take a backslash for a slash.
  if (/[\p{Cc}\p{Zl}\p{Zp}\\]/u.test(path) || !/^\/(?!\/)/.test(path)) return false
  const url = URL.canParse(path, NOWHERE) ? new URL(path, NOWHERE) : null
  // '/..//evil.example' becomes '//evil.example' once its dots are taken out.
  return url?.origin === NOWHERE && !url.pathname.startsWith('//')
}

function decodedOnce(path: string): string | null {
  const [beforeQuery = ''] = path.split(/[?#]/, 1)
  try {
    return decodeURIComponent(beforeQuery)
  } catch {
    return null
  }
}

const refused = (): InvalidError =>
  new InvalidError('The address to return to must be a path on this server, such as /tasks. Leave it out to go to /.')
