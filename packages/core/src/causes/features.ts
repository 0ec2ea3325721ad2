// What can be told of an attempt, as plain features that attempts are compared by: values of names, and numbers. A payload is
// taken apart into fields: whether one is there, its type, its value, how long a list or a text is. Bounded in depth and number,
// so that no payload makes a comparison expensive. What was redacted keeps its place and loses its value.

import { REDACTED } from '../redaction/redact.ts'

/** Numbers are compared by range, texts by value. */
export type Features = ReadonlyMap<string, string | number>

/** What is known of one attempt. What is null is not known, or not for the asker. */
export interface AttemptFacts {
  readonly version: string | null
  readonly host: string | null
  readonly worker: string | null
  readonly tenant: string
  readonly pool: string
  readonly labels: Readonly<Record<string, string>>
  /** As the asker may see it; undefined if it was too long to be looked at. */
  readonly payload: unknown
  readonly payloadBytes: number | null
  readonly attempt: number
  readonly startedAt: number | null
  readonly durationMs: number | null
}

const DEPTH_MAX = 5
const FIELDS_MAX = 200
const VALUE_LENGTH_MAX = 100
const NAME_LENGTH_MAX = 200
const HOUR_MS = 3_600_000

export function featuresOf(facts: AttemptFacts): Features {
  const features = new Map<string, string | number>()
  const add = (name: string, value: string | number | null): void => {
    if (value !== null) features.set(name, value)
  }
  add('version', facts.version)
  add('host', facts.host)
  add('worker', facts.worker)
  add('tenant', facts.tenant)
  add('pool', facts.pool)
  for (const [name, value] of Object.entries(facts.labels).slice(0, FIELDS_MAX)) {
    if (value !== REDACTED) add(`label.${name.slice(0, NAME_LENGTH_MAX)}`, value.slice(0, VALUE_LENGTH_MAX))
  }
  add('payload size', facts.payloadBytes)
  add('attempt', facts.attempt)
  add('hour of day', facts.startedAt === null ? null : Math.floor(facts.startedAt / HOUR_MS) % 24)
  add('duration', facts.durationMs)
  if (facts.payload !== undefined) addFields(features, 'payload', facts.payload, 0, { left: FIELDS_MAX })
  return features
}

function addFields(
  features: Map<string, string | number>,
  name: string,
  value: unknown,
  depth: number,
  room: { left: number },
): void {
  if (room.left-- <= 0 || name.length > NAME_LENGTH_MAX) return
  features.set(`${name}:type`, typeName(value))
  if (value === REDACTED) return
  if (Array.isArray(value)) {
    features.set(`${name}:length`, value.length)
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= DEPTH_MAX) return
    for (const [key, member] of Object.entries(value)) addFields(features, `${name}.${key}`, member, depth + 1, room)
  } else if (typeof value === 'number') {
    features.set(name, value)
  } else if (typeof value === 'string') {
    if (value.length <= VALUE_LENGTH_MAX) features.set(name, value)
    features.set(`${name}:length`, value.length)
  } else {
    features.set(name, String(value))
  }
}

const typeName = (value: unknown): string =>
  value === REDACTED ? 'hidden' : value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value

const UNITS: Readonly<Record<string, string>> = { duration: ' ms', 'payload size': ' bytes' }

/** What follows the number of a feature; empty for most. */
export const unitOf = (feature: string): string => UNITS[feature] ?? ''
