// What the options of a function may be, as one table of checks, so that a wrong one is refused in words before anything
// starts: `check.options(options, CHECKS, 'probe option')`. Only the form is looked at here; what an option means is said
// where it is declared.

import { type Duration, durationMs, formatDuration } from './duration.ts'
import { InvalidError } from './errors.ts'
import { refuseUnknownKeys } from './options.ts'

/** Says what a value must be; null if it is that. May throw an InvalidError that says more. */
export type Check = (value: unknown, name: string) => string | null

/** One check per option. Typed by the options, so that none can be forgotten. */
export type Table<Options> = { readonly [Key in keyof Required<Options>]: Check }

/** `needed` are those that have to be there. */
export function options<Options extends object>(
  given: Options,
  checks: Table<Options>,
  what: string,
  needed: readonly (keyof Options & string)[] = [],
): void {
  refuseUnknownKeys(given, Object.keys(checks), what)
  for (const [name, check] of Object.entries<Check>(checks)) {
    const value: unknown = Reflect.get(given, name)
    if (value === undefined) continue
    const wanted = check(value, name)
    if (wanted !== null) throw new InvalidError(`The ${what} '${name}' must be ${wanted}, not ${shown(value)}.`)
  }
  for (const name of needed) {
    if (given[name] === undefined) throw new InvalidError(`The ${what} '${name}' is missing.`)
  }
}

export function shown(value: unknown): string {
  if (value === undefined) return 'left out'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return `the text '${value.slice(0, 40)}'`
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `some ${typeof value}`
}

const isNumber = (value: unknown, from: number): boolean => Number.isFinite(value) && Number(value) >= from

/** It is looked at elsewhere, with words of its own. */
export const anything: Check = () => null
export const ms: Check = (value) => (isNumber(value, 0) && value !== 0 ? null : 'a number of milliseconds above 0')
export const msFrom0: Check = (value) => (isNumber(value, 0) ? null : 'a number of milliseconds from 0')
export const whole =
  (from: number, to = Number.MAX_SAFE_INTEGER): Check =>
  (value) => {
    if (Number.isInteger(value) && Number(value) >= from && Number(value) <= to) return null
    return `a whole number from ${from}${to === Number.MAX_SAFE_INTEGER ? '' : ` to ${to}`}`
  }
export const flag: Check = (value) => (typeof value === 'boolean' ? null : 'true or false')
export const text: Check = (value) => (typeof value === 'string' ? null : 'a text')
export const func: Check = (value) => (typeof value === 'function' ? null : 'a function')
export const list: Check = (value) => (Array.isArray(value) ? null : "a list, such as ['default']")

/** A single text looks like a list to a loop: it would be taken letter by letter. */
export const texts =
  (example: string): Check =>
  (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string') ? null : `a list of texts, such as ${example}`

export const oneOf =
  (...choices: readonly string[]): Check =>
  (value) =>
    choices.some((choice) => choice === value) ? null : choices.map((choice) => `'${choice}'`).join(' or ')

export const duration =
  (fromMs: number, toMs: number): Check =>
  (value, name) => {
    const given = durationMs(value as Duration, name)
    return given >= fromMs && given <= toMs ? null : `from ${formatDuration(fromMs)} to ${formatDuration(toMs)}`
  }

/** An object that has these functions. */
export const having =
  (...names: readonly string[]): Check =>
  (value) => {
    const isFit =
      typeof value === 'object' &&
      value !== null &&
      names.every((name) => typeof Reflect.get(value, name) === 'function')
    return isFit ? null : `an object with ${names.map((name) => `${name}()`).join(' and ')}`
  }

/** Options inside of an option. */
export const within =
  (checks: Readonly<Record<string, Check>>, what: string): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return `an object of ${what}s`
    options<object>(value, checks, what)
    return null
  }
