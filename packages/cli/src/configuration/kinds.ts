// What a setting can be: how it is checked, how a text (a flag, a variable) becomes a value such as the file would hold,
// and how it is shown. Which settings there are is in settings.ts.

import { formatDuration, InvalidError } from '@reprise/core'
import * as field from '@reprise/policies/fields'
import { z } from 'zod'

export interface Kind<T> {
  /** In words, for the documentation: `a whole number from 0 to 65535`. */
  readonly form: string
  readonly schema: z.ZodType<T>
  /** What the file would hold. Throws `InvalidError`. */
  fromText(text: string): unknown
  /** Empty for nothing. */
  show(value: T): string
}

const TEXT_LENGTH_MAX = 10_000
const TEXTS_MAX = 1_000

const kindOf = <T>(form: string, schema: z.ZodType<T>, over: Partial<Kind<T>> = {}): Kind<T> => {
  const { fromText = (given) => given, show = String } = over
  return { form, schema, fromText, show: (value) => (value === null ? '' : show(value)) }
}

const anyText = field.text(TEXT_LENGTH_MAX)
const checkedText = (form: string, fit: (given: string) => string) => kindOf(form, anyText.transform(field.made(fit)))

export const text = kindOf('text', anyText)

export const webAddress = checkedText('an http or https address', (given) => {
  const url = URL.parse(given)
  // What was given is kept out of the message: an address may hold a password.
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidError('This must be an http or https address, such as http://127.0.0.1:7440.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidError('The address holds a user or a password, and addresses are shown. Use a token instead.')
  }
  return given.replace(/\/+$/, '')
})

export const engineAddress = checkedText('the address of an engine', (given) => {
  if (/^(?:sqlite|rediss?|valkeys?):./.test(given)) return given
  throw new InvalidError(
    "This must be the address of an engine, such as 'sqlite:./reprise.db' or 'redis://localhost:6379'.",
  )
})

export const oneOf = <const Choice extends string>(choices: readonly Choice[]): Kind<Choice> =>
  kindOf(choices.map((choice) => `\`${choice}\``).join(', '), field.oneOf(choices))

export const whole = (from: number, to: number): Kind<number> =>
  kindOf(`a whole number from ${from} to ${to}`, field.whole(from, to), {
    fromText: (given) => (/^\d{1,15}$/.test(given) ? Number(given) : given),
  })

const SWITCHES = new Map<string, boolean>([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
])

export const flag = kindOf('true or false', field.flag(), {
  fromText: (given) => SWITCHES.get(given.toLowerCase()) ?? given,
})

/** In milliseconds. */
export const duration = kindOf('a duration such as 500ms, 30s, 5m or 7d', field.duration(), { show: formatDuration })

const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 }
const SIZE = /^(\d{1,12})\s?(b|kb|mb|gb)$/i

export function size(from: number, to: number): Kind<number> {
  const form = 'a size such as 64kb or 1mb'
  const error = (given: unknown) => field.mustBe(`${form}, from ${shownSize(from)} to ${shownSize(to)}`, given)
  const schema = z.string({ error: ({ input }) => error(input) }).transform(
    field.made((given) => {
      const [, count, unit = ''] = SIZE.exec(given) ?? []
      const bytes = Number(count) * (BYTES[unit.toLowerCase()] ?? Number.NaN)
      if (bytes >= from && bytes <= to) return bytes
      throw new InvalidError(error(given))
    }),
  )
  return kindOf(form, schema, { show: shownSize })
}

function shownSize(bytes: number): string {
  const unit = Object.entries(BYTES).findLast(([, of]) => bytes >= of && bytes % of === 0)
  return unit === undefined ? `${bytes}b` : `${bytes / unit[1]}${unit[0]}`
}

/** Texts: with commas between them, or a YAML list. `fit` throws, or gives back what it makes of one. */
export const texts = (form: string, fit: (given: string) => string = (given) => given): Kind<readonly string[]> =>
  kindOf(`${form}, with commas between them`, textsOf(fit), {
    fromText: splitTexts,
    show: (value) => value.join(', '),
  })

export const textsOf = (fit: (given: string) => string = (given) => given) =>
  z.preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    field.list(TEXTS_MAX, anyText.transform(field.made(fit))),
  )

export const splitTexts = (given: string): readonly string[] =>
  given
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Something with parts: from YAML as it is, and from a text as JSON. */
export const structure = <T>(form: string, schema: z.ZodType<T>, over: Partial<Kind<T>> = {}): Kind<T> => {
  const fromText = (given: string): unknown => {
    try {
      return JSON.parse(given)
    } catch {
      throw new InvalidError(`This must be ${form}, written as JSON.`)
    }
  }
  const show = (value: T): string => JSON.stringify(value)
  return kindOf(`${form}; in a variable, the same as JSON`, schema, { fromText, show, ...over })
}
