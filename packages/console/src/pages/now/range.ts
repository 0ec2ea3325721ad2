// Which time the charts show: the last minutes, or a part of them that was dragged out. Both are in the address.

import { setParams, useParams } from '../../address.tsx'

const MINUTE_MS = 60_000

export const RANGES = [
  ['15', '15 m'],
  ['60', '1 h'],
  ['360', '6 h'],
  ['1440', '24 h'],
] as const
const MISSING = '60'

export interface Range {
  readonly minutes: number
  /** The part that is shown; null for all of it. */
  readonly part: { readonly from: number; readonly to: number } | null
}

export function useRange(): Range {
  const params = useParams()
  const minutes = Number(RANGES.find(([value]) => value === params['minutes'])?.[0] ?? MISSING)
  const [from, to] = [Number(params['from']), Number(params['to'])]
  return { minutes, part: from > 0 && to > from ? { from, to } : null }
}

export const setRange = (minutes: string): void =>
  setParams({ minutes: minutes === MISSING ? null : minutes, from: null, to: null })

/** By whole minutes, and at least two of them: there is nothing in between. */
export function showPart(from: number, to: number): void {
  const first = Math.floor(from / MINUTE_MS) * MINUTE_MS
  const last = Math.max(Math.ceil(to / MINUTE_MS) * MINUTE_MS, first + 2 * MINUTE_MS)
  setParams({ from: String(first), to: String(last) })
}

export const showAll = (): void => setParams({ from: null, to: null })
