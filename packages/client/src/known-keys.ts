// Refuses options nobody knows. A misspelt option that is silently ignored costs an evening; one that is refused by
// name costs a minute.

import { InvalidError } from '@reprise/core'

export function refuseUnknownKeys(options: object, known: readonly string[], what: string): void {
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) {
      throw new InvalidError(`There is no ${what} '${key.slice(0, 40)}'. Known are: ${known.join(', ')}.`)
    }
    if (value === null) throw new InvalidError(`The ${what} '${key}' is null. Leave it out instead.`)
  }
}
