// What is different about the failures? Two samples, attempts that failed and attempts that succeeded, are held against each
// other feature by feature: values, missing fields, types, ranges of numbers. What stands out is ranked by how much it tells about
// whether an attempt fails (mutual information). What chance alone would explain is left out: each candidate must pass a test that
// is stricter the more candidates there are, so that noise gives no answer rather than a wrong one. Pure; docs/recovery.md has the
// reasons for people.

import type { Turns } from '../runtime/turns.ts'
import { type Features, unitOf } from './features.ts'

export type ContrastTest =
  /** The feature has this value. */
  | { readonly kind: 'is'; readonly value: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'present' }
  | { readonly kind: 'atLeast'; readonly value: number }
  | { readonly kind: 'atMost'; readonly value: number }

export interface Contrast {
  readonly feature: string
  readonly test: ContrastTest
  /** How many agree, of how many. */
  readonly failures: number
  readonly failuresOf: number
  readonly successes: number
  readonly successesOf: number
  /** Bits that it tells about whether an attempt fails: 0 for nothing, 1 for everything if both samples are as large. */
  readonly bits: number
  /** One sentence: `"region=eu": 98 % of the failures, 11 % of the successes`. */
  readonly sentence: string
}

/** With fewer on a side, nothing can be said. */
export const CONTRAST_SAMPLE_MIN = 5
/** How often noise alone may give an answer, over all candidates together. */
const CHANCE = 0.01
/** A share among failures must be higher than among successes by at least this. */
const DIFFERENCE_MIN = 0.15
/** A value must be seen in at least this share of the failures. */
const SUPPORT_MIN = 0.05
const CUTS_MAX = 16
const VALUES_MAX = 50
/** Compared by range alone: one value among many means nothing. */
const RANGES: ReadonlySet<string> = new Set(['duration', 'payload size'])

/** What people act on comes first among what tells the same. */
const FIRST = ['version', 'label.', 'payload.', 'tenant', 'pool', 'host', 'worker']

interface Candidate {
  readonly feature: string
  readonly test: ContrastTest
  readonly failures: number
  readonly successes: number
}

/** What the attempts of both samples have of one feature; nothing for those that have none. */
interface Column {
  readonly failed: (string | number)[]
  readonly good: (string | number)[]
}

/** The strongest first; none if nothing stands out. */
export function contrastsOf(failed: readonly Features[], good: readonly Features[], limit = 10): readonly Contrast[] {
  if (isTooFew(failed, good)) return []
  const candidates: Candidate[] = []
  for (const [feature, column] of columnsOf(failed, good)) {
    candidates.push(...candidatesOf(feature, column, failed.length, good.length))
  }
  return ranked(candidates, failed.length, good.length, limit)
}

/** The same, with turns for others in between: samples may have many features. */
export async function pacedContrasts(
  failed: readonly Features[],
  good: readonly Features[],
  turns: Pick<Turns, 'isSpent' | 'wait'>,
  limit = 10,
): Promise<readonly Contrast[]> {
  if (isTooFew(failed, good)) return []
  const candidates: Candidate[] = []
  for (const [feature, column] of columnsOf(failed, good)) {
    if (turns.isSpent) await turns.wait()
    candidates.push(...candidatesOf(feature, column, failed.length, good.length))
  }
  if (turns.isSpent) await turns.wait()
  return ranked(candidates, failed.length, good.length, limit)
}

const isTooFew = (failed: readonly Features[], good: readonly Features[]): boolean =>
  Math.min(failed.length, good.length) < CONTRAST_SAMPLE_MIN

function columnsOf(failed: readonly Features[], good: readonly Features[]): ReadonlyMap<string, Column> {
  const columns = new Map<string, Column>()
  for (const [side, sample] of [['failed', failed] as const, ['good', good] as const]) {
    for (const features of sample) {
      for (const [feature, value] of features) {
        const column = columns.get(feature) ?? { failed: [], good: [] }
        columns.set(feature, column)
        column[side].push(value)
      }
    }
  }
  return columns
}

const ranked = (candidates: readonly Candidate[], n: number, m: number, limit: number): readonly Contrast[] =>
  strongestOf(
    candidates.filter((one) => standsOut(one, n, m, candidates.length)).map((one) => contrastOf(one, n, m)),
  ).slice(0, limit)

/**
 * The strongest first. A field is told once: by its values, by being there or not, by its type, its length or a range, whichever
 * tells the most. Several values of one field may stand beside each other.
 */
function strongestOf(contrasts: readonly Contrast[]): readonly Contrast[] {
  const sorted = contrasts.toSorted(
    (one, other) =>
      other.bits - one.bits ||
      rankOf(one.feature) - rankOf(other.feature) ||
      plainness(one) - plainness(other) ||
      (one.feature < other.feature ? -1 : 1),
  )
  const told = new Map<string, 'values' | 'other'>()
  return sorted.filter((one) => {
    const name = fieldOf(one.feature)
    const how = plainness(one) === 0 ? 'values' : 'other'
    const before = told.get(name)
    if (before === undefined) told.set(name, how)
    return before === undefined || (before === 'values' && how === 'values')
  })
}

/** Without what is told about the field. */
const fieldOf = (feature: string): string => feature.replace(/:(?:type|length)$/, '')

/** How plainly it is said: a value, then whether the field is there, then the rest. */
function plainness({ feature, test }: Contrast): number {
  if (test.kind === 'missing' || test.kind === 'present') return 1
  if (test.kind === 'is' && fieldOf(feature) === feature) return 0
  return feature.endsWith(':type') ? 2 : 3
}

function rankOf(feature: string): number {
  const at = FIRST.findIndex((start) => feature.startsWith(start))
  return at === -1 ? FIRST.length : at
}

function candidatesOf(feature: string, column: Column, n: number, m: number): readonly Candidate[] {
  const found: Candidate[] = []
  // Types and lengths belong to a field, whose presence is asked for once: by its type.
  if (feature.endsWith(':type') || feature.startsWith('label.')) {
    const [failures, successes] = [column.failed.length, column.good.length]
    found.push({ feature, test: { kind: 'missing' }, failures: n - failures, successes: m - successes })
    found.push({ feature, test: { kind: 'present' }, failures, successes })
  }
  const others = countsOf(column.good)
  for (const [value, failures] of RANGES.has(feature) ? [] : commonOf(column.failed, n)) {
    found.push({ feature, test: { kind: 'is', value }, failures, successes: others.get(value) ?? 0 })
  }
  const [failed, good] = [column.failed.filter(isNumber), column.good.filter(isNumber)]
  for (const value of cutsOf([...failed, ...good])) {
    for (const kind of ['atLeast', 'atMost'] as const) {
      const isIn = (one: number): boolean => (kind === 'atLeast' ? one >= value : one <= value)
      const test = { kind, value }
      found.push({ feature, test, failures: failed.filter(isIn).length, successes: good.filter(isIn).length })
    }
  }
  return found
}

const isNumber = (value: string | number): value is number => typeof value === 'number'

function countsOf(values: readonly (string | number)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
  return counts
}

/** Values that are seen often enough among the failures, with how often. */
const commonOf = (values: readonly (string | number)[], of: number): readonly (readonly [string, number])[] =>
  [...countsOf(values)]
    .filter(([, count]) => count >= Math.max(3, of * SUPPORT_MIN))
    .sort(([, one], [, other]) => other - one)
    .slice(0, VALUES_MAX)

/** Places at which numbers can be told apart, spread evenly over them. */
function cutsOf(numbers: readonly number[]): readonly number[] {
  const sorted = [...new Set(numbers)].sort((one, other) => one - other)
  if (sorted.length < 3) return []
  const places = Array.from({ length: Math.min(CUTS_MAX, sorted.length - 1) }, (_, at) =>
    Math.floor(((at + 1) * (sorted.length - 1)) / (Math.min(CUTS_MAX, sorted.length - 1) + 1)),
  )
  return [...new Set(places)].map((at) => sorted[at] ?? 0)
}

/** Two shares that differ by more than chance explains, when this many candidates are tried. */
function standsOut({ failures, successes }: Candidate, n: number, m: number, tried: number): boolean {
  const [one, other] = [failures / n, successes / m]
  if (one - other < DIFFERENCE_MIN || failures < Math.max(3, n * SUPPORT_MIN)) return false
  const pooled = (failures + successes) / (n + m)
  const spread = Math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
  // With Yates' correction: small samples would look surer than they are.
  const correction = (1 / n + 1 / m) / 2
  const z = (one - other - correction) / spread
  return spread > 0 && chanceAbove(z) * tried < CHANCE
}

/** How likely a standard normal value is above this: a bound that is close enough from 1 on. */
const chanceAbove = (z: number): number => (z < 1 ? 1 : Math.exp((-z * z) / 2) / (z * Math.sqrt(2 * Math.PI)))

/** Mutual information of the feature and the outcome, with both outcomes weighing the same whatever their samples' sizes. */
function bitsOf(one: number, other: number): number {
  const part = (joint: number, alone: number): number => (joint === 0 ? 0 : (joint / 2) * Math.log2(joint / alone))
  const mean = (one + other) / 2
  return part(one, mean) + part(other, mean) + part(1 - one, 1 - mean) + part(1 - other, 1 - mean)
}

function contrastOf({ feature, test, failures, successes }: Candidate, n: number, m: number): Contrast {
  const shares = `${percent(failures / n)} of the failures, ${percent(successes / m)} of the successes`
  return {
    feature,
    test,
    failures,
    failuresOf: n,
    successes,
    successesOf: m,
    bits: Math.round(bitsOf(failures / n, successes / m) * 1_000) / 1_000,
    sentence: `"${claimOf(feature, test)}": ${shares}`,
  }
}

/** Never 0 or 100 for what is not: "all" is a claim. */
function percent(share: number): string {
  const rounded = Math.round(share * 100)
  if (rounded === 100 && share < 1) return 'over 99 %'
  if (rounded === 0 && share > 0) return 'under 1 %'
  return `${rounded} %`
}

/** A contrast in a few words: `label.region=eu`, `payload.customer is missing`, `duration ≥ 500 ms`. */
function claimOf(feature: string, test: ContrastTest): string {
  const [, name = feature, about = ''] = /^(payload.*):(type|length)$/s.exec(feature) ?? []
  const what = about === 'length' ? `length of ${name}` : name
  switch (test.kind) {
    case 'is':
      return about === 'type' ? `${name} is ${test.value}` : `${what}=${test.value}`
    case 'missing':
      return `${name} is missing`
    case 'present':
      return `${name} is there`
    case 'atLeast':
      return `${what} ≥ ${test.value}${unitOf(feature)}`
    case 'atMost':
      return `${what} ≤ ${test.value}${unitOf(feature)}`
  }
}
