// The address of the store that a configuration means, complete: the embedded one in the data folder if none is named,
// relative paths resolved, the prefix of A14 and the bound of B8 added. And the same address as it may be shown, without its password.

import { join, resolve } from 'node:path'
import type { Resolved } from './resolve.ts'

export function storeAddress({ values, cwd }: Pick<Resolved, 'values' | 'cwd'>): string {
  const { engine, data, redisPrefix, maxBacklog } = values
  const address = engine === null ? `sqlite:${join(data, 'reprise.db')}` : engine
  const isSqlite = address.startsWith('sqlite:')
  const whole = isSqlite ? withWholePath(address, cwd) : withSetting(address, 'prefix', redisPrefix)
  return withSetting(whole, 'max_backlog', maxBacklog)
}

function withWholePath(address: string, cwd: string): string {
  const [file = '', query] = address.slice('sqlite:'.length).split('?', 2)
  // Left as it is: the engine has its own words on what is wrong with '//'.
  if (file === ':memory:' || file.startsWith('//')) return address
  return `sqlite:${resolve(cwd, file)}${query === undefined ? '' : `?${query}`}`
}

/** Unless the address says it itself. */
function withSetting(address: string, name: string, value: string | number | null): string {
  if (value === null || new RegExp(`[?&]${name}=`).test(address)) return address
  return `${address}${address.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
}

/** Everything between scheme and host is left out. */
export function shownAddress(address: string): string {
  return address.replace(/^(\w+:\/\/).*@/, '$1[redacted]@')
}
