// Reads an engine address: the scheme names the engine, what follows is its own. Pure, apart from resolving a relative
// path against the working directory. It opens nothing.

import { resolve } from 'node:path'
import { UnknownEngineError } from '@reprise/core'

type Durability = 'durable' | 'fast'

interface SqliteAddress {
  readonly scheme: 'sqlite'
  /** An absolute path, or ':memory:'. */
  readonly path: string
  readonly durability: Durability
}

export type EngineAddress = SqliteAddress

const KNOWN = "Known are 'sqlite:./reprise.db', 'sqlite::memory:' and 'sqlite:./reprise.db?durability=fast'."

export function parseAddress(text: string): EngineAddress {
  const colon = text.indexOf(':')
  const scheme = colon === -1 ? '' : text.slice(0, colon)
  // The text itself is kept out of the message: an address may hold a password.
  if (scheme === '') throw new UnknownEngineError(`The engine address has no scheme. ${KNOWN}`)
  if (scheme !== 'sqlite') throw new UnknownEngineError(`There is no engine '${scheme.slice(0, 40)}'. ${KNOWN}`)
  return parseSqlite(text.slice(colon + 1))
}

/** Addresses with the same key mean the same store, opened the same way. */
export function addressKey(address: EngineAddress): string {
  return JSON.stringify([address.scheme, address.path, address.durability])
}

function parseSqlite(rest: string): SqliteAddress {
  const question = rest.indexOf('?')
  const file = question === -1 ? rest : rest.slice(0, question)
  // A common spelling elsewhere; here it would quietly mean a file in the root of the file system.
  if (file.startsWith('//')) {
    throw new UnknownEngineError(
      `Write a sqlite address without '//': 'sqlite:./reprise.db' or 'sqlite:/absolute/path.db'.`,
    )
  }
  if (file === '') throw new UnknownEngineError(`The sqlite address names no file. ${KNOWN}`)
  const query = new URLSearchParams(question === -1 ? '' : rest.slice(question + 1))
  for (const name of query.keys()) {
    if (name !== 'durability') {
      throw new UnknownEngineError(`A sqlite address has no setting '${name.slice(0, 40)}'. ${KNOWN}`)
    }
  }
  return {
    scheme: 'sqlite',
    path: file === ':memory:' ? file : resolve(file),
    durability: durabilityOf(query.get('durability')),
  }
}

function durabilityOf(value: string | null): Durability {
  if (value === null || value === 'durable') return 'durable'
  if (value === 'fast') return 'fast'
  throw new UnknownEngineError(`durability is 'durable' or 'fast', not '${value.slice(0, 40)}'.`)
}
