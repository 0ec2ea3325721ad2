// Refuses options nobody knows, and engines that are none. A misspelt option that is silently ignored costs an evening;
// one that is refused by name costs a minute.

import { InvalidError } from './errors.ts'
import { nearMiss } from './near-miss.ts'

export function refuseUnknownKeys(options: object, known: readonly string[], what: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidError(`Expected an object of ${what}s, not ${options === null ? 'null' : typeof options}.`)
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) {
      const hint = nearMiss(key, known)
      throw new InvalidError(`There is no ${what} '${key.slice(0, 40)}'.${hint} Known are: ${known.join(', ')}.`)
    }
    if (value === null) throw new InvalidError(`The ${what} '${key}' is null. Leave it out instead.`)
  }
}

/** The fields that have a value, neither undefined nor null: for options that are given or left out. */
export function present<T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as never
}

/** For what takes an engine that is open already. `method` is one that it will call. */
export function refuseNoEngine(engine: unknown, method: string, who: string): void {
  // The address itself is kept out of the message: it may hold a password.
  if (typeof engine === 'string') {
    throw new InvalidError(
      `${who} takes an engine that is open, not its address. Open it first, with connectEngine of @reprise/connect: const { engine } = await connectEngine(address).`,
    )
  }
  const found: unknown = typeof engine === 'object' && engine !== null ? Reflect.get(engine, method) : undefined
  if (typeof found === 'function') return
  const what =
    engine === undefined ? 'none was given' : `this is ${engine === null ? 'null' : `some other ${typeof engine}`}`
  throw new InvalidError(
    `${who} needs an engine, as connectEngine of @reprise/connect gives one (const { engine } = await connectEngine(address)); ${what}.`,
  )
}
