// A corpus of failure messages with their causes: some five hundred templates of real systems, filled with names and values that
// a seeded generator draws. Two lines have one cause if they have the same template and the same names. Many templates differ
// from another in a single word or in an error code only. They say how systems write, not what the fingerprint can fold.

import { AWS, HTTP, KUBERNETES, MAIL } from './cloud.ts'
import { type Draw, NAMES, VALUES } from './parameters.ts'
import { BROWSERS, OWN, PAYMENTS } from './products.ts'
import { JVM, NODE, OTHERS, PYTHON } from './runtimes.ts'
import { BROKERS, POSTGRES, REDIS, SQL } from './stores.ts'
import { UNSEEN } from './unseen.ts'

export interface Line {
  readonly message: string
  /** The template with its names filled in. */
  readonly cause: string
}

const SYSTEMS = [NODE, PYTHON, JVM, OTHERS, POSTGRES, SQL, REDIS, BROKERS, HTTP, AWS, KUBERNETES, MAIL]
export const TEMPLATES: readonly string[] = [...SYSTEMS, BROWSERS, PAYMENTS, OWN].flat()
export const UNSEEN_TEMPLATES: readonly string[] = UNSEEN

/** The same lines for the same seed. Causes take turns, so that each has about as many lines. */
export function corpus(
  size: number,
  seed: number,
  templates: readonly string[] = [...TEMPLATES, ...UNSEEN],
): readonly Line[] {
  const draw = seeded(seed)
  // Twice, so that a template with names gives two causes that differ in a name only.
  const causes = [...new Set([...templates, ...templates].map((template) => filled(template, NAMES, draw)))]
  return Array.from({ length: size }, (_, index) => {
    const cause = causes[index % causes.length] as string
    return { message: filled(cause, { ...NAMES, ...VALUES }, draw), cause }
  })
}

/** Fills in what `parameters` know, also what comes in with it, and leaves the rest. */
function filled(template: string, parameters: Partial<typeof VALUES>, draw: Draw): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const parameter = parameters[name]
    if (parameter === undefined) return whole
    const value = typeof parameter === 'function' ? parameter(draw) : (parameter[draw(parameter.length)] as string)
    return filled(value, parameters, draw)
  })
}

/** Mulberry32. */
function seeded(seed: number): Draw {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
