// Cookies: how ours are named and written, and how those of a request are read. With https their names start with `__Host-`,
// which browsers accept only from this very host and never over plain http, so no neighbour can plant one.

/** Takes the cookie away again when it is given to a browser. */
export const NO_AGE = 0

export interface CookieJar {
  readonly name: string
  /** The value for a Set-Cookie header. */
  write(value: string, maxAgeSeconds: number): string
  /** Null if the request has none; throws nothing, whatever it was sent. Two of one name count as none. */
  read(header: string | undefined): string | null
}

const HEADER_LENGTH_MAX = 16_384

export function cookieJar(plainName: string, isSecure: boolean): CookieJar {
  const name = isSecure ? `__Host-${plainName}` : plainName
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    name,
    write: (value, maxAgeSeconds) => `${name}=${value}; ${attributes}; Max-Age=${maxAgeSeconds}`,
    read(header = '') {
      if (header.length > HEADER_LENGTH_MAX) return null
      const values = header
        .split(';')
        .map((part) => part.trim())
        .filter((part) => part.startsWith(`${name}=`))
        .map((part) => part.slice(name.length + 1))
      return values.length === 1 ? (values[0] ?? null) : null
    },
  }
}
