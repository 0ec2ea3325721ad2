// Reads an engine address: the scheme names the engine, what follows is its own. Pure, apart from resolving a relative
// path against the working directory. It opens nothing.

import { resolve } from 'node:path'
import { UnknownEngineError } from '@reprise/core'
import { BACKLOG_FORM, backlogCount } from './environment.ts'

export type Durability = 'durable' | 'fast'

interface SqliteAddress {
  readonly scheme: 'sqlite'
  /** An absolute path, or ':memory:'. */
  readonly path: string
  readonly durability: Durability
  readonly maxBacklog: number | null
}

export interface RedisAddress {
  readonly scheme: 'redis'
  /** One server, or several nodes of a cluster; with user and password, if they have any. */
  readonly urls: readonly string[]
  readonly prefix: string | null
  readonly partitions: number | null
  readonly durability: Durability | null
  readonly maxBacklog: number | null
}

export type EngineAddress = SqliteAddress | RedisAddress

const KNOWN =
  "Known are 'sqlite:./reprise.db', 'sqlite::memory:', 'sqlite:./reprise.db?durability=fast', 'redis://localhost:6379' and 'rediss://user:password@host:6380/0?prefix=reprise'."
const ENCODE = 'Characters such as @ / ? # , % in a password must be percent-encoded.'
const REDIS_SCHEMES: ReadonlySet<string> = new Set(['redis', 'rediss', 'valkey', 'valkeys'])

export function parseAddress(text: string): EngineAddress {
  const colon = text.indexOf(':')
  const scheme = colon === -1 ? '' : text.slice(0, colon)
  // The text itself is kept out of the message: an address may hold a password.
  if (scheme === '') throw new UnknownEngineError(`The engine address has no scheme. ${KNOWN}`)
  if (scheme === 'sqlite') return parseSqlite(text.slice(colon + 1))
  if (REDIS_SCHEMES.has(scheme)) return parseRedis(scheme, text)
  throw new UnknownEngineError(`There is no engine '${scheme.slice(0, 40)}'. ${KNOWN}`)
}

/** Addresses with the same key mean the same store, opened the same way. */
export function addressKey(address: EngineAddress): string {
  return JSON.stringify(address)
}

function parseSqlite(rest: string): SqliteAddress {
  const [file, query] = split(rest)
  // A common spelling elsewhere; here it would quietly mean a file in the root of the file system.
  if (file.startsWith('//')) {
    throw new UnknownEngineError(
      `Write a sqlite address without '//': 'sqlite:./reprise.db' or 'sqlite:/absolute/path.db'.`,
    )
  }
  if (file === '') throw new UnknownEngineError(`The sqlite address names no file. ${KNOWN}`)
  refuseUnknown(query, ['durability', 'max_backlog'], 'sqlite')
  return {
    scheme: 'sqlite',
    path: file === ':memory:' ? file : resolve(file),
    durability: durabilityOf(query.get('durability')) ?? 'durable',
    maxBacklog: maxBacklogOf(query.get('max_backlog')),
  }
}

/** Several nodes of a cluster are written with commas: redis://one:6379,two:6379?partitions=16. */
function parseRedis(scheme: string, text: string): RedisAddress {
  const [server, query] = split(text)
  // What follows is rather a part of a password than a setting, and must not be shown.
  if (query.toString().includes('%40')) {
    throw new UnknownEngineError(`The redis address has an '@' after its '?'. ${ENCODE}`)
  }
  refuseUnknown(query, ['prefix', 'partitions', 'durability', 'max_backlog'], 'redis')
  const [first = '', ...others] = server.split(',')
  const urls = [first, ...others.map((node) => `${scheme}://${node}`)]
  for (const url of urls) {
    if (!URL.canParse(url) || new URL(url).hostname === '') {
      throw new UnknownEngineError(`The redis address names no server. ${ENCODE} ${KNOWN}`)
    }
  }
  const partitions = query.get('partitions')
  if (partitions !== null && !/^[1-9]\d{0,3}$/.test(partitions)) {
    throw new UnknownEngineError(`partitions is a whole number from 1, not '${partitions.slice(0, 40)}'.`)
  }
  return {
    scheme: 'redis',
    urls,
    prefix: query.get('prefix'),
    partitions: partitions === null ? null : Number(partitions),
    durability: durabilityOf(query.get('durability')),
    maxBacklog: maxBacklogOf(query.get('max_backlog')),
  }
}

function split(text: string): readonly [string, URLSearchParams] {
  const question = text.indexOf('?')
  if (question === -1) return [text, new URLSearchParams()]
  return [text.slice(0, question), new URLSearchParams(text.slice(question + 1))]
}

function refuseUnknown(query: URLSearchParams, known: readonly string[], scheme: string): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      throw new UnknownEngineError(
        `A ${scheme} address has no setting '${name.slice(0, 40)}', only ${known.join(', ')}.`,
      )
    }
  }
}

function durabilityOf(value: string | null): Durability | null {
  if (value === null || value === 'durable' || value === 'fast') return value
  throw new UnknownEngineError(`durability is 'durable' or 'fast', not '${value.slice(0, 40)}'.`)
}

function maxBacklogOf(value: string | null): number | null {
  if (value === null) return null
  const count = backlogCount(value)
  if (count !== null) return count
  throw new UnknownEngineError(`max_backlog is ${BACKLOG_FORM}, not '${value.slice(0, 40)}'.`)
}
