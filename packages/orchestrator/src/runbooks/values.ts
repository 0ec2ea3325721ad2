// What stands between `{{` and `}}` in a step: an input of the run, or part of what an earlier step gave. Pure. Nothing is computed
// here, so that a runbook can do no more than its steps say.

import { InvalidError } from '@reprise/core'
import type { Expectation, Values } from './runbook.ts'

const PLACE = /\{\{\s*([\w.-]+)\s*\}\}/g
const WHOLE = /^\s*\{\{\s*([\w.-]+)\s*\}\}\s*$/

/** The names that a value mentions. */
export function placesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(PLACE)].map(([, place = '']) => place)
  if (Array.isArray(value)) return value.flatMap(placesIn)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placesIn) : []
}

/** The value with everything filled in; `ifMissing` stands for what no step has given. A text that is one place alone becomes what stands there, whatever its type. */
export function filled(value: unknown, from: Values, ifMissing?: string): unknown {
  if (typeof value === 'string') {
    const [, whole] = WHOLE.exec(value) ?? []
    if (whole !== undefined) return known(from, whole, ifMissing)
    return value.replaceAll(PLACE, (_, place: string) => textOf(known(from, place, ifMissing)))
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, from, ifMissing))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      const made = filled(one, from, ifMissing)
      // An input that was left out leaves its field out.
      return made === undefined || made === '' ? [] : [[key, made]]
    }),
  )
}

const DOTS = /\/(?:\.|%2e){1,2}(?=$|\/)/i

/** Whether an address has a step such as '..', which leads out of the path before it. */
export const leadsOut = (address: string): boolean => DOTS.test(address.split(/[?#]/, 1)[0] ?? '')

/**
 * An address with everything filled in. What it begins with may name where it leads; everything behind that is one step of a path,
 * or one value of a query, whatever somebody has put there: requests carry secrets for one purpose.
 */
export function filledAddress(text: string, from: Values, ifMissing?: string): unknown {
  if (WHOLE.test(text)) return filled(text, from, ifMissing)
  const address = text.replaceAll(PLACE, (_, place: string, at: number) => {
    const value = textOf(known(from, place, ifMissing))
    return at === 0 ? value : encodeURIComponent(value)
  })
  if (leadsOut(address))
    throw new InvalidError(`The address ${address} leads out of its path. '.' and '..' can't stand in it.`)
  return address
}

function known(from: Values, place: string, ifMissing: string | undefined): unknown {
  const found = at(from, place) ?? (place.startsWith('steps.') ? ifMissing : undefined)
  if (found === undefined && !place.startsWith('inputs.')) throw new InvalidError(`Nothing is known as '${place}'.`)
  return found
}

/** What a path leads to: fields and places in lists, with dots between them; `length` of a list. */
export function at(value: unknown, path: string): unknown {
  let found: unknown = value
  for (const step of path === '' ? [] : path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined
    if (Array.isArray(found) && step === 'length') found = found.length
    else if (Object.hasOwn(found, step)) found = (found as Values)[step]
    else return undefined
  }
  return found
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

export function isMet({ how, value }: Expectation, found: unknown): boolean {
  switch (how) {
    case 'equals':
      return JSON.stringify(found) === JSON.stringify(value)
    case 'not':
      return JSON.stringify(found) !== JSON.stringify(value)
    case 'at_most':
      // What is not there any more is none.
      return found === null || (typeof found === 'number' && found <= Number(value))
    case 'at_least':
      return typeof found === 'number' && found >= Number(value)
  }
}

const WORDS = {
  equals: 'it must be',
  not: 'it must not be',
  at_most: 'it must be at most',
  at_least: 'it must be at least',
} as const

export const expectationText = ({ how, value }: Expectation): string => `${WORDS[how]} ${textOf(value)}`
