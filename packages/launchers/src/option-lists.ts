// Lists of texts among the options of launchers. A single text looks like a list to a loop: it would be taken letter by letter.

import { InvalidError } from '@reprise/core'

export function checkedTexts(value: readonly string[], what: string, example: string): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw new InvalidError(`The launcher option '${what}' must be a list of texts, such as ${example}.`)
}
