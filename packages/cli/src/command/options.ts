// The options of one invocation, typed at the moment they are read. What does not fit is a mistake of usage.

import { durationMs, InvalidError, present } from '@reprise/core'

/** As the parser and the API name it: `attemptTime` of `attempt-time`. */
type Attribute<Name extends string> = Name extends `${infer Head}-${infer Rest}`
  ? `${Head}${Capitalize<Attribute<Rest>>}`
  : Name

export class Options {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values
  }

  /** `name` as it stands in the flag: `attempt-time` of `--attempt-time <duration>`. */
  text(name: string): string | undefined {
    const value = this.#values[attribute(name)]
    return typeof value === 'string' ? value : undefined
  }

  /** Those of these texts that were given, by the names that the API has. */
  given<Name extends string>(...names: readonly Name[]): { readonly [One in Name as Attribute<One>]?: string } {
    return present(Object.fromEntries(names.map((name) => [attribute(name), this.text(name)])))
  }

  isGiven(name: string): boolean {
    const value = this.#values[attribute(name)]
    return value !== undefined && value !== false
  }

  /** Of a repeatable option; none if it was not given. */
  texts(name: string): readonly string[] {
    const value = this.#values[attribute(name)]
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
  }

  flag(name: string): boolean {
    return this.#values[attribute(name)] === true
  }

  whole(name: string, from: number, to: number): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= from && value <= to) return value
    throw new InvalidError(`--${name} must be a whole number from ${from} to ${to}, not '${text.slice(0, 40)}'.`)
  }

  durationMs(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : durationMs(text, `value of --${name}`)
  }

  /** `key=value`, several times; a key that comes twice is refused. */
  pairs(name: string): Readonly<Record<string, string>> {
    const pairs = new Map<string, string>()
    for (const text of this.texts(name)) {
      const equals = text.indexOf('=')
      if (equals < 1) throw new InvalidError(`--${name} must be written as key=value, not '${text.slice(0, 40)}'.`)
      const key = text.slice(0, equals)
      if (pairs.has(key)) throw new InvalidError(`--${name} gives '${key.slice(0, 40)}' twice.`)
      pairs.set(key, text.slice(equals + 1))
    }
    return Object.fromEntries(pairs)
  }
}

export const attribute = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
