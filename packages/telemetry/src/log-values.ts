// What may stand in a log line: values made plain and bounded, with everything secret taken out by core's rules, or others that
// are given. Nothing that a value does (a throwing getter, a circle) can fail a line.

import { createRedactor } from '@reprise/core'

const DEPTH_MAX = 6
const ITEMS_MAX = 100
const TEXT_LENGTH_MAX = 4_000

const UNSHOWABLE = '[can not be shown]'

export interface RedactedOptions {
  /**
   * Takes secrets out of a message, and of the fields of a line as a whole, but for `actor`. What createRedactor of
   * @reprise/core does without options, if not given.
   */
  readonly redact?: (value: unknown) => unknown
}

export type Fields = Readonly<Record<string, unknown>>

export interface ShownLine {
  readonly message: string
  readonly fields: Fields
}

/** Gives what of a message and its fields may be written; `base` is on every line. */
export function lineReader(
  { redact = byRules() }: RedactedOptions,
  base: Fields,
): (message: string, fields?: Fields) => ShownLine {
  const messageOf = (message: string): string => String(redact(shortened(String(message))))
  const fieldsOf = (fields: Fields): Fields => {
    const shown = plainObject({ ...base, ...fields }, 0)
    const ruled = redact(shown)
    if (typeof ruled !== 'object' || ruled === null || Array.isArray(ruled)) return { fields: ruled }
    // Who did it: `token:deploys` is the name of somebody, and no token.
    return typeof shown.actor === 'string' ? { ...ruled, actor: shown.actor } : { ...ruled }
  }
  // What a rule can't judge is not shown either.
  return (message, fields = {}) => ({
    message: orElse(() => messageOf(message), UNSHOWABLE),
    fields: orElse(() => fieldsOf(fields), { fields: UNSHOWABLE }),
  })
}

function byRules(): (value: unknown) => unknown {
  const redactor = createRedactor()
  return (value) => redactor.value(value)
}

function orElse<T>(step: () => T, instead: T): T {
  try {
    return step()
  } catch {
    return instead
  }
}

function shortened(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text
}

function plain(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return shortened(value)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
    case 'undefined':
      return value
    case 'bigint':
      return String(value)
    case 'object':
      break
    default:
      return `[${typeof value}]`
  }
  if (value === null) return null
  if (depth >= DEPTH_MAX) return '[too deep]'
  try {
    if (value instanceof Error) return plainError(value, depth)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => plain(item, depth + 1))
    return plainObject(value, depth)
  } catch {
    return UNSHOWABLE
  }
}

function plainObject(value: object, depth: number): Fields {
  const shown: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  let count = 0
  for (const key of Object.keys(value)) {
    if (count++ >= ITEMS_MAX) break
    shown[key] = own(value, key, depth)
  }
  return shown
}

function own(value: object, key: string, depth: number): unknown {
  try {
    return plain(Reflect.get(value, key), depth + 1)
  } catch {
    return UNSHOWABLE
  }
}

function plainError(error: Error, depth: number): Fields {
  const code: unknown = Reflect.get(error, 'code')
  return {
    name: shortened(String(error.name)),
    message: shortened(String(error.message)),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: shortened(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: plain(error.cause, depth + 1) }),
  }
}
