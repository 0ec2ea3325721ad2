// A silence: alerts that match it are not told to anybody until it ends. They go on, and are told then if they are still there.

import { InvalidError } from '../model/errors.ts'
import { compileGlob, type Glob } from '../policy/glob.ts'
import type { Document } from '../port/collection.ts'

export interface Silence extends Document {
  /** By `rule`, `severity`, or a name of the group such as `action`: a value, with `*` for any run of characters. All must match. */
  readonly matches: Readonly<Record<string, string>>
  readonly from: number
  readonly until: number
  readonly by: string
  readonly reason: string
}

const MATCHES_MAX = 10
const SILENCE_MS_MAX = 30 * 86_400_000

/** `InvalidError` for one that would silence everything by mistake, or for ever. */
export function checkSilence({ matches, from, until }: Pick<Silence, 'matches' | 'from' | 'until'>): void {
  const count = Object.keys(matches).length
  if (count === 0) throw new InvalidError("Say what to silence, such as rule=retry_rate or action=mail.*; '*' for all.")
  if (count > MATCHES_MAX) throw new InvalidError(`A silence has at most ${MATCHES_MAX} matchers.`)
  if (!(until > from && until - from <= SILENCE_MS_MAX)) throw new InvalidError('A silence lasts up to 30 days.')
}

export const silences = (
  { matches, from, until }: Pick<Silence, 'matches' | 'from' | 'until'>,
  labels: Readonly<Record<string, string>>,
  now: number,
): boolean =>
  now >= from &&
  now < until &&
  matchersOf(matches).every(([name, isMatch]) => {
    const value = labels[name]
    return value !== undefined && isMatch(value)
  })

type Matcher = readonly [name: string, isMatch: Glob]
/** Made once for each silence that was read: it is held against many alerts. */
const MATCHERS = new WeakMap<Silence['matches'], readonly Matcher[]>()

function matchersOf(matches: Silence['matches']): readonly Matcher[] {
  const known = MATCHERS.get(matches)
  if (known !== undefined) return known
  const made = Object.entries(matches).map(([name, glob]) => [name, compileGlob(glob)] as const)
  MATCHERS.set(matches, made)
  return made
}
