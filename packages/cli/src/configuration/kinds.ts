// What a setting can be: how its value is read from a text (a flag, a variable) and from a file, and how it is shown. Which
// settings there are is in settings.ts; whatever is wrong becomes a sentence that ends up beside the place it was given.

import { durationMs, formatDuration, InvalidError } from '@reprise/core'

/** A value that is not what it should be. The path leads to it inside a structure; empty for the setting itself. */
export class Misfit extends InvalidError {
  readonly path: readonly (string | number)[]

  constructor(message: string, path: readonly (string | number)[] = []) {
    super(message)
    this.path = path
  }
}

export interface Kind<T> {
  /** In words, for the documentation: `a whole number from 0 to 65535`. */
  readonly form: string
  fromText(text: string): T
  /** From YAML. Throws `Misfit`. */
  fromValue(value: unknown): T
  show(value: T): string
}

export const text: Kind<string> = {
  form: 'text',
  fromText: (given) => given,
  fromValue: (value) => (typeof value === 'string' && value !== '' ? value : misfit('a text', value)),
  show: (value) => value,
}

/** A text that is checked further; `fit` throws, or gives back what it makes of it. */
const checkedText = (form: string, fit: (given: string) => string): Kind<string> => ({
  ...text,
  form,
  fromText: fit,
  fromValue: (value) => fit(text.fromValue(value)),
})

export const webAddress = checkedText('an http or https address', (given) => {
  const url = URL.canParse(given) ? new URL(given) : null
  // What was given is kept out of the message: an address may hold a password.
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Misfit('This must be an http or https address, such as http://127.0.0.1:7440.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new Misfit('The address holds a user or a password, and addresses are shown. Use a token instead.')
  }
  return given.replace(/\/+$/, '')
})

export const engineAddress = checkedText('the address of an engine', (given) => {
  if (/^(?:sqlite|rediss?|valkeys?):./.test(given)) return given
  throw new Misfit("This must be the address of an engine, such as 'sqlite:./reprise.db' or 'redis://localhost:6379'.")
})

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Kind<Choice> {
  const fit = (value: unknown): Choice =>
    choices.find((choice) => choice === value) ?? misfit(`one of ${choices.join(', ')}`, value)
  return {
    form: choices.map((choice) => `\`${choice}\``).join(', '),
    fromText: fit,
    fromValue: fit,
    show: (value) => value,
  }
}

export function whole(from: number, to: number): Kind<number> {
  const fit = (value: unknown): number =>
    typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to
      ? value
      : misfit(`a whole number from ${from} to ${to}`, value)
  return {
    form: `a whole number from ${from} to ${to}`,
    fromText: (given) => (/^\d{1,15}$/.test(given) ? fit(Number(given)) : fit(given)),
    fromValue: fit,
    show: String,
  }
}

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  '1': true,
  false: false,
  no: false,
  off: false,
  '0': false,
}

export const flag: Kind<boolean> = {
  form: 'true or false',
  fromText: (given) => FLAGS[given.toLowerCase()] ?? misfit('true or false', given),
  fromValue: (value) => (typeof value === 'boolean' ? value : misfit('true or false', value)),
  show: String,
}

/** In milliseconds. A unit is asked for, because a bare number does not say whether it means seconds. */
export function duration(fromMs = 0): Kind<number> {
  const form = 'a duration such as 500ms, 30s, 5m or 7d'
  const fit = (value: unknown): number => {
    if (typeof value !== 'string') return misfit(form, value)
    const ms = parsedMs(value, form)
    return ms >= fromMs ? ms : misfit(`at least ${formatDuration(fromMs)}`, value)
  }
  return { form, fromText: fit, fromValue: fit, show: formatDuration }
}

function parsedMs(given: string, form: string): number {
  try {
    return durationMs(given)
  } catch {
    return misfit(form, given)
  }
}

const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 }
const SIZE = /^(\d{1,12})\s?(b|kb|mb|gb)$/i

export function size(from: number, to: number): Kind<number> {
  const form = 'a size such as 64kb or 1mb'
  const fit = (value: unknown): number => {
    const [, count, unit = ''] = typeof value === 'string' ? (SIZE.exec(value) ?? []) : []
    const bytes = Number(count) * (BYTES[unit.toLowerCase()] ?? Number.NaN)
    return bytes >= from && bytes <= to ? bytes : misfit(`${form}, from ${shownSize(from)} to ${shownSize(to)}`, value)
  }
  return { form, fromText: fit, fromValue: fit, show: shownSize }
}

function shownSize(bytes: number): string {
  const unit = Object.entries(BYTES).findLast(([, of]) => bytes >= of && bytes % of === 0)
  return unit === undefined ? `${bytes}b` : `${bytes / unit[1]}${unit[0]}`
}

/** Texts: with commas between them, or a YAML list. `fit` throws, or gives back what it makes of one. */
export function texts(form: string, fit: (given: string) => string = (given) => given): Kind<readonly string[]> {
  const fitAt = (given: unknown, index: number): string => {
    try {
      return fit(text.fromValue(given))
    } catch (error) {
      throw error instanceof InvalidError ? new Misfit(error.message, [index]) : error
    }
  }
  return {
    form: `${form}, with commas between them`,
    fromText: (given) =>
      given
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .map(fit),
    fromValue: (value) => {
      if (typeof value === 'string') return [fit(value)]
      return Array.isArray(value) ? value.map(fitAt) : misfit('a list of texts', value)
    },
    show: (value) => value.join(', '),
  }
}

/** Something with parts: from YAML as it is, and from a text as JSON. */
export const structure = <T>(form: string, fromValue: (value: unknown) => T): Kind<T> => ({
  form: `${form}; in a variable, the same as JSON`,
  fromValue,
  fromText(given) {
    let value: unknown
    try {
      value = JSON.parse(given)
    } catch {
      throw new Misfit(`This must be ${form}, written as JSON.`)
    }
    return fromValue(value)
  },
  show: (value) => JSON.stringify(value),
})

/** A setting that may be left out altogether. */
export const optional = <T>(kind: Kind<T>): Kind<T | null> => ({
  ...kind,
  show: (value) => (value === null ? '' : kind.show(value)),
})

export function misfit(wanted: string, value: unknown, path: readonly (string | number)[] = []): never {
  throw new Misfit(`This must be ${wanted}, not ${shown(value)}.`, path)
}

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : JSON.stringify(value)
}
