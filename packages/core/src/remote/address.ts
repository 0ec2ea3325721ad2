// Where a server is: its address, checked once, and how paths and queries are put behind it. Ids and names are encoded here, so
// that none can lead to another path.

import { InvalidError } from '../model/errors.ts'

export type QueryValue = string | number | boolean | undefined

/** The address without what would not belong there; `InvalidError` for what is none. It is not repeated: it may hold secrets. */
export function serverAddress(url: string): URL {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw new InvalidError('The url is not an address. Write it as https://reprise.example.com.')
  }
  const address = new URL(url)
  if (address.protocol !== 'http:' && address.protocol !== 'https:') {
    throw new InvalidError('The url must begin with http:// or https://. For a store, use the option engine.')
  }
  if (address.username + address.password !== '') {
    throw new InvalidError('The url must not contain a name or password. Give the token as the option token.')
  }
  if (address.search + address.hash !== '') {
    throw new InvalidError('The url must end with the path of the server: no ? and no #.')
  }
  return address
}

/** For people: without anything that could be a secret. */
export const shownAddress = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(/\/+$/, '')}`

/** A path with its parts encoded: path`/api/v1/tasks/${id}`. */
export function path(texts: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return texts.reduce((all, text, index) => {
    const part = parts[index]
    return `${all}${text}${part === undefined ? '' : encodeURIComponent(part)}`
  }, '')
}

/** Values that are undefined are left out. */
export function fullUrl(address: URL, pathname: string, query: Readonly<Record<string, QueryValue>> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const asked = search.size === 0 ? '' : `?${search.toString()}`
  return `${shownAddress(address)}${pathname}${asked}`
}
