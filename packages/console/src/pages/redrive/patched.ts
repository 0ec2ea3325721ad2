// What a patch changes in a payload, tried here before anything is sent.

import {
  checkedPatch,
  type JsonChange,
  type JsonText,
  jsonChanges,
  patchedJson,
  systemClock,
  turnsOf,
} from '@reprise/core'
import { useEffect, useState } from 'react'
import { messageOf } from '../../parts/states.tsx'

type Tried = { readonly changes: readonly JsonChange[] } | { readonly problem: string }

async function tried(payload: unknown, patch: string): Promise<Tried> {
  try {
    const turns = turnsOf(systemClock)
    const text = await patchedJson(JSON.stringify(payload) as JsonText, checkedPatch(JSON.parse(patch)), turns)
    return { changes: await jsonChanges(payload, JSON.parse(text) as unknown, turns) }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

/** Null until it is known. */
export function usePatched(payload: unknown, patch: string): Tried | null {
  const [result, setResult] = useState<Tried | null>(null)
  useEffect(() => {
    let isWanted = true
    void tried(payload, patch).then((found) => {
      if (isWanted) setResult(found)
    })
    return () => {
      isWanted = false
    }
  }, [payload, patch])
  return result
}
