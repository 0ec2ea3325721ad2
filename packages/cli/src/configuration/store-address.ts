// The address of the store that a configuration means, complete: the embedded one in the data folder if none is named,
// relative paths resolved, the prefix of A14 added. And the same address as it may be shown, without its password.

import { join, resolve } from 'node:path'
import type { Resolved } from './resolve.ts'

export function storeAddress({ values, cwd }: Pick<Resolved, 'values' | 'cwd'>): string {
  const { engine, data, redisPrefix } = values
  if (engine === null) return `sqlite:${join(data, 'reprise.db')}`
  if (engine.startsWith('sqlite:')) {
    const [file = '', query] = engine.slice('sqlite:'.length).split('?', 2)
    // Left as it is: the engine has its own words on what is wrong with '//'.
    if (file === ':memory:' || file.startsWith('//')) return engine
    return `sqlite:${resolve(cwd, file)}${query === undefined ? '' : `?${query}`}`
  }
  if (redisPrefix === null || /[?&]prefix=/.test(engine)) return engine
  return `${engine}${engine.includes('?') ? '&' : '?'}prefix=${encodeURIComponent(redisPrefix)}`
}

/** Everything between scheme and host is left out. */
export function shownAddress(address: string): string {
  return address.replace(/^(\w+:\/\/).*@/, '$1[redacted]@')
}
