// What a patch makes of a payload, tried here before anything is sent.

import { checkedPatch, type JsonText, patchedJson } from '@reprise/core'
import { messageOf } from '../../parts/states.tsx'

export function patchedValue(
  payload: unknown,
  patch: string,
): { readonly value: unknown } | { readonly problem: string } {
  try {
    const text = patchedJson(JSON.stringify(payload) as JsonText, checkedPatch(JSON.parse(patch)))
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
