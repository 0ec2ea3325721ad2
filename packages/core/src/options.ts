// Refuses options nobody knows. A misspelt option that is silently ignored costs an evening; one that is refused by
// name costs a minute.

import { InvalidError } from './errors.ts'

export function refuseUnknownKeys(options: object, known: readonly string[], what: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidError(`Expected an object of ${what}s, not ${options === null ? 'null' : typeof options}.`)
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) {
      throw new InvalidError(`There is no ${what} '${key.slice(0, 40)}'. Known are: ${known.join(', ')}.`)
    }
    if (value === null) throw new InvalidError(`The ${what} '${key}' is null. Leave it out instead.`)
  }
}
