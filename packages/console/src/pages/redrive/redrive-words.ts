// Which dead letters a redrive is of, in words where it is of a few causes: a fingerprint says nothing to a reader.

import type { OperationOutput } from '../../api/client.ts'
import { many } from '../../format.ts'

export function redriveWords({
  selector,
  found,
}: Pick<OperationOutput<'listRedrives'>['items'][number], 'selector' | 'found'>): string {
  const [first, ...others] = found.causes
  if (first === undefined) return selector
  return others.length === 0 ? first.message : `${first.message} and ${many(others.length, 'more cause')}`
}
