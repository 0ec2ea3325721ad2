// What the options of this package's services may be, one table per service, so that a wrong one is refused in words before
// anything starts. Only the form is looked at here; what an option means is said where it is declared.

import { type Backoff, checkedBackoff, InvalidError, refuseUnknownKeys } from '@reprise/core'

/** Says what a value must be; null if it is that. May throw an InvalidError that says more. */
export type Check = (value: unknown) => string | null

/** One check per option. Typed by the options, so that none can be forgotten. */
export type Checks<Options> = { readonly [Key in keyof Required<Options>]: Check }

/** `needed` are those that have to be there. */
export function checkOptions<Options extends object>(
  options: Options,
  checks: Checks<Options>,
  what: string,
  needed: readonly (keyof Options & string)[] = [],
): void {
  refuseUnknownKeys(options, Object.keys(checks), what)
  for (const [name, check] of Object.entries<Check>(checks)) {
    const value: unknown = Reflect.get(options, name)
    if (value === undefined) continue
    const wanted = check(value)
    if (wanted !== null) throw new InvalidError(`The ${what} '${name}' must be ${wanted}, not ${shown(value)}.`)
  }
  for (const name of needed) {
    if (options[name] === undefined) throw new InvalidError(`The ${what} '${name}' is missing.`)
  }
}

export function shown(value: unknown): string {
  if (value === undefined) return 'left out'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return `the text '${value.slice(0, 40)}'`
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `some ${typeof value}`
}

const isNumber = (value: unknown, from: number): boolean => Number.isFinite(value) && Number(value) >= from

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
    checkOptions<object>(value, checks, what)
    return null
  }

export const backoff: Check = (value) => {
  if (typeof value !== 'object' || value === null)
    return "a backoff, such as { kind: 'fixed', delayMs: 1000, jitter: 0 }"
  checkedBackoff(value as Backoff)
  return null
}

/** What an orchestrator gives to each of its services. Each takes it, whether it has a use for all of it or not. */
export const SERVICE_CHECKS = {
  // Looked at before, with words of its own.
  engine: anything,
  clock: having('now', 'monotonic', 'after'),
  random: having('next'),
  log: having('debug', 'info', 'warn', 'error'),
  onError: func,
  policies: having('current'),
  meter: having('count', 'observe'),
} as const
