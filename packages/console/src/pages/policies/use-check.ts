// Has the server check a draft, a moment after the last key: it is the same check that decides when it is published.

import { isRepriseError } from '@reprise/core'
import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { many } from '../../format.ts'
import type { PlacedProblem } from '../../parts/code-editor.tsx'
import { messageOf } from '../../parts/states.tsx'
import { later } from '../../time.ts'
import { problemsIn } from './problems.ts'

export interface Check {
  readonly state: 'checking' | 'right' | 'wrong' | 'unknown'
  readonly says: string
  readonly problems: readonly PlacedProblem[]
  readonly notes: readonly string[]
}

const QUIET_MS = 350
const NONE = { problems: [], notes: [] } as const

export function useCheck(text: string, isWanted: boolean): Check {
  const [check, setCheck] = useState<Check>({ state: 'unknown', says: '', ...NONE })
  useEffect(() => {
    if (!isWanted) {
      setCheck({ state: 'unknown', says: '', ...NONE })
      return
    }
    setCheck((old) => ({ ...old, state: 'checking', says: 'A draft, being checked …' }))
    const asking = new AbortController()
    const stop = later(QUIET_MS, () => {
      void checked(text, asking.signal).then((found) => {
        if (!asking.signal.aborted) setCheck(found)
      })
    })
    return () => {
      stop()
      asking.abort()
    }
  }, [text, isWanted])
  return check
}

async function checked(text: string, signal: AbortSignal): Promise<Check> {
  try {
    const { notes } = await call('publishPolicies', { text, dryRun: true }, signal)
    return { state: 'right', says: '✓ A draft without mistakes.', problems: [], notes }
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_INVALID')) {
      return { state: 'unknown', says: `The draft could not be checked. ${messageOf(error)}`, ...NONE }
    }
    const found = problemsIn(error.message)
    const problems = found.length > 0 ? found : [{ line: 1, column: 1, message: error.message }]
    return { state: 'wrong', says: `✕ A draft with ${many(problems.length, 'mistake')}.`, problems, notes: [] }
  }
}
