// What is selected in a list: single rows, or all that match. It is in the address as long as it fits there, so that it can be
// sent to a colleague; a larger one counts until the page is left.

import { useState } from 'react'
import { setParams, useParam } from '../address.tsx'

const PARAM = 'selected'
const ALL = '*'
const BETWEEN = ','
/** Longer addresses are cut off by some programs that people send them with. */
const LENGTH_MAX = 1_800

export interface Selected {
  readonly keys: ReadonlySet<string>
  /** All that match, also those that are not shown. */
  readonly isAll: boolean
  readonly toggle: (key: string) => void
  readonly takeAll: () => void
  readonly clear: () => void
}

export function useSelected(): Selected {
  const [written] = useParam(PARAM)
  const [kept, setKept] = useState<readonly string[] | null>(null)
  const isAll = written === ALL
  const keys = new Set(kept ?? (written === '' || isAll ? [] : written.split(BETWEEN)))
  const write = (next: readonly string[]): void => {
    const text = next.join(BETWEEN)
    const fits = text.length <= LENGTH_MAX
    setKept(fits ? null : next)
    setParams({ [PARAM]: fits ? text : null }, true)
  }
  return {
    keys,
    isAll,
    toggle: (key) => write(keys.has(key) ? [...keys].filter((one) => one !== key) : [...keys, key]),
    takeAll: () => {
      setKept(null)
      setParams({ [PARAM]: ALL }, true)
    },
    clear: () => write([]),
  }
}
