// Inspection of all partitions, one after the other: each is a whole store of its own but for the dedupe keys.

import type { InspectRequest, InspectResult } from '@reprise/core'
import { foreignCursor } from '@reprise/core/engine'
import { inspect } from '../inspect.ts'
import type { Partitions } from './partitions.ts'

const CURSOR = /^(\d{1,4})\/(.*)$/s

export async function inspectAll(store: Partitions, request: InspectRequest): Promise<InspectResult> {
  const { cursor, ...rest } = request
  const { place, inner } = placeOf(cursor, store.size)
  const own = inner === '' ? rest : { ...rest, cursor: inner }
  const { next, ...result } = await inspect(store.at(place), own)
  if (next !== null) return { ...result, next: `${place}/${next}` }
  return { ...result, next: place + 1 < store.size ? `${place + 1}/` : null }
}

function placeOf(cursor: string | undefined, size: number): { readonly place: number; readonly inner: string } {
  if (cursor === undefined) return { place: 0, inner: '' }
  const [, place = '', inner = ''] = CURSOR.exec(cursor) ?? []
  if (place === '' || Number(place) >= size) {
    throw foreignCursor()
  }
  return { place: Number(place), inner }
}
